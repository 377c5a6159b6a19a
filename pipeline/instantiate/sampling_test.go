package instantiate

import (
	"slices"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/experiment"
)

func TestSampleLengths(t *testing.T) {
	for _, c := range []struct {
		total   int
		profile experiment.Profile
		want    []int
	}{
		{100, experiment.Profile{Samples: 2, Fraction: 0.03}, []int{3, 6}},
		{10, experiment.Profile{Samples: 3, Fraction: 0.01}, []int{1, 2, 3}},
		{2, experiment.Profile{Samples: 3, Fraction: 0.5}, []int{1, 2, 2}},
		{100, experiment.Profile{Lengths: []int{5, 20}}, []int{5, 20}},
		{8, experiment.Profile{Lengths: []int{5, 20, 30}}, []int{5, 8}},
	} {
		if got := sampleLengths(c.total, c.profile); !slices.Equal(got, c.want) {
			t.Errorf("of %d by %+v: %v, want %v", c.total, c.profile, got, c.want)
		}
	}
}

// A sample has the time limit in the file; otherwise the limit of its job; otherwise ten minutes.
func TestLimit(t *testing.T) {
	minute := time.Minute
	for _, c := range []struct {
		profile time.Duration
		budget  *time.Duration
		want    time.Duration
	}{{0, nil, 10 * minute}, {0, &minute, minute}, {5 * minute, &minute, 5 * minute}, {5 * minute, nil, 5 * minute}} {
		if got := sampleLimit(experiment.Profile{Limit: c.profile}, &experiment.Job{Budget: c.budget}); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// The number of copies side by side is limited by the room on a node of the real hardware and on this machine.
func TestCopies(t *testing.T) {
	for _, c := range []struct {
		engine                   string
		node, machine, job, gpus int
		alone                    bool
		wantCopies, wantCores    int
	}{
		{"process", 4, 8, 1, 0, false, 4, 4},
		{"process", 8, 4, 1, 0, false, 4, 4},
		{"process", 64, 64, 2, 0, false, 8, 64},
		{"docker", 5, 8, 2, 0, false, 2, 5},
		{"process", 2, 2, 2, 0, false, 0, 0},
		{"process", 4, 8, 1, 1, false, 0, 0},
		{"process", 4, 8, 1, 0, true, 0, 0},
		{"simulated", 4, 8, 1, 0, false, 0, 0},
	} {
		h := &experiment.Hardware{Engine: c.engine, Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: c.node}}}}
		j := &experiment.Job{GPUs: c.gpus}
		j.Threads.Request = c.job
		x := &Experiment{Spec: &experiment.Spec{Profile: experiment.Profile{Alone: c.alone}}}
		x.Host.Threads = c.machine
		copies, cores := x.copies(h, j)
		if copies != c.wantCopies || cores != c.wantCores {
			t.Errorf("%+v: %d copies on %d cores", c, copies, cores)
		}
	}
}
