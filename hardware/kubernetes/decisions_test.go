package kubernetes

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	_ "github.com/tfexp/tfexp/stages/published" // registers its policies
)

// choices records the decisions and events of a run, and checks them.
type choices struct {
	schedulertest.Choices
	check *validate.Validator
}

func (c *choices) Event(e *scheduler.Event) {
	c.Choices.Event(e)
	c.check.Event(e)
}

func (c *choices) Decision(d *scheduler.Decision) {
	c.Choices.Decision(d)
	c.check.Decision(d)
}

// With the same virtual arrival times, decisions on pods equal those in a simulation: their times, order, cores, nodes
// and reasons. The pods also carry them out, as processes do.
func TestRealDecisions(t *testing.T) {
	base, image := realCluster(t)
	arrivals, lengths := []float64{0, 0, 1.5, 2}, []float64{5, 3, 1, 4}
	for _, test := range []struct {
		name   string
		policy policy.Policy
		kinds  []scheduler.EventKind // kinds of events that must occur
	}{
		{"turns", policy.Policy{Order: "round_robin", Settings: policy.Settings{"quantum": 2 * time.Second}},
			[]scheduler.EventKind{scheduler.Pause, scheduler.Resume}},
		{"grow", policy.Policy{Order: "fcfs", Allocation: "max_prop"}, []scheduler.EventKind{scheduler.ResizeJob}},
	} {
		t.Run(test.name, func(t *testing.T) {
			on := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 2}}}
			run := func(real bool) *choices {
				dir := t.TempDir()
				jobs, programs := make([]scheduler.Job, len(lengths)), make([]launch.Job, len(lengths))
				work := make([]simulated.Scaling, len(lengths))
				for i := range jobs {
					length, threads := time.Duration(lengths[i]*float64(time.Second)), 1+(i+1)%2
					jobs[i] = scheduler.Job{Number: i, Name: fmt.Sprint("job", i), Threads: threads, Predicted: length,
						Arrival: time.Duration(arrivals[i] * float64(time.Second)), Malleable: test.policy.Allocation != ""}
					work[i] = simulated.FullRequest(length, threads)
					programs[i] = shell(dir, jobs[i].Name, image,
						fmt.Sprintf("trap 'exit 143' TERM; while ! [ -e %s/end-%d ]; do sleep 0.05; done", dir, i))
					programs[i].Threads = threads
				}
				sim, err := simulated.New(jobs, work, simulated.Options{})
				if err != nil {
					t.Fatal(err)
				}
				engine := scheduler.Engine(struct{ scheduler.Engine }{sim}) // no paused job changes its node
				if real {
					set := base
					set.Checkpoints, set.Volumes = "host:"+filepath.Join(dir, "checkpoints"), map[string]string{dir: "host:" + dir}
					engine = struct{ scheduler.Engine }{&schedulertest.Paced{Engine: sim, Real: open(t, dir, set, on.Nodes, programs...), Dir: dir}}
				}
				c := &choices{check: validate.New(on, jobs, nil)}
				r := scheduler.Run{Policy: test.policy, Cluster: on, Jobs: jobs, Engine: engine, Recorder: c}
				if _, err := r.Execute(t.Context()); err != nil {
					t.Fatal(err)
				}
				for _, v := range c.check.Violations() {
					t.Error(v)
				}
				return c
			}
			want, got := run(false), run(true)
			for _, kind := range test.kinds {
				if !slices.ContainsFunc(want.Events, func(e scheduler.Event) bool { return e.Kind == kind }) {
					t.Errorf("no %s", kind)
				}
			}
			if diff := cmp.Diff(want.Events, got.Events) + cmp.Diff(want.Decisions, got.Decisions); diff != "" {
				t.Errorf("on pods (+) other than simulated (-): %s", diff)
			}
		})
	}
}
