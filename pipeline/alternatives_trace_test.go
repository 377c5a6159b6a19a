package pipeline

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/pipeline/instantiate"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// eitherLog has jobs that can run on the GPU or on the CPU, with the run times on both. Job E can use only the CPU,
// and F only the GPU.
const eitherLog = `id,submit,gpus,gpu_s,cpu_s,cores,gpu_limit,cpu_limit
A,0,1,10,30,4,20,40
B,0,1,4,6,4,5,4
C,0,1,6,20,4,9,30
D,5,1,2,8,4,3,9
E,6,,,3,2,,4
F,7,1,1,,,2,
`

const eitherColumns = `
    columns = {
      job = "id", arrival = "submit", gpus = "gpus", run_time = "gpu_s", requested_time = "gpu_limit"
      cpu_run_time = "cpu_s", cpu_threads = "cores", cpu_requested_time = "cpu_limit"
    }`

// eitherFile replays a log on a machine with one GPU and room for one more job on the CPU.
func eitherFile(log, columns string) string {
	return fmt.Sprintf(`
experiment "either" { replicates = 1 }

workload "log" {
  trace {
    file = %q%s
  }
}

hardware "box" {
  engine  = "simulated"
  threads = 5
  gpus    = 1
}

policy "allox" {
  order     = "allox"
  estimates = "oracle"
}

policy "sjf" {
  order     = "sjf"
  placement = "pairs"
  estimates = "oracle"
}

policy "asked" {
  order     = "sjf"
  estimates = "requested"
}

policy "asked_first" {
  order     = "sjf"
  placement = "first"
  estimates = "requested"
}

policy "srtf" {
  order     = "srtf"
  placement = "pairs"
  estimates = "oracle"
}

policy "drf" {
  order    = "drf"
  backfill = "first_fit"
}
`, log, columns)
}

// spans returns when each job first started and when it ended, by policy.
func spans(t *testing.T, source string) map[string]string {
	t.Helper()
	e := ran(t, source)
	out := map[string]string{}
	for _, c := range e.Cells {
		jobs, err := e.Jobs(c.CellRef)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, j := range jobs {
			all = append(all, fmt.Sprintf("%s %g-%g", j.Job, j.FirstStart, j.Finish))
		}
		out[c.Policy] = strings.Join(all, ", ")
	}
	return out
}

// The trace sets the resources and the run time of each job:
//
//	allox  B and C start at 0: B loses least on the CPU. A gets the GPU after D and F.
//	       GPU: C 0-6, D 6-8, F 8-9, A 9-19        CPU: B 0-6, E 6-9
//	sjf    The shortest pair of job and resource is first: B gets the GPU, then C the CPU.
//	       GPU: B 0-4, A 4-14, F 14-15, D 15-17    CPU: C 0-20, E 20-23
//	asked  By requested times, B with 4 s on the CPU is first: the same result as allox.
//	       With the first free alternative, B gets the GPU and C the CPU: the same as sjf.
//	srtf   As sjf, but D pauses A, and E pauses C. C continues on the GPU with 0.7 of its 6 s there;
//	       A continues on the CPU with 0.9 of its 30 s there.
//	       GPU: B 0-4, A 4-5, D 5-7, F 7-8, C 8-12.2    CPU: C 0-6, E 6-9, A 9-36
//	drf    The job that holds least is offered free resources first.
//	       GPU: A 0-10, D 10-12, F 12-13           CPU: B 0-6, C 6-26, E 26-29
func TestAlternativesInTraces(t *testing.T) {
	want := map[string]string{
		"allox":       "A 9-19, B 0-6, C 0-6, D 6-8, E 6-9, F 8-9",
		"sjf":         "A 4-14, B 0-4, C 0-20, D 15-17, E 20-23, F 14-15",
		"asked":       "A 9-19, B 0-6, C 0-6, D 6-8, E 6-9, F 8-9",
		"asked_first": "A 4-14, B 0-4, C 0-20, D 15-17, E 20-23, F 14-15",
		"srtf":        "A 4-36, B 0-4, C 0-12.2, D 5-7, E 6-9, F 7-8",
		"drf":         "A 0-10, B 0-6, C 6-26, D 10-12, E 26-29, F 12-13",
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log.csv")
	if err := os.WriteFile(log, []byte(eitherLog), 0o600); err != nil {
		t.Fatal(err)
	}
	source := eitherFile(log, eitherColumns)
	if diff := cmp.Diff(want, spans(t, source)); diff != "" {
		t.Error(diff)
	}
	exported := exportWorkload(t, source, dir)
	if diff := cmp.Diff(want, spans(t, eitherFile(exported, ""))); diff != "" {
		t.Errorf("exported: %s", diff)
	}
}

// exportWorkload writes the workload of an experiment as a table, and returns its name.
func exportWorkload(t *testing.T, source, dir string) string {
	t.Helper()
	spec := loadSmall(t, source)
	tr, err := instantiate.Workload(spec, spec.Cells[0].Workload, 1, false)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := formats.WriteCSV(&b, tr); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "exported.csv")
	if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A workload of job blocks with alternatives, whose run times are drawn, is replayed from its exported form alone.
func TestExportedAlternatives(t *testing.T) {
	file := func(workload string) string {
		return `
experiment "blocks" { replicates = 1 }

workload "w" {
` + workload + `
}

hardware "box" {
  engine  = "simulated"
  threads = 3
  gpus    = 1
}

policy "sjf" {
  order     = "sjf"
  placement = "pairs"
  estimates = "oracle"
}
`
	}
	source := `
job "either" {
  command = ["train"]
  epochs  = 3
  threads = 2
  runtime { epoch = "8s" }
  alternative "gpu" {
    gpus = 1
    runtime { epoch = exponential("1s") }
  }
}
` + file("submit {\n job = job.either\n count = 5\n }")
	first := spans(t, source)
	again := spans(t, file(fmt.Sprintf("trace { file = %q }", exportWorkload(t, source, t.TempDir()))))
	if diff := cmp.Diff(first, again); diff != "" {
		t.Error(diff)
	}
}
