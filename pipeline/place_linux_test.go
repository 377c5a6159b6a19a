package pipeline

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

// A pipe in the place of a folder is an error before the run opens it.
func TestPipeForAFolder(t *testing.T) {
	for _, name := range []string{record.CellsDir, record.SamplesDir} {
		p := &Plan{Dir: t.TempDir()}
		if err := syscall.Mkfifo(filepath.Join(p.Dir, name), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := p.checkFolder(); err == nil || !strings.Contains(err.Error(), name+" is neither a folder nor a file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
