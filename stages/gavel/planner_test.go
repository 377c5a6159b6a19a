package gavel

import (
	"slices"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/gavel/shares"
)

// roundsPlanned returns the planner of an order on three nodes: two v100 with 4 threads, one k80 with 2 threads, and 8
// threads without GPUs.
func roundsPlanned(length time.Duration, jobs ...scheduler.Job) *roundPlanner {
	for i := range jobs {
		jobs[i].Number = i
	}
	nodes := []scheduler.Node{{Threads: 4, GPUs: 2, GPU: "v100"}, {Threads: 2, GPUs: 1, GPU: "k80"}, {Threads: 8}}
	return newRoundPlanner(shares.Find("max_min"), policy.Setup{
		Policy: policy.Policy{Order: "max_min", Settings: policy.Settings{"rounds": length}},
		Run:    &scheduler.Run{Cluster: scheduler.Cluster{Nodes: nodes}, Jobs: jobs},
	})
}

// with returns a job with alternatives.
func with(class string, ways ...scheduler.Alternative) scheduler.Job {
	return scheduler.Job{Class: class, Threads: ways[0].Threads, GPUs: ways[0].GPUs,
		Special: &scheduler.Special{Alternatives: ways}}
}

// TestKindsOfDevices checks that each GPU type has the nodes with such GPUs. If a job can run without GPUs, all threads
// are another type.
func TestKindsOfDevices(t *testing.T) {
	gpu := scheduler.Job{Threads: 1, GPUs: 1}
	for about, c := range map[string]struct {
		jobs  []scheduler.Job
		cores bool
	}{
		"GPUs alone":              {[]scheduler.Job{gpu}, false},
		"an alternative on a GPU": {[]scheduler.Job{with("", scheduler.Alternative{Threads: 1, GPUs: 1})}, false},
		"a job of threads":        {[]scheduler.Job{gpu, {Threads: 1}}, true},
		"an alternative on cores": {[]scheduler.Job{with("", scheduler.Alternative{GPUs: 1},
			scheduler.Alternative{Threads: 1})}, true},
		"its only one is on a GPU": {[]scheduler.Job{{Threads: 1, Special: with("",
			scheduler.Alternative{GPUs: 1}).Special}}, false},
	} {
		want := []kind{
			{shares.Devices{Name: "v100", Count: 2, Price: 1}, []int32{0}},
			{shares.Devices{Name: "k80", Count: 1, Price: 1}, []int32{1}},
		}
		if c.cores {
			want = append(want, kind{shares.Devices{Name: "cores", Count: 14, Price: 1, Cores: true}, []int32{0, 1, 2}})
		}
		got := roundsPlanned(time.Second, c.jobs...).kinds
		if !slices.EqualFunc(got, want, func(a, b kind) bool {
			return a.Devices == b.Devices && slices.Equal(a.nodes, b.nodes)
		}) {
			t.Errorf("%s: %+v, want %+v", about, got, want)
		}
	}
}

// TestWaysOnEachKind checks that a job runs with its fastest alternative on each type that has devices. Its speed is
// its work divided by the estimated time; without an estimate, all work in one second. A job that can run on no type is
// an error.
func TestWaysOnEachKind(t *testing.T) {
	job := with("",
		scheduler.Alternative{GPUs: 1, GPU: "v100", Predicted: 10 * time.Second},
		scheduler.Alternative{GPUs: 2, GPU: "v100", Predicted: 6 * time.Second},
		scheduler.Alternative{GPUs: 2, GPU: "v100", Predicted: 8 * time.Second},
		scheduler.Alternative{GPUs: 2, GPU: "k80", Predicted: time.Second},
		scheduler.Alternative{Threads: 3, Predicted: 30 * time.Second},
	)
	job.Special.Units = 60
	nowhere := with("", scheduler.Alternative{GPUs: 2, GPU: "k80"})
	p := roundsPlanned(time.Second, job, nowhere, scheduler.Job{Threads: 14},
		scheduler.Job{Threads: 1, GPUs: 1, Predicted: 4 * time.Second})
	for j, want := range []member{
		{way: []int32{1, -1, 4}, Job: shares.Job{Workers: []float64{2, 1, 3}, Speed: []float64{10, 0, 2}, Weight: 1,
			Left: 60}, units: 60},
		{way: []int32{-1, -1, -1}, Job: shares.Job{Workers: []float64{2, 2, 1}, Speed: []float64{0, 0, 0}, Weight: 1,
			Left: 1}, units: 1},
		{way: []int32{-1, -1, 0}, Job: shares.Job{Workers: []float64{1, 1, 14}, Speed: []float64{0, 0, 1}, Weight: 1,
			Left: 1}, units: 1},
		{way: []int32{0, 0, -1}, Job: shares.Job{Workers: []float64{1, 1, 1}, Speed: []float64{0.25, 0.25, 0},
			Weight: 1, Left: 1}, units: 1},
	} {
		m := &p.members[j]
		if !slices.Equal(m.way, want.way) || !slices.Equal(m.Workers, want.Workers) ||
			!slices.Equal(m.Speed, want.Speed) || m.Weight != want.Weight || m.Left != want.Left || m.units != want.units {
			t.Errorf("job %d: %+v, want %+v", j, *m, want)
		}
		why := "was not chosen for this round"
		if j == 1 {
			why = "can run on no type of device of the hardware"
		}
		if got := p.Why(nil, int32(j)); got != why {
			t.Errorf("job %d %s", j, got)
		}
	}
}

// TestWholeRounds checks that times within 100 ms and a quarter of a round of whole rounds are rounded.
func TestWholeRounds(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct{ length, d, want time.Duration }{
		{time.Second, 1100 * ms, time.Second}, {time.Second, 1100*ms + 1, 1100*ms + 1},
		{time.Second, 1900 * ms, 2 * time.Second}, {time.Second, 50 * ms, 0}, {200 * ms, 250 * ms, 200 * ms}, {200 * ms, 251 * ms, 251 * ms},
		{200 * ms, 350 * ms, 400 * ms},
	} {
		if got := roundsPlanned(c.length).whole(c.d); got != c.want {
			t.Errorf("%s in rounds of %s are %s, want %s", c.d, c.length, got, c.want)
		}
	}
}

// TestPairsKnowEachOther checks that two jobs are a pair if they request the same amount of a type and each has a known
// speed next to the other.
func TestPairsKnowEachOther(t *testing.T) {
	way := func(gpus int, beside map[string]float64) scheduler.Alternative {
		return scheduler.Alternative{Threads: 1, GPUs: gpus, GPU: "v100", Predicted: time.Second, Beside: beside}
	}
	both := map[string]float64{"a": 0.5, "b": 0.25}
	more := way(1, both)
	more.Threads = 2
	gang := with("b", way(1, both))
	gang.Nodes = 2
	for about, c := range map[string]struct {
		second scheduler.Job
		want   bool
	}{
		"alike":                     {with("b", way(1, both)), true},
		"the other is not known":    {with("c", way(1, both)), false},
		"it is not known beside it": {with("b", way(1, map[string]float64{"b": 1})), false},
		"more GPUs":                 {with("b", way(2, both)), false},
		"more threads":              {with("b", more), false},
		"more nodes":                {gang, false},
		"no alternatives":           {scheduler.Job{Class: "b", Threads: 1, GPUs: 1}, false},
	} {
		p := roundsPlanned(time.Second, with("a", way(1, both)), c.second)
		q := &shares.Problem{Jobs: []shares.Job{p.members[0].Job, p.members[1].Job}}
		pairs := p.pairs(q)
		if (len(pairs) == 1) != c.want {
			t.Errorf("%s: %+v", about, pairs)
		}
		if c.want && (!slices.Equal(pairs[0].Speed[0], []float64{0.25, 0}) ||
			!slices.Equal(pairs[0].Speed[1], []float64{0.5, 0})) {
			t.Errorf("%s: the speeds %v", about, pairs[0].Speed)
		}
	}
}
