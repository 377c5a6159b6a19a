package simulated_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// steps is a kind of work of another package: a number of steps, whose speed depends on the type of GPU.
type steps struct {
	n         float64
	perSecond map[string]float64
	cluster   scheduler.Cluster
}

func (s steps) Times() (fixed, rest time.Duration, rate float64) {
	return 0, time.Duration(s.n * float64(time.Second)), 1
}

func (s steps) Rate(g scheduler.Grant) float64 {
	last := 0
	for _, n := range s.cluster.Nodes {
		if last += n.GPUs; len(g.GPUs) > 0 && int(g.GPUs[0].Lo) < last {
			return s.perSecond[n.GPU] * float64(g.GPUs.Count())
		}
	}
	return 1
}

func (s steps) In(int) (simulated.Work, error) { return s, nil }

func (s steps) Check() error {
	if s.n < 0 {
		return errors.New("a negative number of steps")
	}
	return nil
}

// Jobs with different kinds of work run side by side. A job that is resumed on another type of device continues at
// another speed.
func TestWorkOfAnotherKind(t *testing.T) {
	cluster := scheduler.Cluster{Nodes: []scheduler.Node{
		{Threads: 2, GPUs: 1, GPU: "K80"}, {Threads: 2, GPUs: 2, GPU: "V100"},
	}}
	training := steps{n: 100, perSecond: map[string]float64{"K80": 5, "V100": 20}, cluster: cluster}
	other := simulated.FullRequest(4*time.Second, 1)
	work := []struct{ simulated.Work }{{training}, {&other}}
	e, err := simulated.New([]scheduler.Job{{Name: "steps"}, {Name: "plain", Number: 1}}, work, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	core := func(n int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: n, Hi: n + 1}} }
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	do(e.Start(0, scheduler.Grant{Cores: core(0), GPUs: core(0)}))
	do(e.Start(1, scheduler.Grant{Cores: core(1)}))
	ends := func(until time.Duration, want ...time.Duration) {
		t.Helper()
		_, news, err := e.Next(context.Background(), until)
		if err != nil || len(news) != len(want) || len(want) > 0 && news[0].At != want[0] {
			t.Fatalf("%v, %v; want %v", news, err, want)
		}
	}
	ends(time.Minute, 4*time.Second)
	ends(8 * time.Second) // 40 steps on a K80
	do(e.Pause(0))
	do(e.Resume(0, scheduler.Grant{Cores: core(2), GPUs: scheduler.CoreSet{{Lo: 1, Hi: 3}}}))
	ends(time.Minute, 9500*time.Millisecond) // 60 on two V100
	work = []struct{ simulated.Work }{{steps{n: -1}}}
	if _, err := simulated.New([]scheduler.Job{{}}, work, simulated.Options{}); err == nil {
		t.Error("work that checks itself was not asked")
	}
}

// On one thread, Amdahl's law gives a speed of exactly 1 for every parallel fraction.
func TestOneThreadIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 10_000 {
		p, one := rng.Float64(), 1.0
		w := simulated.Scaling{Parallel: p}
		if want := 1 / (1 - p + p/one); want != 1 || w.Speed(1) != want {
			t.Fatalf("with a parallel part of %b the speed is %b, want %b", p, w.Speed(1), want)
		}
	}
}

// byParts is work whose speed is the fraction of its two workers that run.
type byParts struct{}

func (byParts) Speed(parts []scheduler.Part) float64 { return float64(len(parts)) / 2 }

// TestCrewRate checks that a job with roles runs at the speed of its parts. On its full request it takes the time of
// its work.
func TestCrewRate(t *testing.T) {
	w := simulated.Scaling{Fixed: time.Second, Scaled: 10 * time.Second, Special: &simulated.Special{Crew: byParts{}}}
	if got := w.RunTime(1); got != 11*time.Second {
		t.Errorf("whole, it takes %s", got)
	}
	g := scheduler.Grant{Layout: &cluster.Layout{Parts: make([]scheduler.Part, 1)}}
	if got := w.Rate(g); got != 0.5 {
		t.Errorf("with one of two parts its rate is %g", got)
	}
}
