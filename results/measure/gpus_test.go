package measure_test

import (
	"math"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// onGPUs returns a job with a number of GPUs and as many threads.
func onGPUs(number, gpus int) scheduler.Job {
	return scheduler.Job{Number: number, Name: string(rune('a' + number)), Threads: gpus, GPUs: gpus,
		Deadline: scheduler.Never,
		Arrival:  5 * second}
}

// Two nodes of four GPUs. A has three of node 0 from 5 to 15, B two of node 1 from 5 to 25. The free one next to
// A fits nobody: 10 of 8 × 20 GPU-seconds. For A the two free ones next to B are fragments as well, for B not:
// (1 + 2) × 10 + 2 × 10 for A and 1 × 10 for B, 30 in the mean.
func TestFragments(t *testing.T) {
	node := scheduler.Node{Threads: 4, GPUs: 4}
	s := measure.Setup{Jobs: []scheduler.Job{onGPUs(0, 3), onGPUs(1, 2)},
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{node, node}}}
	metrics := collect(s, []scheduler.Event{
		{At: 5 * second, Kind: scheduler.Arrive, Job: 0}, {At: 5 * second, Kind: scheduler.Arrive, Job: 1},
		{At: 5 * second, Kind: scheduler.Start, Job: 0, Cores: cores(0, 3), GPUs: cores(0, 3)},
		{At: 5 * second, Kind: scheduler.Start, Job: 1, Cores: cores(4, 6), GPUs: cores(4, 6)},
		{At: 15 * second, Kind: scheduler.Finish, Job: 0}, {At: 25 * second, Kind: scheduler.Finish, Job: 1},
	}).Metrics()
	for name, want := range map[string]float64{"gpu_fragments": 10.0 / 160, "gpu_fragmentation": 30.0 / 160} {
		m := measure.Fragments
		if name == measure.Fragmentation.Name {
			m = measure.Fragmentation
		}
		if got := m.Of(&metrics); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s is %g, want %g", name, got, want)
		}
	}
	if got := measure.GPUUtilization.Of(&metrics); math.Abs(got-70.0/160) > 1e-6 {
		t.Errorf("the GPU utilization is %g, want %g", got, 70.0/160)
	}
}

// Two jobs share one GPU, the second from 7 s on. The first ends at 15 s, the second at 25 s. The GPU is used all the
// time, and counts once.
func TestSharedGPUsCountOnce(t *testing.T) {
	s := measure.Setup{Jobs: []scheduler.Job{onGPUs(0, 1), onGPUs(1, 1)},
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 2, GPUs: 1}}}}
	metrics := collect(s, []scheduler.Event{
		{At: 5 * second, Kind: scheduler.Arrive, Job: 0}, {At: 5 * second, Kind: scheduler.Arrive, Job: 1},
		{At: 5 * second, Kind: scheduler.Start, Job: 0, Cores: cores(0, 1), GPUs: cores(0, 1)},
		{At: 7 * second, Kind: scheduler.Start, Job: 1, Cores: cores(1, 2), GPUs: cores(0, 1),
			Beside: &cluster.Beside{Name: "a"}},
		{At: 15 * second, Kind: scheduler.Finish, Job: 0}, {At: 25 * second, Kind: scheduler.Finish, Job: 1},
	}).Metrics()
	if got := measure.GPUUtilization.Of(&metrics); got != 1 {
		t.Errorf("the GPU utilization is %g, want 1", got)
	}
	if got := measure.Fragments.Of(&metrics); got != 0 {
		t.Errorf("of GPUs that are never free %g are fragments", got)
	}
}

// Two nodes of one core and two GPUs. From 5 to 15 s B has both cores, so that A, who asks for a GPU, fits on neither:
// all four are fragments. From then on A is on node 0, where the other GPU has no core: 10·4 + 10·1 of 80 s.
func TestFragmentsWithoutCores(t *testing.T) {
	node := scheduler.Node{Threads: 1, GPUs: 2}
	b := onGPUs(1, 0)
	b.Threads = 2
	s := measure.Setup{Jobs: []scheduler.Job{onGPUs(0, 1), b}, Cluster: scheduler.Cluster{Nodes: []scheduler.Node{node, node}}}
	metrics := collect(s, []scheduler.Event{
		{At: 5 * second, Kind: scheduler.Arrive, Job: 0}, {At: 5 * second, Kind: scheduler.Arrive, Job: 1},
		{At: 5 * second, Kind: scheduler.Start, Job: 1, Cores: cores(0, 2)},
		{At: 15 * second, Kind: scheduler.Finish, Job: 1},
		{At: 15 * second, Kind: scheduler.Start, Job: 0, Cores: cores(0, 1), GPUs: cores(0, 1)},
		{At: 25 * second, Kind: scheduler.Finish, Job: 0},
	}).Metrics()
	if got := measure.Fragments.Of(&metrics); math.Abs(got-50.0/80) > 1e-9 {
		t.Errorf("%g of the GPUs are fragments, want %g", got, 50.0/80)
	}
}
