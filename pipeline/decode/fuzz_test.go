package decode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
)

// Any file is read or refused. Nothing panics, and each error has a sentence and a place in the file.
func FuzzLanguage(f *testing.F) {
	for _, pattern := range []string{"testdata/good/*.hcl", "testdata/broken/*.hcl"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			f.Fatalf("no files for %s, %v", pattern, err)
		}
		for i := 0; i < len(paths); i += 8 { // the fuzzer finds its way to the others
			text, err := os.ReadFile(paths[i])
			if err != nil {
				f.Fatal(err)
			}
			f.Add(string(text))
		}
	}
	for _, text := range []string{
		"", "\x00", "\xff", `{"experiment": null}`, `{"experiment": {"e": {}}, "locals": {"a": "${[for i in [1]: [for j in [i]: j]]}"}}`,
		"locals {\n  a = [for i in [1, 2] : [for j in [i] : \"${i}${j}\" == local.b]]\n  b = length([1, \"a\"][*])\n}", "experiment \"e\" {", strings.Repeat("[", 5000), `locals { a = log(-1, 2) }`,
		`locals { a = pow(-1, 0.5) }`, `locals { a = range(1, 5, 0) }`, `locals { a = jsondecode("{") }`, `locals { a = local.a }`,
		"locals {\n  a = setproduct(range(1000), range(1000), range(1000))\n}", "job \"\x1b[2J\" {}",
	} {
		f.Add(text)
	}
	host := experiments.HostFacts{Threads: 4, Cores: 2, MemoryBytes: 8 << 30, OS: "linux", Arch: "amd64"}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"f.hcl", "f.json"} {
			spec, diags := Source(name, []byte(text), Options{Host: host})
			if spec == nil && !diags.HasErrors() {
				t.Fatal("neither an experiment nor an error")
			}
			for _, d := range diags {
				if d.Summary == "" || d.Detail == "" || strings.Contains(d.Detail, "goroutine ") {
					t.Fatalf("a poor message: %+v", d)
				}
			}
		}
	})
}
