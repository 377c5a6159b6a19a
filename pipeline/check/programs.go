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
	"github.com/tfexp/tfexp/stages/language"
)

// missingPrograms warns of programs that are missing on this machine, where its jobs run. The warning becomes an
// error when jobs are about to run (experiments.Diagnostics.Running). Until then the program may be installed, or the
// file may be for another machine.
func (c *Checker) missingPrograms() {
	for _, cell := range c.allCells() {
		if command := cell.Policy.Program().Command; len(command) > 0 && c.First("command", cell.Policy) {
			dir := filepath.Dir(c.Spec.File)
			at, of := language.Place(cell.Policy.At, "command", cell.Policy.Range), fmt.Sprintf("the cells of policy %q", cell.Policy.Name)
			c.program(command[0], dir, of, at)
			for _, arg := range command[1:] {
				if filepath.Ext(arg) != ".py" {
					continue // the shell may know it as a builtin
				}
				if !filepath.IsAbs(arg) {
					arg = "." + string(filepath.Separator) + arg
				}
				c.program(arg, dir, of, at)
			}
		}
		if !cell.Hardware.Real() || !cell.Hardware.Kind().Here {
			continue
		}
		for _, j := range cell.Workload.JobBlocks() {
			ownPath := func(s schema.Setting) bool { return s.Name == "PATH" }
			if len(j.Command) > 0 && c.First("command", j) && !slices.ContainsFunc(j.Env, ownPath) {
				c.program(j.Command[0], j.Dir, fmt.Sprintf("the jobs of %q", j.Name), language.Place(j.At, "command", j.Range))
			}
		}
	}
}

// program warns that a program is missing. others names the jobs that would fail.
func (c *Checker) program(name, dir, others string, at experiments.Range) {
	d := experiments.WarningAt(at, "Program not found", "There is no program %q; %s would fail.", name, others)
	d.Unavailable = true
	if strings.ContainsRune(name, filepath.Separator) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		switch info, err := os.Stat(name); {
		case err != nil && !errors.Is(err, fs.ErrPermission):
			c.Add(d)
		case err == nil && info.IsDir():
			d.Detail = fmt.Sprintf("%s is a folder; %s would fail.", name, others)
			c.Add(d)
		}
		return
	}
	if _, err := exec.LookPath(name); errors.Is(err, exec.ErrNotFound) {
		d.Suggestion = schema.Nearest(name, programs())
		c.Add(d)
	}
}

// programs returns the names of the files in the folders of PATH.
func programs() []string {
	var names []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		entries, err := folder.ReadDir(dir)
		if err != nil {
			continue // the system ignores missing folders of PATH too
		}
		for _, e := range entries {
			names = append(names, e.Name())
		}
	}
	return names
}
