// Package library has the Python library for policies that are programs, as a part of the command: such a program finds
// it without an installation.
package library

import (
	"crypto/sha256"
	_ "embed" // holds the library
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

// Policy is for programs that are policies. Files are all modules; the others are run as programs.
var (
	Policy = File{"tfexp_policy.py", policy}
	Files  = []File{Policy, {"tfexp_batsim.py", batsim}}
)

// Version is a word for these texts.
var Version = func() string {
	sum := sha256.Sum256(slices.Concat(policy, batsim))
	return hex.EncodeToString(sum[:6])
}()
