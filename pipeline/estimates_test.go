package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline/instantiate"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// TestEstimatingPolicies checks that plan.json names the policies that use fitted estimates, including estimates with
// drawn errors and estimates that are corrected while jobs run. Other policies are baselines without estimates.
func TestEstimatingPolicies(t *testing.T) {
	p := plan(t, `
experiment "estimating" {}
job "j" {
  builtin "softmax" {}
  epochs = 4
}
workload "w" {
  submit { job = job.j }
}
hardware "h" {
  engine  = "process"
  threads = 2
}
policy "fcfs" { order = "fcfs" }
policy "fitted" { order = "sjf" }
policy "noisy" {
  order     = "sjf"
  estimates = noisy(0.5)
}
policy "online" {
  order     = "srtf"
  estimates = "online"
}
policy "requested" {
  order     = "sjf"
  estimates = "requested"
}
`, t.TempDir())
	if want := []string{"fitted", "noisy", "online"}; !slices.Equal(p.Estimating, want) {
		t.Errorf("policies that decide by fitted estimates: %v, want %v", p.Estimating, want)
	}
}

// An engine that lacks something stops only the cells that run on it.
func TestReady(t *testing.T) {
	missing := fmt.Errorf("find images: %w", &engine.Unavailable{Engine: "docker", Err: errors.New("no daemon")})
	of := func(engine string, reuse bool) *Plan {
		p := &Plan{unavailable: missing}
		for _, e := range []string{"simulated", engine} {
			p.Cells, p.Work = append(p.Cells, record.CellRef{Engine: e}), append(p.Work, CellWork{Reuse: reuse})
		}
		return p
	}
	for _, c := range []struct {
		engine string
		reuse  bool
		stops  bool
	}{{"docker", false, true}, {"docker", true, false}, {"process", false, false}} {
		var stop *engine.Unavailable
		if err := of(c.engine, c.reuse).Ready(); errors.As(err, &stop) != c.stops || !c.stops && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
	p := of("docker", false)
	p.unavailable = nil
	if err := p.Ready(); err != nil {
		t.Error(err)
	}
}

// The predicted time of the run is known once the time of each cell that must run is known.
func TestLeft(t *testing.T) {
	const s = time.Second
	real, simulated := record.CellRef{Engine: "process"}, record.CellRef{Engine: "simulated", Simulated: true}
	for _, c := range []struct {
		cells []record.CellRef
		work  []CellWork
		want  time.Duration
	}{
		{[]record.CellRef{real, real}, []CellWork{{Predicted: 2 * s}, {Predicted: 3 * s}}, 5 * s},
		{[]record.CellRef{real, real}, []CellWork{{Predicted: 2 * s}, {Predicted: 3 * s, Reuse: true}}, 2 * s},
		{[]record.CellRef{real, real}, []CellWork{{Predicted: 2 * s}, {}}, 0},
		{[]record.CellRef{real, real}, []CellWork{{Predicted: 2 * s}, {Reuse: true}}, 2 * s},
		{[]record.CellRef{real, simulated}, []CellWork{{Predicted: 2 * s}, {}}, 2 * s},
		{[]record.CellRef{real, simulated}, []CellWork{{Predicted: 2 * s}, {Predicted: 7 * s}}, 2 * s},
	} {
		p := &Plan{Work: c.work}
		p.Cells = c.cells
		if got := p.left(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.work, got, c.want)
		}
	}
}

// Runs of the same program in other experiments of the folder are history for its estimates, even if their job block
// has another name. Runs in the experiment's own plan are not: estimates are compared with them.
func TestHistoryIsOfOtherExperiments(t *testing.T) {
	out := t.TempDir()
	p := plan(t, realFile, out)
	r := openRun(t, p)
	happened(t, p, 0, 3*time.Second, record.CellFinished)
	if err := r.close(); err != nil {
		t.Fatal(err)
	}
	const history = "\nestimate { model = \"history\" }\n"
	if own := plan(t, realFile+history, out); len(own.x.History) != 0 {
		t.Errorf("%d runs of the plan itself are its history", len(own.x.History))
	}
	other := strings.NewReplacer(`"real"`, `"other"`, `job "t"`, `job "u"`, "job.t", "job.u", "epochs  = 10",
		"epochs = 20").Replace(realFile)
	q := plan(t, other+history, out)
	if len(q.x.History) != 2 {
		t.Fatalf("%d past runs, want 2", len(q.x.History))
	}
	name, _ := instantiate.PastJob(q.keys[0], "u")
	past := q.x.History[0]
	if past.Job != name || past.Length != 10 || past.Seconds != 3 || past.Resource.Threads != 1 ||
		past.Resource.Host != q.x.HostPrint() {
		t.Errorf("%+v is not the past of %s", past, name)
	}
	sampled(q, 0.2)
	estimates, _ := q.x.Estimates()
	est := estimates[0]
	// By the samples alone an epoch takes 0.2 s, in earlier runs about 0.25 s: the estimate lies between.
	if est.Chosen != "history" || est.Slope <= 0.201 || est.Slope >= 0.25 {
		t.Errorf("%+v", est)
	}
	if linear := plan(t, other, out); len(linear.x.History) != 0 {
		t.Error("a model that looks at no history reads it")
	}
	// A different program has a different history.
	changed := strings.Replace(other, `["true"]`, `["true", "--fast"]`, 1)
	c := plan(t, changed+history, out)
	if name, _ := instantiate.PastJob(c.keys[0], "u"); name == past.Job {
		t.Error("a job with another command is taken for the same")
	}
}

// Real cells that exist only in the cache are also history, if they have another key than the plan's cells. visit is
// not called again after it returns false.
func TestHistoryOfTheCache(t *testing.T) {
	out := t.TempDir()
	ends := func(file string) {
		p := plan(t, file, out)
		r := openRun(t, p)
		for i, c := range p.Cells {
			happened(t, p, i, 3*time.Second, record.CellFinished)
			if err := r.End(i, record.Cell{State: record.CellFinished}, time.Second); err != nil {
				t.Fatal(c.Cell, err)
			}
		}
		if err := r.close(); err != nil {
			t.Fatal(err)
		}
	}
	longer := strings.Replace(realFile, "epochs  = 10", "epochs  = 20", 1)
	ends(realFile)
	ends(longer)
	for file, want := range map[string]int{realFile: 20, longer: 10} {
		p := plan(t, file+"\nestimate { model = \"history\" }\n", out)
		if past := p.x.History; len(past) != 4 || past[0].Length != want || past[3].Length != want {
			t.Errorf("of the cells that are not in the plan: %+v, want 4 runs of %d epochs", past, want)
		}
	}
	none := plan(t, strings.Replace(realFile, "epochs  = 10", "epochs  = 30", 1), out)
	c := store.OpenReadOnly(none.Dir, record.CacheFile)
	defer c.Close()
	for want, more := range map[int]bool{4: true, 1: false} {
		visited := 0
		c.View(func(v store.View) {
			none.past(v, func(past stages.PastCell) bool {
				visited++
				if past.Cell.State != record.CellFinished || past.Key == "" {
					t.Errorf("visited %+v", past)
				}
				return more
			})
		})
		if visited != want {
			t.Errorf("%d cells were visited, want %d", visited, want)
		}
	}
}
