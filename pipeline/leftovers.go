package pipeline

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tasks"
)

// scratchPrefix begins the names of the folders in which jobs have their control files and checkpoints while they run.
const scratchPrefix = ".scratch-"

// unfinished is the name of a file that was being written: it gets its own name when it is whole.
var unfinished = regexp.MustCompile(`^\.[\w-]+(\.[\w-]+)*\.(json|jsonl|csv|html|hcl|svg|png|txt)(\d+|\.tmp)$`)

// clearScratch removes what a run that was killed has left in an experiment's folder and nobody reads: folders of jobs,
// and files that were being written. The lock is held, and the jobs have been ended. Cells that a batch
// system runs as tasks are another's: while there are such, nothing is removed.
func clearScratch(dir string) error {
	if _, ok, err := tasks.Read(dir); ok || err != nil {
		return nil
	}
	for _, below := range []string{"", record.PlotsDir} {
		entries, err := os.ReadDir(filepath.Join(dir, below))
		if err != nil {
			continue // it is not there yet
		}
		for _, e := range entries {
			if !isLeftover(e) {
				continue
			}
			if err := os.RemoveAll(filepath.Join(dir, below, e.Name())); err != nil {
				return fmt.Errorf("clean up after a run that was killed: %w", err)
			}
		}
	}
	return nil
}

func isLeftover(e fs.DirEntry) bool {
	if e.IsDir() {
		return strings.HasPrefix(e.Name(), scratchPrefix)
	}
	return e.Type().IsRegular() && unfinished.MatchString(e.Name())
}
