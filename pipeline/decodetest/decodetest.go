// Package decodetest has test experiments for the packages that read experiments. Some files load; their golden files
// have the decoded meaning. Others have mistakes; their golden files have the messages to the user. The package
// imports stages/all, so that all features are registered.
package decodetest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Host is the machine that the files are checked against.
var Host = experiments.HostFacts{
	Threads: 4, Cores: 2, MemoryBytes: 8 << 30, OS: "linux", Arch: "amd64", CPUModel: "Test CPU", Name: "tester",
}

// Corpus runs the tests on the experiments in testdata/good, testdata/broken and testdata/doubtful. The expected
// output of each is in NAME.golden.
type Corpus struct {
	// Update rewrites the expected output instead of comparing it.
	Update bool
	// Quick skips files whose errors are found only after much work.
	Quick bool
}

// laborious are the files that Quick skips.
var laborious = []string{"loops_too_large.hcl", "value_concat.hcl", "value_text.hcl"}

// Test loads all experiments in folder/testdata. Each package that reads a part of experiments calls it.
func Test(t *testing.T, folder string) {
	t.Chdir(folder)
	c := Corpus{Quick: true}
	t.Run("good", c.Good)
	t.Run("broken", c.Broken)
	t.Run("doubtful", c.Doubtful)
}

// Good compares the decoded meaning of files without mistakes with the golden files.
func (c Corpus) Good(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("paths are written with slashes in the golden files")
	}
	c.each(t, "good", func(t *testing.T, file string) {
		spec, diags := decode.File(file, decode.Options{Host: Host})
		if len(diags) > 0 {
			t.Fatalf("diagnostics:\n%s", Text(t, diags))
		}
		Golden(t, file+".golden", Dump(t, spec), c.Update)
	})
}

// Broken compares the messages about files with mistakes with the golden files.
func (c Corpus) Broken(t *testing.T) {
	c.each(t, "broken", func(t *testing.T, file string) {
		spec, diags := decode.File(filepath.ToSlash(file), decode.Options{Host: Host})
		if spec != nil || !diags.HasErrors() {
			t.Fatalf("the file loads; diagnostics: %v", diags)
		}
		for i, d := range diags {
			for _, e := range diags[:i] {
				if e.Range == d.Range && e.Summary == d.Summary {
					t.Errorf("said twice: %s", d.Summary)
				}
			}
		}
		Golden(t, file+".golden", []byte(strings.ReplaceAll(Text(t, diags), folderOf(t, file), "DIR")), c.Update)
	})
}

// Doubtful compares the warnings about files that load with the golden files.
func (c Corpus) Doubtful(t *testing.T) {
	c.each(t, "doubtful", func(t *testing.T, file string) {
		spec, diags := decode.File(filepath.ToSlash(file), decode.Options{Host: Host})
		if spec == nil || len(diags) == 0 {
			t.Fatalf("loads: %t; diagnostics: %v", spec != nil, diags)
		}
		Golden(t, file+".golden", []byte(strings.ReplaceAll(Text(t, diags), folderOf(t, file), "DIR")), c.Update)
	})
}

// each runs a test on each experiment of a folder.
func (c Corpus) each(t *testing.T, folder string, test func(t *testing.T, file string)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", folder, "*.hcl*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if strings.HasSuffix(file, ".golden") || c.Quick && slices.Contains(laborious, name) {
			continue
		}
		t.Run(name, func(t *testing.T) { test(t, file) })
	}
}

// folderOf returns the folder of a file in the form that messages use.
func folderOf(t *testing.T, file string) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Dir(file))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Golden compares got with the file at path, or writes the file if update is set.
func Golden(t *testing.T, path string, got []byte, update bool) {
	t.Helper()
	if update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != string(got) {
		t.Errorf("%s differs (go test ./stages/experiment ./pipeline/decode ./pipeline/check ./experiments/eval -update rewrites it); got:\n%s", path, got)
	}
}

// Text returns diagnostics as they appear on a terminal.
func Text(t *testing.T, ds experiments.Diagnostics) string {
	t.Helper()
	var b strings.Builder
	if err := ds.Render(&b, false); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Dump returns a spec as text. The text does not depend on where the test runs.
func Dump(t *testing.T, s *experiment.Spec) []byte {
	t.Helper()
	raw, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var tree any
	if err := json.Unmarshal(raw, &tree); err != nil {
		t.Fatal(err)
	}
	out, err := json.MarshalIndent(withoutRanges(tree), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Abs(filepath.Dir(s.File))
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.NewReplacer(dir, "DIR", filepath.Dir(dir), "PARENT").Replace(string(out))
	return append([]byte(plain), '\n')
}

// withoutRanges returns v without source ranges.
func withoutRanges(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range []string{"Range", "At", "Source"} {
			if _, isTime := v[k].(float64); !isTime { // keeps the time At of a resize, which is no range
				delete(v, k)
			}
		}
		for k := range v {
			v[k] = withoutRanges(v[k])
		}
	case []any:
		for i := range v {
			v[i] = withoutRanges(v[i])
		}
	}
	return v
}

// Beside loads an experiment that names files in its folder. files maps their names to their contents. It returns the
// diagnostics as they appear on a terminal.
func Beside(t *testing.T, source string, files map[string]string) (*experiment.Spec, string) {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	spec, diags := decode.Source(filepath.Join(dir, "test.hcl"), []byte(source), decode.Options{Host: Host})
	return spec, strings.ReplaceAll(Text(t, diags), dir+string(filepath.Separator), "")
}
