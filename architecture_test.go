// Package tfexp holds the test of the house (docs/architecture.md): what may import what, and how large things are.
package tfexp

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/engine"
	_ "github.com/tfexp/tfexp/stages/all"
)

// floors are the layers: a package imports those of its own floor and below.
var floors = map[string]int{"cmd": 4, "pipeline": 3, "stages": 2, "experiments": 1, "estimator": 1, "scheduler": 1,
	"hardware": 1, "results": 1, "jobs": 0}

// everyRun are the stages that every run has; the other folders of stages are the rooms of features.
var everyRun = []string{"stages", "profile", "estimate", "execute", "plot", "report"}

// schema is the leaf that every package may import: what describes arguments.
const schema = "experiments/schema"

type pkg struct {
	ImportPath, Dir                             string
	Imports, TestImports, XTestImports, GoFiles []string

	users []string       // packages that import it, in tests too
	lines map[string]int // of code, of each file
	text  string         // of all files
}

func TestHouse(t *testing.T) {
	all := enter(t)
	tops := map[[2]string]bool{}
	for name, p := range all {
		for _, to := range p.Imports {
			if to != schema && top(to) != top(name) {
				tops[[2]string{top(name), top(to)}] = true
			}
		}
	}
	for pair := range tops {
		if tops[[2]string{pair[1], pair[0]}] && !strings.Contains(pair[1], ".") {
			t.Errorf("%s and %s import each other", pair[0], pair[1])
		}
	}
	for name, p := range all {
		for _, to := range p.Imports {
			switch in := strings.Split(to, "/"); {
			case to == schema:
			case floors[top(to)] > floors[top(name)]:
				t.Errorf("%s imports %s, which is a floor above it", name, to)
			case to == "stages/all":
				if name != "cmd/tfexp" && !strings.HasSuffix(name, "test") {
					t.Errorf("%s imports %s: the command alone links in what registers", name, to)
				}
			case in[0] == "stages" && name != "stages/all" && !slices.Contains(everyRun, in[min(1, len(in)-1)]):
				t.Errorf("%s imports %s, the room of a feature", name, to)
			case name == "scheduler" && strings.HasPrefix(to, "scheduler/policy"):
				t.Errorf("%s imports %s: the kernel knows no policy", name, to)
			case name == "scheduler/validate" && top(to) == "scheduler" && to != "scheduler":
				t.Errorf("%s imports %s: it checks traces with its own code", name, to)
			case strings.HasPrefix(to, "github.com/hashicorp/hcl") && top(name) != "experiments":
				t.Errorf("%s imports %s: experiments alone reads files", name, to)
			}
		}
		lines := 0
		for file, n := range p.lines {
			if lines += n; n >= 600 {
				t.Errorf("%s/%s has %d lines of code, want fewer than 600", name, file, n)
			}
		}
		if lines < 150 && len(p.users) == 1 && floors[top(name)] > 0 && p.users[0] != "stages/all" {
			t.Errorf("%s has %d lines and one importer, %s: it is a part of that", name, lines, p.users[0])
		}
	}
	if n := height(all, "scheduler"); n > 6 {
		t.Errorf("the packages of scheduler are %d floors high, want 6 at most", n)
	}
}

// TestOnlyTheRegistryKnowsEngines: no package but its own holds the name of an engine that runs programs.
func TestOnlyTheRegistryKnowsEngines(t *testing.T) {
	names := engine.Names(func(k *engine.Kind) bool { return k.Real && !k.Recorded })
	if len(names) < 3 {
		t.Fatalf("the engines are %q", names)
	}
	for name, p := range enter(t) {
		for _, e := range names {
			if top(name) != "hardware" && strings.Contains(p.text, `"`+e+`"`) {
				t.Errorf("%s holds the name of the engine %q: ask the registry (hardware/engine)", name, e)
			}
		}
	}
}

// TestTheTreeHasEveryPackage: docs/architecture.md names all packages.
func TestTheTreeHasEveryPackage(t *testing.T) {
	tree, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range enter(t) {
		if !strings.Contains(string(tree), path.Base(name)) {
			t.Errorf("docs/architecture.md does not name %s", name)
		}
	}
}

func top(name string) string { return strings.Split(name, "/")[0] }

// height is the length of the longest chain of imports within a folder.
func height(all map[string]*pkg, folder string) int {
	var from func(string) int
	from = func(name string) (n int) {
		for _, to := range all[name].Imports {
			if top(to) == folder {
				n = max(n, from(to))
			}
		}
		return n + 1
	}
	most := 0
	for name := range all {
		if top(name) == folder {
			most = max(most, from(name))
		}
	}
	return most
}

// enter reads all packages, by their paths below the module.
func enter(t *testing.T) map[string]*pkg {
	t.Helper()
	raw, err := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports,GoFiles", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*pkg{}
	for d := json.NewDecoder(strings.NewReader(strings.ReplaceAll(string(raw), "github.com/tfexp/tfexp/", ""))); d.More(); {
		p := &pkg{lines: map[string]int{}}
		if err := d.Decode(p); err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
		for _, file := range p.GoFiles {
			raw, _ := os.ReadFile(path.Join(p.Dir, file))
			p.text += string(raw)
			for line := range strings.Lines(string(raw)) {
				if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
					p.lines[file]++
				}
			}
		}
	}
	for name, p := range all {
		for _, to := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if u := all[to]; u != nil && to != name && !slices.Contains(u.users, name) {
				u.users = append(u.users, name)
			}
		}
	}
	delete(all, "github.com/tfexp/tfexp")
	return all
}
