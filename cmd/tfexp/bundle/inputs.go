package bundle

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Input is a file that the experiment reads.
type Input struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
	// From is the original path of the file. Left is the reason why it was not copied; empty if it was.
	From string `json:"from,omitempty"`
	Left string `json:"left_out,omitempty"`
}

// inputs are the files that an experiment reads.
type inputs struct {
	// root is the deepest folder that contains the experiment file and all of paths.
	root   string
	paths  []string
	images []string // container images
}

// inputsOf finds the files that an experiment reads: files that it names, programs of jobs and policies, and Python
// modules that a program imports from its own folder.
func inputsOf(spec *experiment.Spec) (*inputs, error) {
	file, err := filepath.Abs(spec.File)
	if err != nil {
		return nil, fmt.Errorf("find the experiment's folder: %w", err)
	}
	base := filepath.Dir(file)
	in := &inputs{root: base}
	named := slices.Clone(spec.Inputs)
	seen := map[*experiment.Job]bool{}
	policies := map[*experiment.Policy]bool{}
	cell := func(c *experiment.Cell) {
		if c.Policy != nil && !policies[c.Policy] {
			policies[c.Policy] = true
			var program policy.Program = c.Policy.Program()
			named = append(named, ofCommand(base, program.Command, program.Files)...)
		}
		for _, j := range c.Workload.JobBlocks() {
			if seen[j] {
				continue
			}
			seen[j] = true
			named = append(named, ofCommand(j.Dir, j.Command, j.Files)...)
			if j.Container != nil {
				in.images = schema.AddOnce(in.images, j.Container.Image)
			}
		}
	}
	for i := range spec.Cells {
		cell(&spec.Cells[i])
	}
	spec.EachProbe(func(c experiment.Cell) { cell(&c) })
	return in, in.list(base, named)
}

// list adds the named files, and all files in the named folders. Relative paths are below base.
func (in *inputs) list(base string, named []string) error {
	known := map[string]bool{}
	add := func(path string) {
		if !known[path] {
			known[path] = true
			in.paths = append(in.paths, path)
		}
	}
	for _, path := range named {
		info, err := os.Stat(path)
		switch {
		case err != nil || path == base:
		case info.Mode().IsRegular():
			add(path)
		case info.IsDir():
			err := experiment.Below(path, func(name string, _ os.DirEntry) error {
				of := filepath.Join(path, filepath.FromSlash(name))
				if info, err := os.Stat(of); err == nil && info.Mode().IsRegular() {
					add(of)
				}
				return nil
			})
			if err != nil {
				return fmt.Errorf("list %s: %w", path, err)
			}
		}
	}
	for _, path := range in.paths {
		for !below(in.root, path) && in.root != filepath.Dir(in.root) {
			in.root = filepath.Dir(in.root)
		}
	}
	return nil
}

// place returns the path of a file's copy, relative to the folder of all copies.
func (in *inputs) place(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	name, err := filepath.Rel(in.root, path)
	if err != nil { // the file is on another volume
		return filepath.Base(path)
	}
	return filepath.ToSlash(name)
}

// describe reads a file and returns its entry for a list of inputs.
func (in *inputs) describe(path string) (Input, error) {
	sum, n, err := digest(path)
	return Input{Path: in.place(path), Bytes: n, SHA256: sum, From: path}, err
}

// ofCommand returns the declared paths, and the files and folders among the arguments of a command that runs in dir. A
// program that is found through PATH is not included: it belongs to the machine.
func ofCommand(dir string, argv, declared []string) (paths []string) {
	for i, arg := range argv {
		if i == 0 && (filepath.IsAbs(arg) || !strings.ContainsRune(arg, filepath.Separator)) {
			continue
		}
		if !filepath.IsAbs(arg) {
			arg = filepath.Join(dir, arg)
		}
		if info, err := os.Stat(arg); err == nil && info.Mode().IsRegular() {
			paths = append(paths, arg)
			if strings.HasSuffix(arg, ".py") {
				paths = modules(arg, paths)
			}
		}
	}
	for _, f := range declared {
		if !filepath.IsAbs(f) {
			f = filepath.Join(dir, f)
		}
		paths = append(paths, f)
	}
	return paths
}

// imported matches a line of Python that imports modules.
var imported = regexp.MustCompile(`^\s*(?:from\s+\.?([\w.]+)\s+import|import\s+([\w., ]+))`)

// modules adds the Python modules and packages that a program imports from its folder, directly or through other
// modules.
func modules(program string, paths []string) []string {
	f, err := folder.OpenFile(program, os.O_RDONLY, 0)
	if err != nil {
		return paths
	}
	defer f.Close()
	dir := filepath.Dir(program)
	for lines := bufio.NewScanner(f); lines.Scan(); {
		m := imported.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		for name := range strings.SplitSeq(cmp.Or(m[1], m[2]), ",") {
			name, _, _ = strings.Cut(strings.TrimSpace(name), " ") // import x as y
			name, _, _ = strings.Cut(name, ".")
			one, of := filepath.Join(dir, name+".py"), filepath.Join(dir, name)
			if info, err := os.Stat(one); err == nil && info.Mode().IsRegular() && !slices.Contains(paths, one) {
				paths = modules(one, append(paths, one))
			}
			if _, err := os.Stat(filepath.Join(of, "__init__.py")); name != "" && err == nil {
				paths = schema.AddOnce(paths, of)
			}
		}
	}
	return paths
}

func below(dir, path string) bool {
	name, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(name)
}
