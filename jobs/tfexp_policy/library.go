// Package library contains the Python library for policies that are programs, so that these can use it without an
// installation.
package library

import (
	"crypto/sha256"
	_ "embed" // embeds the library
	"encoding/hex"
	"slices"
)

// File is a module of the library.
type File struct {
	Name   string
	Source []byte
}

var (
	//go:embed tfexp_policy.py
	policy []byte
	//go:embed tfexp_batsim.py
	batsim []byte
)

// Policy is the module for policies. Files are all modules of the library.
var (
	Policy = File{"tfexp_policy.py", policy}
	Files  = []File{Policy, {"tfexp_batsim.py", batsim}}
)

// Version is a short hash of the library's files.
var Version = func() string {
	sum := sha256.Sum256(slices.Concat(policy, batsim))
	return hex.EncodeToString(sum[:6])
}()
