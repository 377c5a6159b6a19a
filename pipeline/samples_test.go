package pipeline

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Each estimator model that the language accepts is implemented.
func TestModelsOfTheLanguageExist(t *testing.T) {
	for _, m := range schema.Find(schema.Args[experiment.Estimate](), "model").Allowed {
		if _, err := estimator.ByName(m); err != nil {
			t.Error(err)
		}
	}
}

// script is a real experiment. Its program sleeps a moment, and reports 10 ms for each unit without doing work.
const script = `
experiment "sampled" { replicates = 1 }

job "t" {
  command = ["sh", "-c", "sleep 0.03; printf '<TIME_WRITTER_OUTPUT>[0.02'; for i in $(seq $TFEXP_EPOCHS); do printf ', 0.01'; done; echo ', 0.005]</TIME_WRITTER_OUTPUT>'"]
  epochs  = 10
}

workload "w" {
  submit { job = job.t }
}

hardware "h" {
  engine  = "process"
  threads = 1
}

policy "fcfs" { order = "fcfs" }
`

func sampleRows(t *testing.T, dir string) []record.SampleRow {
	t.Helper()
	e, err := record.Open(filepath.Join(dir, "sampled"))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := record.Samples.Read(e.Dir)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Samples have the length and number that the file sets. samples.csv contains them with the times that the program
// reported. They are reused.
func TestSamplesAreTaken(t *testing.T) {
	out := t.TempDir()
	file := script + "\nprofile {\nepochs = [1, 3]\nrepeats = 2\n}\n"
	runs(t, file, out, 1)
	rows := sampleRows(t, out)
	var lengths []int
	for _, r := range rows {
		lengths = append(lengths, r.Length)
		if r.Startup != 0.02 || r.Save != 0.005 || r.Wall+r.Launch < 0.03 || r.Cost < r.Wall || r.Units < 0.0099*float64(r.Length) {
			t.Errorf("%+v", r)
		}
	}
	if !slices.Equal(lengths, []int{1, 1, 3, 3}) {
		t.Errorf("samples of %v epochs", lengths)
	}
	p := plan(t, file, out)
	if !p.Pieces[0].Reuse {
		t.Errorf("the samples are not found again: %s", p.Pieces[0].Reason)
	}
	// The reported times do not depend on the speed of the machine, but samples are corrected by that speed.
	if est, _ := p.x.Estimates(); len(est) == 0 || est[0].Slope < 0.0049 || est[0].Slope > 0.0201 {
		t.Errorf("the estimates are %+v, want about 10 ms an epoch", est)
	}
	if raw, err := os.ReadFile(filepath.Join(p.Dir, record.Accuracy.File)); err != nil ||
		!strings.Contains(string(raw), "linear,all,,1,1,") {
		t.Errorf("accuracy.csv: %s, %v", raw, err)
	}
}

// With a budget close to zero, only the two samples that every prediction needs are taken, and a note says that they
// exceeded it. By the reported times, a cell takes 10 s: with a budget of 100% of that, all samples are taken.
func TestBudget(t *testing.T) {
	for budget, want := range map[string]int{"0.000001": 2, "\"100%\"": 12} {
		if testing.Short() && want == 12 {
			continue // under the race detector the samples may take longer than the cell
		}
		out := t.TempDir()
		file := strings.Replace(script, "epochs  = 10", "epochs = 1000", 1)
		o := runs(t, file+"\nprofile {\nsamples = 3\nrepeats = 4\nfraction = 0.01\nbudget = "+budget+"\n}\n", out, 1)
		if got := len(sampleRows(t, out)); got != want {
			t.Errorf("with a budget of %s %d samples are taken, want %d", budget, got, want)
		}
		over := slices.ContainsFunc(o.Warnings, func(w record.Warning) bool { return w.Code == "budget" })
		if over != (want == 2) {
			t.Errorf("with a budget of %s it is said that it was missed: %v", budget, over)
		}
	}
}
