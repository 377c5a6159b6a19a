//go:build !unix

package store

import "os"

// unlock releases a lock of bbolt's: here it ends with its file.
func unlock(*os.File) error { return nil }
