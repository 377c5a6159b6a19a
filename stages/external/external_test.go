//go:build unix

package external

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	"github.com/tfexp/tfexp/stages"
	_ "github.com/tfexp/tfexp/stages/published" // the orders
)

func TestMain(m *testing.M) {
	if handled, code := process.Main(os.Args[1:]); handled {
		os.Exit(code)
	}
	if program := os.Getenv("TFEXP_TEST_HOST"); program != "" {
		host(program)
		return
	}
	os.Exit(m.Run())
}

const examples = "../../jobs/tfexp_policy/examples"

// python3 returns the interpreter itself, not a wrapper script.
func python3(t testing.TB) string {
	path, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	need.This(t, "python3", err, "install Python 3.9 or newer")
	return strings.TrimSpace(string(path))
}

// lot is a workload on a cluster.
type lot struct {
	cluster scheduler.Cluster
	jobs    []scheduler.Job
	work    []simulated.Scaling
}

// draw draws a workload on one or several nodes. Run times and arrivals are often equal. In a rich workload, jobs have
// GPUs and memory, and some are gangs.
func draw(n uint64, rich bool) (l lot) {
	random := rand.New(rand.NewPCG(n, 31))
	threads := 0
	for range 1 + random.IntN(3) {
		threads = max(threads, 2+random.IntN(7))
		node := scheduler.Node{Name: fmt.Sprint("n", len(l.cluster.Nodes)), Threads: threads}
		if rich {
			node.GPUs, node.Memory = 2, 100
		}
		l.cluster.Nodes = append(l.cluster.Nodes, node)
	}
	at := time.Duration(0)
	for i := range 20 + random.IntN(60) {
		at += time.Duration(random.IntN(4)) * time.Second
		run := time.Duration(1+random.IntN(40)) * time.Second / time.Duration(1+random.IntN(3))
		j := scheduler.Job{Number: i, Name: fmt.Sprint("job-", i), Arrival: at, Threads: 1 + random.IntN(threads), Predicted: run}
		if rich {
			j.GPUs, j.Memory = max(random.IntN(5)-2, 0), int64(random.IntN(60))
			if least := l.cluster.Nodes[0].Threads; len(l.cluster.Nodes) > 1 && random.IntN(5) == 0 {
				j.Nodes, j.Threads, j.GPUs = 2, 2*(1+random.IntN(least)), 2*random.IntN(2)
			}
		}
		if random.IntN(3) == 0 { // a wrong prediction, or none
			j.Predicted = time.Duration(random.IntN(50)) * time.Second
		}
		l.jobs = append(l.jobs, j)
		l.work = append(l.work, simulated.FullRequest(run, j.Threads))
	}
	return l
}

// trace records events as texts.
type trace struct {
	events []string
	check  *validate.Validator
}

func (tr *trace) Decision(*scheduler.Decision) {}

func (tr *trace) Event(e *scheduler.Event) {
	tr.check.Event(e)
	tr.events = append(tr.events, fmt.Sprint(int64(e.At), " ", e.Kind, " ", e.Job, " ", e.Cores, e.GPUs))
}

// play simulates a lot under a policy.
func (l *lot) play(t testing.TB, by scheduler.SchedulingPolicy) (events []string, err error) {
	on, err := simulated.New(l.jobs, l.work, simulated.Options{Cluster: l.cluster})
	if err != nil {
		t.Fatal(err)
	}
	tr := &trace{check: validate.New(l.cluster, l.jobs, nil)}
	out, err := scheduler.Run{Policy: by, Cluster: l.cluster, Jobs: l.jobs, Engine: on, Recorder: tr}.Execute(t.Context())
	if err == nil {
		tr.check.Close(&out)
		for _, v := range tr.check.Violations() {
			t.Error(v)
		}
	}
	return tr.events, err
}

// task returns a cell whose policy is a program.
func task(dir, base string, set policy.Settings, argv ...string) stages.Task {
	p := policy.Policy{Order: External, Settings: policy.Settings{"command": argv, "limit": 20 * time.Second}}
	maps.Copy(p.Settings, set)
	return stages.Task{
		Folders: stages.Folders{Dir: dir}, Base: base, Policy: p, Records: record.AllRecords,
		Setup: record.Setup{Cell: record.CellRef{Cell: "w-h-mine-r1", Policy: "mine", Replicate: 1, Seed: 7, Simulated: true}},
	}
}

// playExternal simulates a lot whose policy is a program.
func (l *lot) playExternal(t testing.TB, c stages.Task) (events []string, out record.Cell, err error) {
	by := c.Decider(t.Context())
	events, err = l.play(t, by)
	if err != nil {
		out.Error = err.Error()
	}
	by.Close(&out)
	return events, out, err
}

func example(t testing.TB, name string, set policy.Settings) stages.Task {
	base, err := filepath.Abs(examples)
	if err != nil {
		t.Fatal(err)
	}
	return task(t.TempDir(), base, set, python3(t), name)
}

var workloads = flag.Int("workloads", need.Cases(3, 40), "drawn workloads that are scheduled in Go and in Python")

// TestSchedulesOfExamples compares policies that exist in Go and in Python. On random workloads their traces must be
// equal, event by event. With -args -workloads 200 it uses more workloads.
func TestSchedulesOfExamples(t *testing.T) {
	quantum := 3 * time.Second
	for _, test := range []struct {
		file string
		own  policy.Policy
		set  policy.Settings
	}{
		{"fcfs.py", policy.Policy{Order: policy.FCFS}, nil},
		{"sjf.py", policy.Policy{Order: policy.SJF}, nil},
		{"easy.py", policy.Policy{Order: policy.FCFS, Backfill: policy.EASY}, nil},
		{"las.py", policy.Policy{Order: "las", Settings: policy.Settings{"quantum": quantum}},
			policy.Settings{"settings": []schema.Setting{{Name: "quantum", Value: quantum.String()}}}},
	} {
		t.Run(test.file, func(t *testing.T) {
			t.Parallel()
			for n := range *workloads {
				l := draw(uint64(n), n%2 == 1 && test.file != "las.py")
				want, err := l.play(t, test.own)
				if err != nil {
					t.Fatal(err)
				}
				got, out, err := l.playExternal(t, example(t, test.file, test.set))
				if err != nil || out.Error != "" || len(out.Warnings) > 0 {
					t.Fatal(n, err, out.Error, out.Warnings)
				}
				for i := range want {
					if i >= len(got) || got[i] != want[i] {
						t.Fatalf("workload %d: event %d is\n%s\nwant\n%s\nof %d jobs on %v", n, i, got[min(i, len(got)-1)], want[i],
							len(l.jobs), l.cluster)
					}
				}
				if len(got) != len(want) {
					t.Fatalf("workload %d: %d events, want %d", n, len(got), len(want))
				}
			}
		})
	}
}

// BenchmarkDecision measures the time of a decision, singly and in a batch, with a program that decides nothing. It
// also measures the events per second of many jobs under FCFS in Python.
func BenchmarkDecision(b *testing.B) {
	for _, jobs := range []int{10_000, 100_000} {
		b.Run(fmt.Sprint(jobs), func(b *testing.B) {
			if testing.Short() && jobs > 10_000 {
				b.Skip("takes long")
			}
			l := lot{cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 64}}}}
			random := rand.New(rand.NewPCG(1, 1))
			at := time.Duration(0)
			for i := range jobs {
				at += time.Duration(random.ExpFloat64() * 1e9)
				run := time.Duration(1e9 * (1 + random.ExpFloat64()*14))
				j := scheduler.Job{Number: i, Name: fmt.Sprint("job-", i), Arrival: at, Threads: 1 + random.IntN(6), Predicted: run}
				l.jobs, l.work = append(l.jobs, j), append(l.work, simulated.FullRequest(run, j.Threads))
			}
			var sum, asked, spent float64
			for b.Loop() {
				c := example(b, "fcfs.py", nil)
				c.Records = record.MetricsOnly
				began := time.Now()
				on, err := simulated.New(l.jobs, l.work, simulated.Options{Cluster: l.cluster})
				if err != nil {
					b.Fatal(err)
				}
				by := c.Decider(context.Background()).(*programPolicy)
				out, err := scheduler.Run{Policy: by, Cluster: l.cluster, Jobs: l.jobs, Engine: on, Streamed: true}.Execute(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				sum, asked, spent = time.Since(began).Seconds(), float64(by.admitter.time.asked), by.admitter.time.sum.Seconds()
				by.Close(&record.Cell{Error: "measured"})
				b.ReportMetric(float64(out.Events)/sum, "events/s")
			}
			b.ReportMetric(sum, "s")
			b.ReportMetric(spent/asked*1e6, "µs/decision")
			b.ReportMetric(asked, "decisions")
		})
	}
}
