package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	_ "github.com/tfexp/tfexp/stages/published" // the orders
)

// paced carries decisions out on pods, on a virtual clock: a job ends there when it ends in a simulation.
type paced struct {
	scheduler.Engine // the simulation
	real             *opened
	dir              string
}

func (p *paced) Start(job int, g scheduler.Grant) error {
	return errors.Join(p.Engine.Start(job, g), p.real.Start(job, g))
}

func (p *paced) Pause(job int) error { return errors.Join(p.Engine.Pause(job), p.real.Pause(job)) }

func (p *paced) Resume(job int, g scheduler.Grant) error {
	return errors.Join(p.Engine.Resume(job, g), p.real.Resume(job, g))
}

func (p *paced) Resize(job int, g scheduler.Grant) error {
	return errors.Join(p.Engine.Resize(job, g), p.real.Resize(job, g))
}

func (p *paced) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	now, news, err := p.Engine.Next(ctx, until)
	for _, n := range news {
		err = errors.Join(err, os.WriteFile(filepath.Join(p.dir, fmt.Sprint("end-", n.Job)), nil, 0o644))
		var real []scheduler.Notice
		for err == nil && len(real) == 0 {
			_, real, err = p.real.Next(ctx, scheduler.Never)
		}
		for _, r := range real {
			if r.Kind != n.Kind || r.State != n.State || r.Job != n.Job {
				err = fmt.Errorf("the pods give notice of %+v", r)
			}
		}
	}
	return now, news, err
}

// choices has the decisions and events of a run.
type choices struct {
	Events    []scheduler.Event
	Decisions []scheduler.Decision
	check     *validate.Validator
}

func (c *choices) Event(e *scheduler.Event) {
	c.Events = append(c.Events, *e)
	c.check.Event(e)
}

func (c *choices) Decision(d *scheduler.Decision) {
	c.Decisions = append(c.Decisions, *d)
	c.check.Decision(d)
}

// With the same virtual arrival times the decisions are the same on pods and in a simulation, as they are on processes:
// their times, order, cores, nodes and reasons; and they are carried out.
func TestRealDecisions(t *testing.T) {
	base, image := realCluster(t)
	arrivals, lengths := []float64{0, 0, 1.5, 2}, []float64{5, 3, 1, 4}
	for _, test := range []struct {
		name   string
		policy policy.Policy
		kinds  []scheduler.EventKind // that must be among what happens
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
					engine = struct{ scheduler.Engine }{&paced{sim, open(t, dir, set, on.Nodes, programs...), dir}}
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
