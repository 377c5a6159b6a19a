package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages/experiment"
)

// missingPrograms warns of programs that are not on this machine, where jobs run
// here. It is an error only once jobs are to run (experiments.Diagnostics.Running):
// the program may still come, and the file may be for another machine.
func (c *Checker) missingPrograms() {
	for _, cell := range c.allCells() {
		if !cell.Hardware.Real() || !cell.Hardware.Kind().Here {
			continue
		}
		for _, j := range cell.Workload.JobBlocks() {
			ownPath := func(s schema.Setting) bool { return s.Name == "PATH" }
			if len(j.Command) > 0 && c.first("command", j) && !slices.ContainsFunc(j.Env, ownPath) {
				c.program(j)
			}
		}
	}
}

// program warns when the program of a job is not there.
func (c *Checker) program(j *experiment.Job) {
	name := j.Command[0]
	d := experiments.WarningAt(place(j.At, "command", j.Range), "Program not found",
		"There is no program %q; the jobs of %q would fail.", name, j.Name)
	d.Unavailable = true
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(j.Dir, name)
		}
		switch info, err := os.Stat(name); {
		case err != nil && !errors.Is(err, fs.ErrPermission):
			c.Add(d)
		case err == nil && info.IsDir():
			d.Detail = fmt.Sprintf("%s is a folder; the jobs of %q would fail.", name, j.Name)
			c.Add(d)
		}
		return
	}
	if _, err := exec.LookPath(name); errors.Is(err, exec.ErrNotFound) {
		d.Suggestion = schema.Nearest(name, programs())
		c.Add(d)
	}
}

// programs are the names of the files in the folders of PATH.
func programs() []string {
	var names []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, err := folder.ReadDir(dir)
		if err != nil {
			continue // the system passes over it as well
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	return names
}
