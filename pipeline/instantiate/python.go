package instantiate

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Interpreters returns the Python interpreters of this machine that run programs of real cells outside of containers.
func (x *Experiment) Interpreters() (found []string) {
	for _, c := range x.Spec.Cells {
		if k := c.Hardware.Kind(); !c.Hardware.Real() || k.Contained || !k.Here {
			continue
		}
		for _, j := range jobsOf(c) {
			if path := interpreter(j); path != "" && !slices.Contains(found, path) {
				found = append(found, path)
			}
		}
	}
	return found
}

// interpreter returns the Python interpreter that runs a job's program on this machine. The command is an
// interpreter, or a script whose first line names one, or a script that gets one in the variable PYTHON. The result
// is "" without an interpreter, or if finding it would require running the program.
func interpreter(j *experiment.Job) string {
	if len(j.Command) == 0 {
		return ""
	}
	path := found(j.Dir, j.Command[0])
	if isPython(path) {
		return path
	}
	for _, name := range firstLine(path) {
		if isPython(name) {
			return found(j.Dir, name)
		}
	}
	for _, e := range j.Env {
		if e.Name == "PYTHON" {
			return found(j.Dir, e.Value)
		}
	}
	return ""
}

func isPython(path string) bool { return strings.HasPrefix(filepath.Base(path), "python") }

// found returns the path of a program for a job that runs in folder dir.
func found(dir, name string) string {
	switch path, err := exec.LookPath(name); {
	case strings.ContainsRune(name, filepath.Separator) && !filepath.IsAbs(name):
		return filepath.Join(dir, name)
	case err == nil:
		return path
	}
	return name
}

// firstLine returns the words of a script's first line, which names its interpreter.
func firstLine(path string) []string {
	f, err := folder.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil
	}
	defer f.Close()
	line, err := bufio.NewReaderSize(f, 256).ReadSlice('\n')
	if err != nil || !strings.HasPrefix(string(line), "#!") {
		return nil
	}
	return strings.Fields(strings.TrimPrefix(string(line), "#!"))
}

// listPackages is a Python program that prints the installed packages.
const listPackages = `
import importlib.metadata, json, platform
found = {d.metadata["Name"]: d.version for d in importlib.metadata.distributions() if d.metadata["Name"]}
print(json.dumps({"version": platform.python_version(), "packages": sorted(found.items(), key=lambda p: p[0].lower())}))
`

// mostListing is the longest time that an interpreter may take to list its packages.
const mostListing = 10 * time.Second

// Python returns the version and the packages of an interpreter, or the error of listing them.
func Python(ctx context.Context, interpreter string) record.Python {
	ctx, cancel := context.WithTimeoutCause(ctx, mostListing, fmt.Errorf("it took longer than %s", mostListing))
	defer cancel()
	out := record.Python{Interpreter: interpreter}
	cmd := exec.CommandContext(ctx, interpreter, "-c", listPackages)
	cmd.WaitDelay = time.Second
	raw, _, err := folder.Output(cmd)
	var answer struct {
		Version  string      `json:"version"`
		Packages [][2]string `json:"packages"`
	}
	if err == nil {
		err = json.Unmarshal(raw, &answer)
	}
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		var failed *exec.ExitError
		if errors.As(err, &failed) && len(failed.Stderr) > 0 {
			lines := strings.Split(strings.TrimSpace(string(failed.Stderr)), "\n")
			err = errors.New(lines[len(lines)-1])
		}
		out.Error = "cannot list its packages: " + err.Error()
		return out
	}
	out.Version = answer.Version
	for _, p := range answer.Packages {
		out.Packages = append(out.Packages, record.Setting{Name: p[0], Value: p[1]})
	}
	return out
}
