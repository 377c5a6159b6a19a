package pipeline

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

// alternativesFile has jobs that run on cores, or on GPUs of two types.
const alternativesFile = `
experiment "alternatives" { replicates = 2 }

job "either" {
  command = ["train"]
  epochs  = 10
  threads = 4
  runtime { epoch = exponential("8s") }
  alternative "gpu" {
    gpus = 1
    runtime {
      epoch    = exponential("1s")
      gpu_rate = { K80 = 1, V100 = 4 }
    }
  }
}

workload "w" {
  submit {
    job          = job.either
    count        = 40
    interarrival = exponential("1s")
  }
}

hardware "unlike" {
  engine = "simulated"
  noise  = 0
  node "old" {
    threads = 8
    gpus    = 2
    gpu     = "K80"
  }
  node "new" {
    threads = 8
    gpus    = 1
    gpu     = "V100"
  }
}

policy "allox" {
  order     = "allox"
  estimates = each.estimates
}

policy "sjf" {
  order     = "sjf"
  placement = "earliest_finish"
  estimates = each.estimates
}

matrix { estimates = ["oracle", noisy(0), noisy(1)] }
`

func runAlternatives(t *testing.T, source string) (*Plan, string) {
	t.Helper()
	out := t.TempDir()
	p, err := New(loadSmall(t, source), Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	return p, p.Dir
}

// Without estimation errors, the results equal those with exact run times; with errors they differ. A job has the
// same work in all cells. Its run time is proportional to the file's run time on the resource that it used.
func TestAlternatives(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole experiment, which the race detector makes last for a minute")
	}
	p, dir := runAlternatives(t, alternativesFile)
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]string{}
	length := map[string]float64{} // run time of each job in a replicate, on cores
	factor := map[string]float64{"cpu": 1, "gpu:K80": 16. / 4 * 8. / 16, "gpu:V100": 8}
	used := map[string]int{}
	for _, c := range p.Cells {
		raw, err := os.ReadFile(filepath.Join(dir, record.CellsDir, c.Cell, record.EventsFile))
		if err != nil {
			t.Fatal(err)
		}
		tables[c.Cell] = string(raw)
		rows, err := e.Jobs(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			used[r.Resource]++
			id := r.Job + strings.Repeat("'", c.Replicate)
			onCores := r.Service * factor[r.Resource]
			if known, ok := length[id]; ok && (onCores > known*1.0001+1e-4 || onCores < known*0.9999-1e-4) {
				t.Errorf("%s takes the equal of %g s on cores, and %g s elsewhere (%s)", id, onCores, known, r.Resource)
			}
			length[id] = onCores
		}
	}
	for _, resource := range []string{"gpu:K80", "gpu:V100"} {
		if used[resource] == 0 {
			t.Errorf("no job ran on %s: %v", resource, used)
		}
	}
	for _, policy := range []string{"allox", "sjf"} {
		cell := func(estimates string) string {
			for _, c := range p.Cells {
				if c.Policy == policy && c.Replicate == 1 && c.Axes[0].Value == estimates {
					return tables[c.Cell]
				}
			}
			t.Fatalf("there is no cell of %s with the estimates %s", policy, estimates)
			return ""
		}
		if cell("oracle") != cell("noisy(0)") {
			t.Errorf("%s: noisy(0) is not the oracle", policy)
		}
		if cell("oracle") == cell("noisy(1)") {
			t.Errorf("%s: an error of the estimates changes nothing", policy)
		}
	}
}

// The keys of cells contain the resource of a job, and its speed on that resource.
func TestKeysOfAlternatives(t *testing.T) {
	keys := func(from, to string) []string {
		source := strings.Replace(alternativesFile, from, to, 1)
		if from != "" && source == alternativesFile {
			t.Fatalf("%q is not in the file", from)
		}
		p, err := New(loadSmall(t, source), Options{Out: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		for _, c := range p.Cells {
			keys = append(keys, c.Policy+" "+c.Key)
		}
		return keys
	}
	before := keys("", "")
	for _, edit := range [][2]string{
		{"V100 = 4 }", "V100 = 5 }"}, {`gpu     = "K80"`, `gpu     = "V100"`},
		{`exponential("1s")` + "\n      gpu_rate", `exponential("2s")` + "\n      gpu_rate"},
		{`alternative "gpu"`, `alternative "device"`}, {"gpus = 1", "gpus = 1\n threads = 2"},
	} {
		for i, key := range keys(edit[0], edit[1]) {
			if key == before[i] {
				t.Errorf("%q → %q changes no key of %s", edit[0], edit[1], key)
			}
		}
	}
	after := keys("order     = \"allox\"", "order     = \"allox\"\n  alpha = 0.5")
	for i := range after {
		if changed := after[i] != before[i]; changed != strings.HasPrefix(after[i], "allox") {
			t.Errorf("alpha of allox: the key of %s has changed: %v", after[i], changed)
		}
	}
}

// The run time in the trace is for the slowest type of GPU. The job block says how much faster the other type is, and
// which types a job can use.
func TestTraceOnTypesOfGPU(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log.swf")
	text := ""
	for i := range 3 {
		text += fmt.Sprintf("%d 0 -1 100 2 -1 -1 2 300 -1 1 1 1 -1 -1 -1 -1 -1\n", i+1)
	}
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	source := func(rate, gpu string) string {
		return fmt.Sprintf(`
experiment "trace" { replicates = 1 }

job "j" {
  command = ["train"]
  epochs  = 1
  gpus    = 1
  %s
  runtime {
    epoch    = "1s"
    gpu_rate = { K80 = 1, V100 = %s }
  }
}

workload "w" {
  trace {
    file = %q
    job  = job.j
  }
}

hardware "h" {
  engine = "simulated"
  node "old" {
    threads = 4
    gpus    = 2
    gpu     = "K80"
  }
  node "new" {
    threads = 2
    gpus    = 1
    gpu     = "V100"
  }
}

policy "fcfs" { order = "fcfs" }
`, gpu, rate, log)
	}
	keys := map[string]bool{}
	for _, c := range []struct {
		rate, gpu string
		want      map[float64]int // run time in seconds → number of jobs
	}{
		{"4", "", map[float64]int{100: 2, 25: 1}},
		{"5", "", map[float64]int{100: 2, 20: 1}},
		{"5", `gpu = "V100"`, map[float64]int{20: 3}},
	} {
		p, dir := runAlternatives(t, source(c.rate, c.gpu))
		keys[p.Cells[0].Key] = true
		e, err := record.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := e.Jobs(p.Cells[0])
		if err != nil {
			t.Fatal(err)
		}
		got := map[float64]int{}
		for _, r := range rows {
			got[r.Service]++
			if r.ThreadsRequested != 2 {
				t.Errorf("job %s asks for %d threads, in the log 2", r.Job, r.ThreadsRequested)
			}
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("rate %s, %s: jobs by their run times %v, want %v", c.rate, c.gpu, got, c.want)
		}
	}
	if len(keys) != 3 {
		t.Errorf("%d keys for 3 kinds of cells", len(keys))
	}
}
