//go:build unix

package process

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// If a list of running jobs does not come from this machine since its last boot, no process is ended. The list is
// removed or set aside.
func FuzzRegistry(f *testing.F) {
	for _, text := range []string{"tfexp jobs, run x, boot y\ngroups in \"/x\"\n+ 1 1\n- 1 1\n", "", "+ 1 1\n", "tfexp jobs, run , boot \n",
		"tfexp jobs, run x, boot y\n+ -1 18446744073709551616\n", "\x00\xff"} {
		f.Add([]byte(text))
	}
	dir := f.TempDir()
	path := filepath.Join(dir, "processes.json")
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		killed, err := Sweep(path)
		if len(killed) > 0 || err != nil && !errors.Is(err, ErrGarbled) {
			t.Errorf("killed %q, %v", killed, err)
		}
		if _, err := os.Lstat(path); err == nil {
			t.Error("the list is still there")
		}
	})
}
