package pipeline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfexp/tfexp/results/record"
)

// ErrForeign is returned for a folder of results that has files of somebody else, which a run would replace.
var ErrForeign = errors.New("it holds files that are no results of tfexp")

// ErrGone is returned when the folder of results was moved or removed while a run wrote to it.
var ErrGone = errors.New("the folder was moved or removed while results were written to it")

// ErrAlike is returned for two names that differ in capital letters alone, where the file system takes them for one.
var ErrAlike = errors.New("this file system takes capital and small letters for the same: one would replace the other")

// alike returns ErrAlike when two of names would share a file or a folder in the folder of results, whose lock is held.
func (p *Plan) alike(names []string) error {
	there, err := os.Stat(filepath.Join(p.Dir, record.LockFile))
	if err != nil {
		return fmt.Errorf("run in %s: %w", p.Dir, err)
	}
	other, err := os.Stat(filepath.Join(p.Dir, strings.ToUpper(record.LockFile)))
	if err != nil || !os.SameFile(there, other) {
		return nil // capital and small letters differ
	}
	seen := map[string]string{}
	for _, name := range names {
		folded := strings.ToLower(name)
		if first, ok := seen[folded]; ok && first != name {
			return fmt.Errorf("run in %s: %s and %s: %w", p.Dir, first, name, ErrAlike)
		}
		seen[folded] = name
	}
	return nil
}

// names are those of the plan's cells with folders, and of its pieces, which have files.
func (p *Plan) names() (names []string) {
	for i, c := range p.Cells {
		if !p.Sharded(i) {
			names = append(names, filepath.Join(record.CellsDir, c.Cell))
		}
	}
	for _, w := range p.Pieces {
		names = append(names, filepath.Join(w.Stage.Name, w.Name))
	}
	return names
}

// gone returns ErrGone when the folder of results is no longer the one that was locked.
func (r *run) gone() error {
	if now, err := os.Stat(r.Dir); err != nil || !os.SameFile(r.place, now) {
		return fmt.Errorf("run in %s: %w", r.Dir, ErrGone)
	}
	return nil
}

// checkFolder refuses a folder in which a run would replace or remove files that no run has made: one that has some
// of the files of a run, but neither plan nor journal; and one in which what is to be a folder is a pipe or a device,
// which opening would wait for without end.
func (p *Plan) checkFolder() error {
	for _, name := range []string{record.CellsDir, record.SamplesDir} {
		path := filepath.Join(p.Dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return fmt.Errorf("run in %s: %s is neither a folder nor a file: move it away", p.Dir, path)
		}
	}
	there := func(name string) bool {
		_, err := os.Lstat(filepath.Join(p.Dir, name))
		return !errors.Is(err, fs.ErrNotExist)
	}
	if there(record.PlanFile) || there(record.JournalFile) {
		return nil
	}
	names := []string{record.CellsDir, record.ExperimentFile, record.RunFile}
	for _, s := range p.stages {
		names = append(names, s.Files...)
	}
	for _, name := range names {
		if there(name) {
			return fmt.Errorf("run in %s: %w, such as %s, and would be replaced", p.Dir, ErrForeign, name)
		}
	}
	return nil
}

// otherFile returns the experiment file whose results are in the folder, if that is another than the plan's and still
// there; "" otherwise, as when the file was moved.
func (p *Plan) otherFile() string {
	last, err := readRun(p.Dir)
	if err != nil || last.File == "" {
		return ""
	}
	own, err := os.Stat(p.x.File())
	if err != nil {
		return ""
	}
	other, err := os.Stat(last.File)
	if err != nil || os.SameFile(own, other) {
		return ""
	}
	return last.File
}
