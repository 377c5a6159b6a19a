package tfexp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	blocks "github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/pipeline/decode"
)

// mostCoreLines bounds the code that every experiment needs: lines that are neither blank nor comments alone.
const mostCoreLines = 55_000

// featureFile has one import a line for each feature.
const featureFile = "stages/all/features.go"

// module begins the import path of each package of the module.
const module = "github.com/tfexp/tfexp/"

var importLine = regexp.MustCompile(`(?m)^\t_ "` + regexp.QuoteMeta(module) + `(.+)"\n`)

// lines lists the packages that featureFile imports, in order.
func lines(t *testing.T) (all []string) {
	raw, err := os.ReadFile(featureFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range importLine.FindAllStringSubmatch(string(raw), -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return all
}

// features lists the folders of the features: one with a line for a folder in it as well counts once.
func features(t *testing.T) (all []string) {
	for _, name := range lines(t) {
		if n := len(all); n == 0 || !within(all[n-1], name) {
			all = append(all, name)
		}
	}
	return all
}

// within reports whether a package is a folder, or below it.
func within(folder, name string) bool { return strings.HasPrefix(name+"/", folder+"/") }

// without writes an overlay in which the features are not linked in, and returns the flag for go.
func without(t *testing.T, features ...string) string {
	raw, err := os.ReadFile(featureFile)
	if err != nil {
		t.Fatal(err)
	}
	raw = importLine.ReplaceAllFunc(raw, func(line []byte) []byte {
		name := string(importLine.FindSubmatch(line)[1])
		if slices.ContainsFunc(features, func(f string) bool { return within(f, name) }) {
			return nil
		}
		return line
	})
	dir := t.TempDir()
	from, _ := filepath.Abs(featureFile)
	to := filepath.Join(dir, "features.go")
	if err := os.WriteFile(to, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	raw, _ = json.Marshal(map[string]any{"Replace": map[string]string{from: to}}) // strings alone
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return "-overlay=" + overlay
}

// sources are the Go files of a package, and the packages of the module that it imports.
type sources struct{ files, imports []string }

// imports describes the packages of the module by their folders, stages/all as it is without features. All tests share
// one call of go list.
func imports(t *testing.T) map[string]sources {
	listing.Do(func() {
		all := features(t)
		args := []string{"list", without(t, all...), "-deps", "-f", `{{if and .Module .Module.Main}}` +
			`{{.ImportPath}}{{range .GoFiles}} {{.}}{{end}}{{range .Imports}} {{.}}{{end}}{{end}}`, "./cmd/tfexp"}
		for _, name := range lines(t) {
			args = append(args, "./"+name)
		}
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		raw, err := cmd.Output()
		if err != nil {
			var exit *exec.ExitError
			errors.As(err, &exit)
			t.Fatalf("%v: %s", err, exit.Stderr)
		}
		listing.packages = map[string]sources{}
		for line := range strings.Lines(string(raw)) {
			var p sources
			names := strings.Fields(line)
			for _, name := range names[1:] {
				if inModule, ok := strings.CutPrefix(name, module); ok {
					p.imports = append(p.imports, inModule)
				} else if strings.HasSuffix(name, ".go") {
					p.files = append(p.files, name)
				}
			}
			listing.packages[strings.TrimPrefix(names[0], module)] = p
		}
	})
	return listing.packages
}

var listing struct {
	sync.Once
	packages map[string]sources
}

// linked lists the packages of the module that a build without the features links, with their Go files.
func linked(t *testing.T, features ...string) map[string][]string {
	all := imports(t)
	packages := map[string][]string{}
	var visit func(name string)
	visit = func(name string) {
		if _, ok := packages[name]; ok {
			return
		}
		p, ok := all[name]
		if !ok {
			t.Fatalf("%s is imported and not listed", name)
		}
		packages[name] = p.files
		for _, imported := range p.imports {
			visit(imported)
		}
	}
	visit("cmd/tfexp")
	for _, name := range lines(t) {
		if !slices.ContainsFunc(features, func(f string) bool { return within(f, name) }) {
			visit(name)
		}
	}
	return packages
}

// TestFeaturesCanBeRemoved looks that no package of a feature's folder is linked without its line: a list of imports
// compiles without each of them. Then it builds tfexp without some features at a time, and runs an experiment: each
// feature is left out of two builds, and no two features of the same two. So for any two there is a build without
// one that has the other. A block of the language belongs to the core or to one feature: then it is unknown in the two
// builds without that, and in no other. The short form builds the core alone; TFEXP_FEATURES=each has a build for each
// feature.
func TestFeaturesCanBeRemoved(t *testing.T) {
	all := features(t)
	for _, f := range all {
		for name := range linked(t, f) {
			if within(f, name) {
				t.Errorf("without the line of %s, %s is still linked", f, name)
			}
		}
	}
	if testing.Short() {
		t.Skip("builds tfexp")
	}
	added := unknownBlocks(t, all...)
	if len(added) == 0 {
		t.Error("the core knows all blocks")
	}
	if !need.Long() {
		return
	}
	leftOut, owners := inPairs(all)
	if os.Getenv("TFEXP_FEATURES") == "each" {
		leftOut, owners = oneByOne(all)
	}
	unknown := make([][]string, len(leftOut))
	t.Run("without", func(t *testing.T) {
		for i, some := range leftOut {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel() // most of a build is the linker, which uses one core
				unknown[i] = unknownBlocks(t, some...)
			})
		}
	})
	unknownIn := map[string][]int{}
	for i, names := range unknown {
		for _, block := range names {
			unknownIn[block] = append(unknownIn[block], i)
		}
	}
	for block, in := range unknownIn {
		if owner := owners[fmt.Sprint(in)]; owner == "" {
			t.Errorf("the block %s is of no one feature: it is unknown in the builds %d of %q", block, in, leftOut)
		} else {
			t.Logf("%s: block %s", owner, block)
		}
	}
	if got := slices.Sorted(maps.Keys(unknownIn)); !slices.Equal(got, added) {
		t.Errorf("blocks that the core lacks:\n%q\nthat one feature has:\n%q", added, got)
	}
}

// inPairs leaves each feature out of two builds, no two of the same two. owners has the features by their builds.
func inPairs(all []string) (leftOut [][]string, owners map[string]string) {
	owners = map[string]string{}
	for i, f := range all {
		second := 1 // the pairs (0, 1), (0, 2), (1, 2), (0, 3), …
		for i >= second {
			i -= second
			second++
		}
		owners[fmt.Sprint([]int{i, second})] = f
		for len(leftOut) <= second {
			leftOut = append(leftOut, nil)
		}
		leftOut[i], leftOut[second] = append(leftOut[i], f), append(leftOut[second], f)
	}
	return leftOut, owners
}

// oneByOne has one build without each feature.
func oneByOne(all []string) (leftOut [][]string, owners map[string]string) {
	owners = map[string]string{}
	for i, f := range all {
		leftOut, owners[fmt.Sprint([]int{i})] = append(leftOut, []string{f}), f
	}
	return leftOut, owners
}

// unknownBlocks builds tfexp without features, runs an experiment, and returns the blocks that are not known there, by
// their paths.
func unknownBlocks(t *testing.T, features ...string) []string {
	dir := t.TempDir()
	program := filepath.Join(dir, "tfexp")
	build := exec.Command("go", "build", without(t, features...), "-ldflags=-s -w", "-o", program, "./cmd/tfexp")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("without %q: %v\n%s", features, err, out)
	}
	run := exec.Command(program, "run", "--quiet", "--out", dir, "testdata/simulated.hcl")
	if out, err := run.CombinedOutput(); err != nil {
		t.Errorf("without %q: %v\n%s", features, err, out)
	}
	// Every block of the language, each in the blocks around it.
	var paths [][]string
	var visit func(b *blocks.Block, path []string)
	visit = func(b *blocks.Block, path []string) {
		for _, in := range b.Blocks {
			own := append(slices.Clone(path), in.Name)
			paths = append(paths, own)
			visit(in, own)
		}
	}
	visit(decode.Language(), nil)
	var text bytes.Buffer
	begun := map[int]string{} // of the block that a line begins
	n := 0
	for _, path := range paths {
		open := fmt.Sprintf(" \"x%d\" {\n", n) // another label for each
		text.WriteString(strings.Join(path, open) + open + strings.Repeat("}\n", len(path)))
		begun[n+len(path)] = strings.Join(path, ".")
		n += 2 * len(path)
	}
	file := filepath.Join(dir, "blocks.hcl")
	if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	raw, _ := exec.Command(program, "validate", "--json", file).Output() // which has errors
	var said struct {
		Diagnostics []struct {
			Summary string
			Range   struct{ Start struct{ Line int } }
		}
	}
	if err := json.Unmarshal(raw, &said); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	var unknown []string
	for _, d := range said.Diagnostics {
		if strings.HasPrefix(d.Summary, "Unknown block") && begun[d.Range.Start.Line] != "" {
			unknown = append(unknown, begun[d.Range.Start.Line])
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown)
}

// TestCoreIsSmall counts the lines of a build without any feature.
func TestCoreIsSmall(t *testing.T) {
	lines := 0
	for name, files := range linked(t, features(t)...) {
		for _, file := range files {
			lines += linesOfCode(t, filepath.Join(name, file))
		}
	}
	if t.Logf("%d lines", lines); lines > mostCoreLines {
		t.Errorf("the core has %d lines of code, want at most %d", lines, mostCoreLines)
	}
}

// linesOfCode counts the lines of a file that are neither blank nor comments alone.
func linesOfCode(t *testing.T, file string) (n int) {
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			n++
		}
	}
	return n
}
