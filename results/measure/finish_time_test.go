package measure_test

import (
	"math"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
)

// TestFinishTimesOnTwoTypes by hand: two V100 on one node, and two K80 on two. A takes 10 s on a V100 or 40 s on a K80, B 20 s on both V100 or
// 30 s on both K80, C 12 s on both K80 and nowhere else. A is there from 0 to 20 s, B from 5 to 30 s, C from 10 to 30 s.
//
//	   jobs on average          of each type            alone on that        ρ
//	A  (5+2·5+3·10)/20 = 2.25   2/2.25   = 8/9 of time   16 s                20/16   = 1.25
//	B  (2·5+3·10+2·10)/25 = 2.4 2/(2.4·2) = 5/12         1/(5/12·(1/20+1/30)) 25/28.8
//	C  (3·10+2·10)/20 = 2.5     2/(2.5·2) = 2/5          12/(2/5) = 30 s     20/30
//
// A cannot run for more than all of the time: half on each type, 1/20 + 1/80 of its work a second.
func TestFinishTimesOnTwoTypes(t *testing.T) {
	on := func(gpu string, gpus int) scheduler.Alternative {
		return scheduler.Alternative{Name: gpu, Threads: 1, GPUs: gpus, GPU: gpu}
	}
	alone := [][]time.Duration{{10 * second, 40 * second}, {20 * second, 30 * second}, {12 * second}}
	setup := measure.Setup{
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{
			{Name: "new", Threads: 4, GPUs: 2, GPU: "V100"}, {Name: "old", Threads: 2, GPUs: 1, GPU: "K80"},
			{Name: "older", Threads: 2, GPUs: 1, GPU: "K80"},
		}},
		Jobs: []scheduler.Job{
			{Number: 0, Name: "A", Special: &scheduler.Special{Alternatives: []scheduler.Alternative{on("V100", 1), on("K80", 1)}}},
			{Number: 1, Name: "B", Arrival: 5 * second, Special: &scheduler.Special{Alternatives: []scheduler.Alternative{on("V100", 2), on("K80", 2)}}},
			{Number: 2, Name: "C", Arrival: 10 * second, Special: &scheduler.Special{Alternatives: []scheduler.Alternative{on("K80", 2)}}},
		},
		AloneOn: func(job, alternative int) time.Duration { return alone[job][alternative] },
	}
	var events []scheduler.Event
	at := func(seconds int, kind scheduler.EventKind, job, alternative int, gpus scheduler.CoreSet) {
		events = append(events, scheduler.Event{
			At: time.Duration(seconds) * second, Kind: kind, Job: job, Cores: gpus, GPUs: gpus, Alternative: alternative,
		})
	}
	at(0, scheduler.Arrive, 0, 0, nil)
	at(0, scheduler.Start, 0, 1, cores(2, 3))
	at(5, scheduler.Arrive, 1, 0, nil)
	at(5, scheduler.Start, 1, 0, cores(0, 2))
	at(10, scheduler.Arrive, 2, 0, nil)
	at(20, scheduler.Finish, 0, 0, nil)
	at(20, scheduler.Start, 2, 0, cores(2, 4))
	at(30, scheduler.Finish, 1, 0, nil)
	at(30, scheduler.Finish, 2, 0, nil)
	c := collect(setup, events)
	want := []float64{1.25, 25 / 28.8, 20.0 / 30}
	for job, ratio := range want {
		if got := c.Outcome(job).FinishTime; math.Abs(got-ratio) > 1e-9 {
			t.Errorf("the ratio of %s is %v, want %v", setup.Jobs[job].Name, got, ratio)
		}
	}
	m := c.Metrics()
	if got := measure.MaxFinishTime.Of(&m); math.Abs(got-1.25) > 1e-9 {
		t.Errorf("the greatest is %v, want 1.25", got)
	}
	if got, mean := measure.MeanFinishTime.Of(&m), (want[0]+want[1]+want[2])/3; math.Abs(got-mean) > 1e-9 {
		t.Errorf("the mean is %v, want %v", got, mean)
	}
}
