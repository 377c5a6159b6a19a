// Package library has the Python library for policies that are programs, as a part of the command: such a program finds
// it without an installation.
package library

import (
	"crypto/sha256"
	_ "embed" // holds the library
	"encoding/hex"
)

// Name is the library's file.
const Name = "tfexp_policy.py"

// Source is its text.
//
//go:embed tfexp_policy.py
var Source []byte

// Version is a word for this text.
var Version = func() string {
	sum := sha256.Sum256(Source)
	return hex.EncodeToString(sum[:6])
}()
