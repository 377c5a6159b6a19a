package validate_test

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/validate"
)

// A and B share a GPU. The speed of A next to B's class is known. C is of another class, and D arrives as the third.
func TestSharedGPUs(t *testing.T) {
	var jobs []scheduler.Job
	for i, class := range []string{"x", "x", "y", "x"} {
		jobs = append(jobs, scheduler.Job{
			Number: i, Name: string(rune('A' + i)), Class: class, Threads: 1, GPUs: 1, Deadline: scheduler.Never,
			Special: &scheduler.Special{Alternatives: []scheduler.Alternative{{Threads: 1, GPUs: 1, Beside: map[string]float64{"x": 0.5}}}},
		})
	}
	c := scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 4, GPUs: 2}}}
	one := func(n int) scheduler.CoreSet { return scheduler.CoreSet{{Lo: int32(n), Hi: int32(n + 1)}} }
	start := func(job, gpu int, beside *cluster.Beside) scheduler.Event {
		return scheduler.Event{Kind: scheduler.Start, Job: job, Cores: one(job), GPUs: one(gpu), Beside: beside}
	}
	with := &cluster.Beside{Job: 0, Name: "A"}
	for name, test := range map[string]struct {
		events []scheduler.Event
		want   string // part of the only violation
	}{
		"two":           {[]scheduler.Event{start(0, 0, nil), start(1, 0, with)}, ""},
		"not known":     {[]scheduler.Event{start(0, 0, nil), start(2, 0, with)}, "its speed together with it is not known"},
		"three":         {[]scheduler.Event{start(0, 0, nil), start(1, 0, with), start(3, 0, with)}, "held by three jobs"},
		"unsaid":        {[]scheduler.Event{start(0, 0, nil), start(1, 0, nil)}, `GPU 0 is held by "A" and by "B"`},
		"of nobody":     {[]scheduler.Event{start(1, 0, with)}, "which holds other GPUs"},
		"another's GPU": {[]scheduler.Event{start(0, 0, nil), start(1, 1, with)}, "which holds other GPUs"},
		"after one has ended": {[]scheduler.Event{
			start(0, 0, nil), start(1, 0, with), {Kind: scheduler.Finish, Job: 0}, start(3, 0, nil),
		}, `GPU 0 is held by "B" and by "D"`},
	} {
		v := validate.New(c, jobs, nil)
		for i := range jobs {
			v.Event(&scheduler.Event{Kind: scheduler.Arrive, Job: i})
		}
		for _, e := range test.events {
			v.Event(&e)
		}
		found := v.Violations()
		if test.want == "" && len(found) > 0 || test.want != "" &&
			(len(found) != 1 || !strings.Contains(found[0].Text, test.want)) {
			t.Errorf("%s: %v, want %q", name, found, test.want)
		}
	}
}
