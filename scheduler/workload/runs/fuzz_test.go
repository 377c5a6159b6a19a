package runs

import (
	"os"
	"path/filepath"
	"testing"
)

// Whatever tables of recorded runs hold, they are read or refused.
func FuzzRuns(f *testing.F) {
	f.Add([]byte("time,step,run,accuracy\n1,10,a,0.5\n2,20,a,0.6\n"), []byte("server,uptime,revoked\ns1,5,1\n"))
	f.Add([]byte("time,step\n1e308,1e308\n2,-1\n"), []byte("run,cost\na,1e308\na,1e308\n"))
	f.Add([]byte("2026-01-01 00:00:00,1\n"), []byte{0xff})
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for name, raw := range map[string][]byte{"a.csv": first, "b.csv": second} {
			if err := os.WriteFile(filepath.Join(dir, name), raw, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, _, _ = Read(dir, Options{})
	})
}
