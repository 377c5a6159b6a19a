//go:build !unix

package store

import "os"

// unlock does nothing: closing the file releases the lock of bbolt on this system.
func unlock(*os.File) error { return nil }
