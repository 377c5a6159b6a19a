// Package tfexp holds the test of the house (docs/architecture.md): what may import what, and how large things are.
package tfexp

import (
	"cmp"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/engine"
	_ "github.com/tfexp/tfexp/stages/all"
)

// floors are the layers: a package imports only packages of the same floor and below.
var floors = map[string]int{"cmd": 4, "pipeline": 3, "stages": 2, "experiments": 1, "estimator": 1, "scheduler": 1,
	"hardware": 1, "results": 1, "jobs": 0}

// What every package may import: how blocks are described, and the door to the file system. The registry links in all
// that registers itself, on whatever floor.
const schema, door, registry = "experiments/schema", "results/folder", "stages/all"

type pkg struct {
	ImportPath, Dir                             string
	Imports, TestImports, XTestImports, GoFiles []string
	users, texts                                []string       // packages that import it, in tests too; string literals
	lines                                       map[string]int // of code, of each file
}

func TestHouse(t *testing.T) {
	all, parts := enter(t), features(t)
	tops := map[string]bool{}
	for name, p := range all {
		if name == registry {
			continue
		}
		for _, to := range p.Imports {
			tops[top(name)+top(to)] = tops[top(name)+top(to)] || to != schema && to != door
		}
	}
	for name, p := range all {
		for _, to := range p.Imports {
			switch of := slices.IndexFunc(parts, func(f string) bool { return within(f, to) }); {
			case to == schema, to == door && name != schema, name == registry:
			case to == registry && name != "cmd/tfexp":
				t.Errorf("%s imports %s: the command alone links in what registers", name, to)
			case of >= 0 && !within(parts[of], name):
				t.Errorf("%s imports %s, a part of the feature %s", name, to, parts[of])
			case floors[top(to)] > floors[top(name)]:
				t.Errorf("%s imports %s, which is a floor above it", name, to)
			case top(to) != top(name) && all[to] != nil && tops[top(to)+top(name)]:
				t.Errorf("%s imports %s, and a package of %s imports one of %s", name, to, top(to), top(name))
			case name == "scheduler" && to == "scheduler/policy" || name == "scheduler/validate" && path.Dir(to) == "scheduler" &&
				to != "scheduler/cluster" && to != "scheduler/jobtable":
				t.Errorf("%s imports %s: the kernel knows no policy, the validator only the kernel", name, to)
			case strings.Contains(to, "hashicorp/hcl") && !slices.Contains([]string{"experiments", "pipeline", "stages"}, top(name)) &&
				name != "cmd/tfexp/editor":
				t.Errorf("%s imports %s: experiments, pipeline/decode, the editor and features read files", name, to)
			case strings.HasPrefix(name, "experiments") && all[to] != nil && top(to) != "experiments":
				t.Errorf("%s imports %s: the language knows nothing of what files say", name, to)
			}
		}
		lines := 0
		for file, n := range p.lines {
			if lines += n; n >= 600 {
				t.Errorf("%s/%s has %d lines of code, want fewer than 600", name, file, n)
			}
		}
		if lines < 150 && len(p.users) == 1 && floors[top(name)] > 0 && p.users[0] != registry {
			t.Errorf("%s has %d lines and one importer, %s: it is a part of that", name, lines, p.users[0])
		}
	}
	for name := range all {
		if n := height(all, name); n > 6 && top(name) == "scheduler" {
			t.Errorf("%s stands on floor %d of scheduler, want 6 at most", name, n)
		}
	}
}

// height is the length of the longest chain of imports within a folder.
func height(all map[string]*pkg, name string) (n int) {
	for _, to := range all[name].Imports {
		if top(to) == top(name) {
			n = max(n, height(all, to))
		}
	}
	return n + 1
}

// TestOnlyTheRegistryKnowsEngines: packages outside hardware do not contain the name of an engine that runs programs.
func TestOnlyTheRegistryKnowsEngines(t *testing.T) {
	for name, p := range enter(t) {
		for _, e := range engine.Names(func(k *engine.Kind) bool { return k.Real && !k.Recorded }) {
			if top(name) != "hardware" && slices.Contains(p.texts, e) {
				t.Errorf("%s holds the name of the engine %q: ask the registry (hardware/engine)", name, e)
			}
		}
	}
}

// passes are the functions that open, make, change or remove files.
var passes = regexp.MustCompile(`^((os|syscall|unix)\.(Open|OpenFile|OpenRoot|OpenInRoot|Openat|Openat2|Creat|Create|` +
	`CreateTemp|MkdirTemp|ReadFile|WriteFile|ReadDir|Mkdir|Mkdirat|MkdirAll|Remove|RemoveAll|Rmdir|` +
	`Unlink|Unlinkat|Rename|Renameat|Renameat2|Truncate|Link|Linkat|Symlink|Symlinkat|Chmod|Chown|Lchown|Chtimes|CopyFS)|` +
	`ioutil\.\w+|flock\.\w+|renameio\.\w+|maybe\.WriteFile|lockedfile\.\w+)$`)

// TestOneDoor: only results/folder opens, creates, changes and removes files, since it never leaves the folder of
// results. Files for tests are exempt. make lint runs this test.
func TestOneDoor(t *testing.T) {
	seen := 0
	err := filepath.WalkDir(".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() && (e.Name() == "testdata" || e.Name() != "." && e.Name()[0] == '.') {
			return cmp.Or(err, fs.SkipDir)
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || filepath.Dir(name) == door {
			return nil
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		names := map[string]string{} // as the file calls packages → their own names
		for _, i := range file.Imports {
			to, _ := strconv.Unquote(i.Path.Value)
			if to == "testing" {
				return nil
			}
			own := path.Base(strings.TrimSuffix(to, "/v2"))
			if names[own] = own; i.Name != nil {
				names[i.Name.Name] = own
			}
		}
		seen++
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && passes.MatchString(names[x.Name]+"."+s.Sel.Name) {
					t.Errorf("%s: %s.%s: files are opened, made, changed and removed by %s alone, which has a function of this kind",
						set.Position(s.Pos()), x.Name, s.Sel.Name, door)
				}
			}
			return true
		})
		return nil
	})
	if err != nil || seen < 500 {
		t.Fatal(seen, err)
	}
}

func TestTheTreeHasEveryPackage(t *testing.T) {
	tree, err := os.ReadFile("docs/architecture.md")
	for name := range enter(t) {
		if err != nil || !strings.Contains(string(tree), path.Base(name)) {
			t.Errorf("docs/architecture.md does not name %s", name)
		}
	}
}

// top is the layer of a package. The commands of a feature are in its folder, and on the floor of commands.
func top(name string) string {
	if parts := strings.Split(name, "/"); parts[0] != "stages" || !slices.Contains(parts, "commands") {
		return parts[0]
	}
	return "cmd"
}

// enter reads all packages, by their paths below the module.
func enter(t *testing.T) map[string]*pkg {
	raw, err := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,TestImports,XTestImports,GoFiles", "./...").Output()
	all := map[string]*pkg{}
	for d := json.NewDecoder(strings.NewReader(strings.ReplaceAll(string(raw), "github.com/tfexp/tfexp/", ""))); d.More(); {
		p := &pkg{lines: map[string]int{}}
		if err = d.Decode(p); err != nil {
			break
		}
		all[p.ImportPath] = p
		for _, name := range p.GoFiles {
			raw, _ := os.ReadFile(path.Join(p.Dir, name))
			var s scanner.Scanner
			file, last := token.NewFileSet().AddFile(name, -1, len(raw)), 0
			s.Init(file, raw, nil, 0)
			for at, tok, text := s.Scan(); tok != token.EOF; at, tok, text = s.Scan() {
				if line := file.Line(at); line > last {
					p.lines[name], last = p.lines[name]+1, line
				}
				if tok == token.STRING {
					text, _ = strconv.Unquote(text)
					p.texts = append(p.texts, text)
				}
			}
		}
	}
	if delete(all, "github.com/tfexp/tfexp"); err != nil || len(all) < 20 {
		t.Fatal(len(all), err)
	}
	for name, p := range all {
		for _, to := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if u := all[to]; u != nil && to != name && !slices.Contains(u.users, name) {
				u.users = append(u.users, name)
			}
		}
	}
	return all
}
