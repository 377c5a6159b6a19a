package tfexp

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
)

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
	Error *struct{ Err string }
}

// TestOtherSystems checks the types of all packages and their tests for the systems of TFEXP_SYSTEMS. To compile them
// for each system would take twenty times as long.
func TestOtherSystems(t *testing.T) {
	if !need.Long() {
		t.Skip("checks all packages for other systems: make cross")
	}
	files := parsedFiles{set: token.NewFileSet()}
	for system := range strings.FieldsSeq(os.Getenv("TFEXP_SYSTEMS")) {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			goos, arch, _ := strings.Cut(system, "/")
			list := exec.Command("go", "list", "-deps", "-test",
				"-json=ImportPath,Dir,GoFiles,ImportMap,Module,Error", "./...")
			list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+arch)
			list.Stderr = os.Stderr
			out, err := list.StdoutPipe()
			if err != nil || list.Start() != nil {
				t.Fatal(err)
			}
			checked := map[string]*types.Package{"unsafe": types.Unsafe}
			own := 0
			for from := json.NewDecoder(out); ; {
				var p listed
				if err := from.Decode(&p); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				if p.Error != nil {
					t.Error(p.Error.Err)
				}
				if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") {
					continue // the main packages of tests are generated
				}
				if p.Module != nil && p.Module.Main {
					own++
				}
				checked[p.ImportPath] = checkTypes(t, &p, &files, arch, checked)
			}
			if err := list.Wait(); err != nil || own < 100 {
				t.Errorf("%d packages of this module: %v", own, err)
			}
		})
	}
}

// checkTypes checks a package: of another module, its declarations alone.
func checkTypes(
	t *testing.T, p *listed, files *parsedFiles, arch string, checked map[string]*types.Package,
) *types.Package {
	var syntax []*ast.File
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		f, err := files.parse(name)
		if err != nil {
			t.Error(err)
			continue
		}
		syntax = append(syntax, f)
	}
	conf := types.Config{
		IgnoreFuncBodies: p.Module == nil || !p.Module.Main, Sizes: types.SizesFor("gc", arch),
		Error: func(err error) { t.Error(err) },
		Importer: importer(func(path string) (*types.Package, error) {
			if other, ok := p.ImportMap[path]; ok {
				path = other
			}
			if checked[path] == nil {
				return nil, fmt.Errorf("%s imports %s, which was not checked", p.ImportPath, path)
			}
			return checked[path], nil
		}),
	}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	pkg, _ := conf.Check(path, files.set, syntax, nil) // Error reports all mistakes
	return pkg
}

// parsedFiles are parsed once for all systems.
type parsedFiles struct {
	set    *token.FileSet
	byName sync.Map // of functions that return *ast.File and error
}

func (p *parsedFiles) parse(name string) (*ast.File, error) {
	parse, ok := p.byName.Load(name)
	if !ok {
		parse, _ = p.byName.LoadOrStore(name, sync.OnceValues(func() (*ast.File, error) {
			return parser.ParseFile(p.set, name, nil, parser.SkipObjectResolution)
		}))
	}
	return parse.(func() (*ast.File, error))()
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }
