package decode

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
)

const small = `experiment "e" {}
job "a" {
  command = ["x"]
  epochs  = 1
  runtime { epoch = "1s" }
}
workload "w" {
  submit { job = job.a }
}
hardware "h" {
  engine  = "simulated"
  threads = 2
}
policy "p" { order = "fcfs" }
`

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.hcl")
	if _, diags := File(path, Options{}); len(diags) != 1 || diags[0].Summary != "Cannot read the experiment" ||
		diags[0].Range.File != path {
		t.Errorf("a file that is not there: %v", diags)
	}
	if err := os.WriteFile(path, []byte(small), 0o644); err != nil {
		t.Fatal(err)
	}
	spec, diags := File(path, Options{})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if spec.File != path || string(spec.Source) != small || len(spec.Cells) != 1 || spec.Cells[0].Policy.Name != "p" {
		t.Errorf("the experiment is %+v", spec)
	}
}

// Warnings are reported only for files without errors, since next to an error they would distract.
func TestDoubtsOfRightFiles(t *testing.T) {
	doubtful := small + "job \"unused\" {\n  command = [\"x\"]\n  epochs = 1\n}\n"
	host := experiments.HostFacts{Threads: 4, MemoryBytes: 8 << 30}
	spec, diags := Source("e.hcl", []byte(doubtful), Options{Host: host})
	if spec == nil || len(diags) != 1 || diags.HasErrors() || !strings.Contains(diags[0].Summary+diags[0].Detail, "unused") {
		t.Errorf("a doubtful file: %v", diags)
	}
	wrong := strings.Replace(doubtful, "epochs  = 1", "epochs = 0", 1)
	spec, diags = Source("e.hcl", []byte(wrong), Options{Host: host})
	if spec != nil || len(diags) != 1 || diags[0].Range.Start.Line != 4 {
		t.Errorf("a wrong one: %v", diags)
	}
	if spec, diags := Source("e.hcl", []byte("job {"), Options{}); spec != nil || !diags.HasErrors() {
		t.Errorf("a source that ends early: %v", diags)
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"e.hcl", "job \"a\" {\nepochs=1\n  seed  = 22\n}", "job \"a\" {\n  epochs = 1\n  seed   = 22\n}"},
		{"e.hcl.json", ` {"job":{"a":{"epochs":1}}} `, "{\n  \"job\": {\n    \"a\": {\n      \"epochs\": 1\n    }\n  }\n}\n"},
	} {
		got, diags := Format(c.name, []byte(c.src))
		if len(diags) > 0 || string(got) != c.want {
			t.Errorf("%s: %q, %v", c.name, got, diags)
		}
		if again, _ := Format(c.name, got); string(again) != string(got) {
			t.Errorf("%s: formatted twice it is %q", c.name, again)
		}
		broken := c.src[:len(c.src)/2]
		if got, diags := Format(c.name, []byte(broken)); got != nil || !diags.HasErrors() {
			t.Errorf("%s: a file that ends early is %q, %v", c.name, got, diags)
		}
	}
}
