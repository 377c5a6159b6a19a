package start

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/decodetest"
)

func TestStarter(t *testing.T) {
	one := experiments.HostFacts{Threads: 1, Cores: 1, MemoryBytes: 1 << 30, OS: "linux", Arch: "amd64"}
	spec, diags := decode.Source("mine.hcl", starter("mine"), decode.Options{Host: one})
	if len(diags) > 0 {
		t.Fatal(decodetest.Text(t, diags))
	}
	if spec.Name != "mine" || len(spec.Cells) != 2 || spec.Replicates < 3 {
		t.Errorf("name %q, %d cells, %d replicates", spec.Name, len(spec.Cells), spec.Replicates)
	}
}

// TestTemplates: every template can be loaded unchanged, and also under another name.
func TestTemplates(t *testing.T) {
	for _, template := range listTemplates() {
		dir := t.TempDir()
		files, err := template.files(filepath.Join(dir, "mine.hcl"), "mine")
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range files {
			if i > 0 {
				f.Name = filepath.Join(dir, f.Name)
			}
			if err := os.WriteFile(f.Name, f.Source, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		spec, diags := decode.File(files[0].Name, decode.Options{Host: decodetest.Host})
		if len(diags) > 0 {
			t.Errorf("template %s: %s", template.Name, decodetest.Text(t, diags))
			continue
		}
		if spec.Name != "mine" || len(spec.Compares)+len(spec.Parts) == 0 {
			t.Errorf("template %s: name %q, %d comparisons", template.Name, spec.Name, len(spec.Compares))
		}
		if formatted, diags := decode.Format(files[0].Name, files[0].Source); len(diags) > 0 ||
			string(formatted) != string(files[0].Source) {
			t.Errorf("template %s is not in the canonical layout", template.Name)
		}
	}
}
