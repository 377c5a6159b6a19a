package store

import (
	"errors"
	"strings"
	"testing"
)

func TestLockNamesItsHolder(t *testing.T) {
	dir := t.TempDir()
	l, err := LockFolder(dir, []string{"tfexp", "run", "a.hcl"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = LockFolder(dir, []string{"tfexp", "run", "b.hcl"})
	var inUse *InUseError
	if !errors.As(err, &inUse) || !strings.Contains(err.Error(), "tfexp run a.hcl") {
		t.Errorf("second lock: %v, want the holder's command", err)
	}
	if h, held := Holder(dir); !held || !strings.Contains(h, "a.hcl") {
		t.Errorf("Holder = %q, %v", h, held)
	}
	l.Release()
	if h, held := Holder(dir); held {
		t.Errorf("released, but held by %s", h)
	}
	again, err := LockFolder(dir, nil)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	again.Release()
}
