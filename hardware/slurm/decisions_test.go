//go:build linux

package slurm

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

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/supply"
	"github.com/tfexp/tfexp/scheduler/validate"
	_ "github.com/tfexp/tfexp/stages/published" // the orders
)

// TestMain makes the test binary also the guardian of processes.
func TestMain(m *testing.M) {
	if handled, code := process.Main(os.Args[1:]); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// paced is schedulertest.Paced on nodes that come while its clock stands.
type paced struct {
	schedulertest.Paced
	asked []int // nodes that are on their way
}

func (p *paced) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	if len(p.asked) > 0 {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		now, _, err := p.Engine.Next(ctx, 0)
		var up []scheduler.Notice
		for len(up) < len(p.asked) && err == nil {
			var news []scheduler.Notice
			_, news, err = p.Real.Next(ctx, scheduler.Never)
			for _, n := range news {
				n.At = now
				up = append(up, n)
			}
		}
		p.asked = nil
		slices.SortFunc(up, func(a, b scheduler.Notice) int { return a.Node - b.Node })
		return now, up, err
	}
	return p.Paced.Next(ctx, until)
}

// supply.Provider, of the real engine
func (p *paced) Acquire(node int) (*scheduler.Server, error) {
	p.asked = append(p.asked, node)
	s, err := p.Real.(supply.Provider).Acquire(node)
	if s != nil {
		s.Created = 0
	}
	return s, err
}

func (*paced) Release(int) error { return nil }

func (*paced) From(_ int, at time.Duration) time.Duration { return at }

func (*paced) Revoke(int) (scheduler.Attempt, error) {
	return scheduler.Attempt{}, errors.New("nothing is lost here")
}

func (*paced) Move(int) (scheduler.Attempt, error) {
	return scheduler.Attempt{}, errors.New("nothing is lost here")
}

func (*paced) Attempt(int) scheduler.Attempt { return scheduler.Attempt{} }

// Migrates, Migrate and Reshape let no paused job go on on another node.
func (*paced) Migrates() (nodes, alternatives bool) { return false, false }

func (*paced) Migrate(int, scheduler.Grant) error { return errors.New("no job moves here") }

func (*paced) Reshape(int, scheduler.Grant) error { return errors.New("no job has parts") }

var _ interface {
	supply.Provider
	scheduler.Migrator
} = (*paced)(nil)

// With the same virtual arrival times the decisions are the same on processes, under Slurm and in a simulation: their
// times, order, cores, nodes and reasons. The first two also carry them out.
func TestSameDecisions(t *testing.T) {
	needCluster(t)
	if len(hardware.AllowedCPUs()) < 2 {
		t.Skip("the processes need two cores")
	}
	// When jobs arrive, how long they run on all that they ask for, in seconds, and how many cores that is.
	arrivals, lengths := []float64{0, 0, 1.5, 2, 4.25, 9}, []float64{7, 3, 1, 4, 2.5, 3}
	for _, test := range []struct {
		name    string
		nodes   []int // their cores
		threads []int
		policy  policy.Policy
		kinds   []scheduler.EventKind // events that must be among what happens
	}{
		{"turns", []int{2}, []int{2, 1, 1, 2, 1, 1},
			policy.Policy{Order: "round_robin", Settings: policy.Settings{"quantum": 2 * time.Second}},
			[]scheduler.EventKind{scheduler.Pause, scheduler.Resume}},
		{"shortest first on two nodes", []int{1, 1}, []int{1, 1, 1, 1, 1, 1}, policy.Policy{Order: "srtf"},
			[]scheduler.EventKind{scheduler.Pause, scheduler.Resume}},
		{"grow", []int{2}, []int{2, 1, 2, 2, 1, 2}, policy.Policy{Order: "fcfs", Allocation: "max_prop"},
			[]scheduler.EventKind{scheduler.ResizeJob}},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := func(real func(jobs []launch.Job, dir string) (engine.Engine, scheduler.Cluster)) (c schedulertest.Choices) {
				dir := t.TempDir()
				jobs, programs := make([]scheduler.Job, len(lengths)), make([]launch.Job, len(lengths))
				work := make([]simulated.Scaling, len(lengths))
				for i := range jobs {
					length := time.Duration(lengths[i] * float64(time.Second))
					jobs[i] = scheduler.Job{
						Number: i, Name: fmt.Sprint("job", i), Threads: test.threads[i], Predicted: length,
						Arrival: time.Duration(arrivals[i] * float64(time.Second)), Malleable: test.policy.Allocation != "",
					}
					work[i] = simulated.FullRequest(length, test.threads[i])
					programs[i] = launch.Job{
						Name: jobs[i].Name, Threads: test.threads[i],
						Argv: []string{"/bin/sh", "-c", fmt.Sprintf(`while ! [ -e %s/end-%d ]; do sleep 0.02; done`, dir, i)},
					}
				}
				sim, err := simulated.New(jobs, work, simulated.Options{})
				if err != nil {
					t.Fatal(err)
				}
				// As the others, it lets no paused job go on on another node.
				on, cluster := scheduler.Engine(struct{ scheduler.Engine }{sim}), scheduler.Cluster{}
				for v, n := range test.nodes {
					cluster.Nodes = append(cluster.Nodes, scheduler.Node{Name: fmt.Sprintf("node-%d", v+1), Threads: n})
				}
				if real != nil {
					p := &paced{Paced: schedulertest.Paced{Engine: sim, Dir: dir}}
					p.Real, cluster = real(programs, dir)
					on = p
				}
				if _, err := (scheduler.Run{Policy: test.policy, Cluster: cluster, Jobs: jobs, Engine: on, Recorder: &c}).Execute(
					t.Context()); err != nil {
					t.Fatal(err)
				}
				return c
			}
			want := run(nil)
			for _, kind := range test.kinds {
				if !slices.ContainsFunc(want.Events, func(e scheduler.Event) bool { return e.Kind == kind }) {
					t.Errorf("no %s", kind)
				}
			}
			here := run(func(jobs []launch.Job, dir string) (engine.Engine, scheduler.Cluster) {
				var c scheduler.Cluster
				for v, n := range test.nodes {
					c.Nodes = append(c.Nodes, scheduler.Node{Name: fmt.Sprintf("node-%d", v+1), Threads: n})
				}
				for i := range jobs {
					jobs[i].LogPath = filepath.Join(dir, fmt.Sprintf("%d.log", i))
					jobs[i].ControlPath = filepath.Join(dir, fmt.Sprintf("%d.control", i))
				}
				e, err := process.New(jobs, process.Options{Registry: filepath.Join(dir, "registry"), Cluster: c})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { e.Close() })
				return e, c
			})
			there := run(func(jobs []launch.Job, _ string) (engine.Engine, scheduler.Cluster) {
				o := openOn(t, test.nodes, settings{}, jobs...)
				c := scheduler.Cluster{Nodes: slices.Clone(o.cluster.Nodes)}
				for v := range c.Nodes {
					c.Nodes[v].Supply = cluster.Fixed
				}
				return o.Engine, c
			})
			if diff := cmp.Diff(want, here); diff != "" {
				t.Errorf("on processes (+) other than simulated (-): %s", diff)
			}
			if diff := cmp.Diff(want, there); diff != "" {
				t.Errorf("under Slurm (+) other than simulated (-): %s", diff)
			}
		})
	}
}

// A whole run whose allocation runs out of time: its job is warned, saves its work, and resumes in another allocation,
// and the schedule is valid.
func TestRunOutlastsItsAllocation(t *testing.T) {
	o := open(t, 1, settings{Time: time.Minute, Notice: 55 * time.Second}, job(`
if [ -e "$TFEXP_CHECKPOINT_DIR/saved" ]; then exit; fi
trap 'touch "$TFEXP_CHECKPOINT_DIR/saved"; exit 143' TERM
while :; do sleep 0.05; done`))
	c := scheduler.Cluster{Nodes: slices.Clone(o.cluster.Nodes)}
	c.Nodes[0].Supply = cluster.Fixed
	jobs := []scheduler.Job{{Name: "job", Threads: 2, Predicted: time.Second, Deadline: scheduler.Never}}
	var happened schedulertest.Choices
	check := validate.New(c, jobs, nil)
	run := scheduler.Run{Policy: policy.Policy{Order: "fcfs"}, Cluster: c, Jobs: jobs, Engine: o.Engine,
		Recorder: both{&happened, check}}
	if _, err := run.Execute(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, v := range check.Violations() {
		t.Error(v)
	}
	var kinds []scheduler.EventKind
	for _, e := range happened.Events {
		kinds = append(kinds, e.Kind)
	}
	want := []scheduler.EventKind{scheduler.Arrive, scheduler.Start, scheduler.Revoke, scheduler.Start, scheduler.Finish}
	if !slices.Equal(kinds, want) {
		t.Errorf("%v, want %v", kinds, want)
	}
}

// both are two recorders of the same run.
type both [2]scheduler.Recorder

func (b both) Event(e *scheduler.Event) {
	b[0].Event(e)
	b[1].Event(e)
}

func (b both) Decision(d *scheduler.Decision) {
	b[0].Decision(d)
	b[1].Decision(d)
}
