package folder

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"
)

// Opening a folder does not block if there is a pipe in its place.
func TestPipeInPlaceOfTheFolder(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := ReadFile(pipe, "key.txt")
	_, statErr := Stat(pipe, "key.txt")
	_, makeErr := Make(pipe, "plots")
	for _, err := range []error{err, statErr, makeErr} {
		if !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("%v, want %v", err, syscall.ENOTDIR)
		}
	}
}
