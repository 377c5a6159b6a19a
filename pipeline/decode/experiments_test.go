package decode_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/decodetest"
	_ "github.com/tfexp/tfexp/stages/all"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// host is the machine for which the test files are checked.
var host = decodetest.Host

// golden compares got with a file, or writes it under -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	decodetest.Golden(t, path, got, *update)
}

var text, dump = decodetest.Text, decodetest.Dump

func TestGood(t *testing.T) { decodetest.Corpus{Update: *update}.Good(t) }

// TestBroken compares the messages to the user about each broken file.
func TestBroken(t *testing.T) { decodetest.Corpus{Update: *update}.Broken(t) }

// small is an experiment with a variable of each kind, for the tests of values.
const small = `
experiment "small" {}
variable "quantum" {
  type    = duration
  default = "1s"
}
variable "n" {
  type    = number
  default = 2
}
variable "sizes" {
  type    = list(size)
  default = ["1GiB"]
}
variable "label" {
  default = "x"
}
job "a" {
  command = ["x", var.label]
  epochs  = var.n
  memory  = var.sizes[0]
}
workload "w" {
  submit { job = job.a }
}
hardware "h" {
  engine  = "simulated"
  threads = 1
}
policy "p" {
  order   = "round_robin"
  quantum = var.quantum
}
`

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVariables(t *testing.T) {
	file := write(t, "vars.hcl", "quantum = \"3s\"\nn = 5\n")
	jsonFile := write(t, "vars.json", `{"n": 6, "sizes": ["2048MiB", "1GB"]}`)
	spec, diags := decode.Source("small.hcl", []byte(small), decode.Options{
		VarFiles: []string{file, jsonFile},
		Vars:     []string{"quantum=1500ms", "label=a=b", "quantum=60s"},
	})
	if len(diags) > 0 {
		t.Fatal(text(t, diags))
	}
	want := []schema.Setting{{Name: "quantum", Value: "1m"}, {Name: "n", Value: "6"}, {Name: "sizes", Value: `["2GiB", "1GB"]`}, {Name: "label", Value: "a=b"}}
	if !slices.Equal(spec.Variables, want) {
		t.Errorf("variables %v, want %v", spec.Variables, want)
	}
	j, p := spec.Cells[0].Workload.Submits[0].Job, spec.Cells[0].Policy
	if j.Epochs != 6 || j.Memory != 2<<30 || j.Command[1] != "a=b" || p.Settings.Duration("quantum") != time.Minute {
		t.Errorf("epochs %d, memory %d, command %v, quantum %v",
			j.Epochs, j.Memory, j.Command, p.Settings.Duration("quantum"))
	}
}

// TestVariablesRoundTrip: a file that is decoded with the variables of its spec gives the same spec. A resumed run
// decodes its file in this way.
func TestVariablesRoundTrip(t *testing.T) {
	for _, file := range []string{"testdata/good/cluster.hcl", "testdata/good/sketch.hcl"} {
		spec, diags := decode.File(file, decode.Options{Host: host})
		if len(diags) > 0 {
			t.Fatal(text(t, diags))
		}
		opts := decode.Options{Host: host}
		for _, v := range spec.Variables {
			opts.Vars = append(opts.Vars, v.Name+"="+v.Value)
		}
		again, diags := decode.Source(file, spec.Source, opts)
		if len(diags) > 0 {
			t.Fatal(text(t, diags))
		}
		if !slices.Equal(again.Variables, spec.Variables) || string(dump(t, again)) != string(dump(t, spec)) {
			t.Errorf("%s: the variables %v became %v", file, spec.Variables, again.Variables)
		}
	}
}

func TestBadVariables(t *testing.T) {
	broken := write(t, "vars.hcl", "quantm = \"3s\"\nn = \"many\"\n")
	for name, opts := range map[string]decode.Options{
		"unknown":        {Vars: []string{"n=1", "quantm=5s"}},
		"unit":           {Vars: []string{"quantum=5"}},
		"type":           {Vars: []string{"n=many"}},
		"list":           {Vars: []string{"sizes=[1, 2]"}},
		"malformed":      {Vars: []string{"quantum"}},
		"file":           {VarFiles: []string{broken}},
		"file_missing":   {VarFiles: []string{"testdata/none.hcl"}},
		"file_directory": {VarFiles: []string{"testdata"}},
		"syntax":         {Vars: []string{"n=1 +", "sizes=["}},
	} {
		t.Run(name, func(t *testing.T) {
			spec, diags := decode.Source("small.hcl", []byte(small), opts)
			if spec != nil || !diags.HasErrors() {
				t.Fatalf("it loads: %v", diags)
			}
			got := strings.ReplaceAll(text(t, diags), filepath.Dir(broken)+string(filepath.Separator), "")
			golden(t, filepath.Join("testdata", "variables", name+".golden"), []byte(got))
		})
	}
}

// An error in the default of a sensitive variable is at the default, also if the variable has a correct value.
func TestBrokenDefaultOfSensitive(t *testing.T) {
	source := "experiment \"e\" {}\nvariable \"token\" {\n  type      = string\n  default   = each\n  sensitive = true\n}\n"
	_, diags := decode.Source("e.hcl", []byte(source), decode.Options{Vars: []string{"token=abc"}})
	if got := text(t, diags); !strings.Contains(got, "on e.hcl line 4") || strings.Contains(got, "on -var") {
		t.Error(got)
	}
}

func TestUnreadable(t *testing.T) {
	for path, want := range map[string]string{
		"testdata/none.hcl": "there is no file",
		"testdata":          "is a directory",
	} {
		spec, diags := decode.File(path, decode.Options{})
		if spec != nil || len(diags) != 1 || !strings.Contains(diags[0].Detail, want) {
			t.Errorf("%s: %v", path, diags)
		}
		if got := text(t, diags); !strings.Contains(got, "on "+path+":") {
			t.Errorf("%s: rendered as\n%s", path, got)
		}
	}
}

// TestDiagnosticJSON checks the JSON form of a diagnostic.
func TestDiagnosticJSON(t *testing.T) {
	_, diags := decode.File("testdata/broken/argument_misspelled.hcl", decode.Options{Host: host})
	out, err := json.MarshalIndent(diags, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/diagnostic.json", append(out, '\n'))
}

func TestRenderColor(t *testing.T) {
	_, diags := decode.File("testdata/broken/argument_misspelled.hcl", decode.Options{Host: host})
	var b strings.Builder
	if err := diags.Render(&b, true); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "\x1b[31m") || strings.Count(b.String(), "\x1b[0m") != 3 {
		t.Errorf("%q", b.String())
	}
}

// TestRanges checks that the package's results point at the right lines.
func TestRanges(t *testing.T) {
	spec, diags := decode.File("testdata/good/sketch.hcl", decode.Options{Host: host})
	if len(diags) > 0 {
		t.Fatal(text(t, diags))
	}
	cell := spec.Cells[1]
	for what, r := range map[string]experiments.Range{
		`policy "rr"`: cell.Policy.Range, `quantum = each.quantum`: cell.Policy.At["quantum"],
		`engine  = "process"`: cell.Hardware.At["engine"], `threads = host.threads`: cell.Hardware.At["threads"],
		`job "long"`: cell.Workload.Submits[0].Job.Range, `2`: cell.Workload.Submits[0].Job.Threads.Range,
		`compare "mean_jct"`: spec.Compares[0].Range,
	} {
		if got := string(spec.Source[r.Start.Byte:r.End.Byte]); got != what {
			t.Errorf("range of %q covers %q", what, got)
		}
	}
}

// TestSharing checks that blocks with equal values are one value in memory.
func TestSharing(t *testing.T) {
	spec, _ := decode.File("testdata/good/sketch.hcl", decode.Options{Host: host})
	if spec.Cells[0].Workload != spec.Cells[2].Workload || spec.Cells[1].Policy == spec.Cells[2].Policy {
		t.Error("blocks are shared wrongly")
	}
}

func TestFormat(t *testing.T) {
	got, diags := decode.Format("x.hcl", []byte("a=1\nbcd   =  2 # two\nx \"y\" {\nz=3\n}\n"))
	want := "a   = 1\nbcd = 2 # two\nx \"y\" {\n  z = 3\n}\n"
	if len(diags) > 0 || string(got) != want {
		t.Errorf("%v, %q", diags, got)
	}
	want = "{\n  \"a\": {\n    \"b\": 1\n  }\n}\n"
	if got, diags := decode.Format("x.hcl.json", []byte(`{"a":{"b":1}}`)); len(diags) > 0 || string(got) != want {
		t.Errorf("%v, %q", diags, got)
	}
	for _, name := range []string{"x.hcl", "x.hcl.json"} {
		if got, diags := decode.Format(name, []byte("a = {")); got != nil || !diags.HasErrors() {
			t.Errorf("%s: a syntax error is formatted: %q", name, got)
		}
	}
}

// sweep is an experiment of n × n cells: an axis that the policy reads, and
// one that the workload reads.
func sweep(n int) []byte {
	return fmt.Appendf(nil, `
experiment "sweep" {}
job "a" {
  command = ["x"]
  epochs  = 10
}
workload "w" {
  submit {
    job   = job.a
    count = each.count
  }
}
hardware "h" {
  engine  = "simulated"
  threads = 4
}
policy "rr" {
  order   = "round_robin"
  quantum = "${each.quantum}ms"
}
matrix {
  count   = range(1, %d)
  quantum = range(1, %d)
}
`, n+1, n+1)
}

func TestSweep(t *testing.T) {
	spec, diags := decode.Source("sweep.hcl", sweep(30), decode.Options{})
	if len(diags) > 0 {
		t.Fatal(text(t, diags))
	}
	if len(spec.Cells) != 900 {
		t.Fatalf("%d cells, want 900", len(spec.Cells))
	}
	for i, c := range spec.Cells { // the first axis varies slowest
		count, quantum := c.Workload.Submits[0].Count, c.Policy.Settings.Duration("quantum")
		if count != 1+i/30 || quantum != time.Duration(1+i%30)*time.Millisecond {
			t.Fatalf("cell %d has count %d and quantum %v", i, count, quantum)
		}
	}
}

func TestMatrixTooLarge(t *testing.T) {
	_, diags := decode.Source("sweep.hcl", sweep(1020), decode.Options{})
	if len(diags) != 1 || diags[0].Summary != "Matrix too large" {
		t.Errorf("diagnostics: %v", diags)
	}
}

func BenchmarkLoad10000Cells(b *testing.B) {
	src := sweep(100)
	for b.Loop() {
		spec, diags := decode.Source("sweep.hcl", src, decode.Options{})
		if len(diags) > 0 || len(spec.Cells) != 10_000 {
			b.Fatal(diags)
		}
	}
}

// BenchmarkLoad10000Policies loads a block that reads both axes, so that cells share no values.
func BenchmarkLoad10000Policies(b *testing.B) {
	src := []byte(strings.Replace(string(sweep(100)), `"${each.quantum}ms"`, `"${each.quantum * each.count}ms"`, 1))
	for b.Loop() {
		spec, diags := decode.Source("sweep.hcl", src, decode.Options{})
		if len(diags) > 0 || len(spec.Cells) != 10_000 {
			b.Fatal(diags)
		}
	}
}

// BenchmarkLoadWrittenBlocks reads files with a block for each policy: ns/block is the same for all sizes.
func BenchmarkLoadWrittenBlocks(b *testing.B) {
	const rest = `experiment "x" {}
hardware "h" {
  engine  = "simulated"
  threads = 2
}
job "j" {
  command = ["train"]
  epochs  = 3
  runtime { epoch = "1s" }
}
workload "w" {
  submit { job = job.j }
}
`
	for _, n := range []int{10_000, 40_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var src strings.Builder
			src.WriteString(rest)
			for i := range n {
				fmt.Fprintf(&src, "policy \"p%d\" { order = \"fcfs\" }\n", i)
			}
			for b.Loop() {
				if spec, diags := decode.Source("many.hcl", []byte(src.String()), decode.Options{}); len(spec.Cells) != n {
					b.Fatal(len(spec.Cells), diags)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/block")
		})
	}
}

// fuzzing reports whether go test looks for new input.
func fuzzing() bool { return flag.Lookup("test.fuzz").Value.String() != "" }

// FuzzLoad looks for panics, and for results that contradict each other.
func FuzzLoad(f *testing.F) {
	for _, pattern := range []string{
		"testdata/good/*.hcl", "testdata/good/*.json", "testdata/broken/*.hcl", "testdata/broken/*.json",
		"../../experiments/*.hcl",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			f.Fatal(err)
		}
		for i, file := range files {
			if !fuzzing() && i%20 != 0 {
				continue // other tests load the same files, and draw the same diagnostics
			}
			src, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(src, strings.HasSuffix(file, ".json"))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte, isJSON bool) {
		name := "fuzz.hcl"
		if isJSON {
			name = "fuzz.hcl.json"
		}
		spec, diags := decode.Source(name, src, decode.Options{Host: host})
		if (spec == nil) != diags.HasErrors() {
			t.Errorf("spec %v with diagnostics %v", spec != nil, diags)
		}
		if spec != nil && len(spec.Cells) == 0 && len(spec.Parts) == 0 {
			t.Error("a spec without cells")
		}
		if err := diags.Render(io.Discard, true); err != nil {
			t.Error(err)
		}
	})
}

// TestNull: null means that an argument is not set. This also holds if an axis has the value null, and while blocks are
// checked before the values of axes are known.
func TestNull(t *testing.T) {
	src := strings.NewReplacer(
		"epochs  = var.n", "epochs = each.unit == \"epochs\" ? 3 : null\n  steps = each.unit == \"steps\" ? 30 : null",
		`order   = "round_robin"`, "order = each.order",
		"quantum = var.quantum", "quantum = each.order == \"fcfs\" ? null : \"1s\"",
	).Replace(small) + `
matrix {
  unit  = ["epochs", "steps"]
  order = ["fcfs", "round_robin"]
}
`
	spec, diags := decode.Source("null.hcl", []byte(src), decode.Options{Host: host})
	if len(diags) > 0 {
		t.Fatal(text(t, diags))
	}
	if len(spec.Cells) != 4 {
		t.Fatalf("%d cells, want 4", len(spec.Cells))
	}
	for _, c := range spec.Cells {
		j := c.Workload.Submits[0].Job
		if (j.Epochs == 3) != (c.Axes[0].Value == "epochs") || (j.Steps == 30) != (c.Axes[0].Value == "steps") {
			t.Errorf("%v: %d epochs, %d steps", c.Axes, j.Epochs, j.Steps)
		}
		if (c.Policy.Settings.Duration("quantum") == time.Second) != (c.Axes[1].Value == "round_robin") {
			t.Errorf("%v: quantum %v", c.Axes, c.Policy.Settings.Duration("quantum"))
		}
	}
}

// TestAxisOfJobs: jobs can be the values of an axis. Axes that a job reads multiply only the cells of this job.
func TestAxisOfJobs(t *testing.T) {
	src := strings.Replace(small, "job = job.a", "job = each.model", 1) + `
job "b" {
  command = ["x"]
  epochs  = each.length
}
matrix {
  model  = [job.a, job.b]
  length = [1, 2, 3]
}
`
	spec, diags := decode.Source("jobs.hcl", []byte(src), decode.Options{Host: host})
	if len(diags) > 0 {
		t.Fatal(text(t, diags))
	}
	var got []string
	for _, c := range spec.Cells {
		got = append(got, fmt.Sprint(c.Axes))
	}
	want := []string{"[{model a}]", "[{model b} {length 1}]", "[{model b} {length 2}]", "[{model b} {length 3}]"}
	if !slices.Equal(got, want) {
		t.Errorf("cells %v, want %v", got, want)
	}
}

// TestDoubtful compares the warnings about files that load.
func TestDoubtful(t *testing.T) { decodetest.Corpus{Update: *update}.Doubtful(t) }

// If no line of a log can be read, the message says why, even if malformed lines are allowed.
func TestNoLineOfALogIsRead(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"log.csv": "submit,run\n0,soon\n1,later\n2,\n",
		"x.hcl": `experiment "x" {}
workload "w" {
  trace {
    file    = "log.csv"
    format  = "table"
    columns = { arrival = "submit", run_time = "run" }
  }
}
hardware "h" {
  engine  = "simulated"
  threads = 1
}
policy "p" { order = "fcfs" }
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_, diags := decode.File(filepath.Join(dir, "x.hcl"), decode.Options{Lenient: true})
	want := `log.csv, but 3 malformed lines: run: "soon" is not a time (2, first line 2); it has no run time`
	if got := fmt.Sprint(diags); !strings.Contains(got, want) {
		t.Errorf("%s, want one that says %q", got, want)
	}
}
