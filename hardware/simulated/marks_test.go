package simulated

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/scheduler"
)

// reports runs a job to its end and returns its progress reports. do has actions by time.
func reports(t *testing.T, e *Engine, do map[time.Duration]func()) []scheduler.Notice {
	t.Helper()
	var all []scheduler.Notice
	for {
		until := scheduler.Never
		for at := range do {
			until = min(until, at)
		}
		now, news, err := e.Next(context.Background(), until)
		must(t, err)
		over := false
		for _, n := range news {
			over = over || n.Kind == scheduler.JobEnded
			if n.Kind == scheduler.JobProgress {
				all = append(all, n)
			}
		}
		if over {
			return all
		}
		if f := do[now]; f != nil {
			f()
			delete(do, now)
		}
	}
}

func at(seconds float64, units int) scheduler.Notice {
	return scheduler.Notice{
		Kind: scheduler.JobProgress, At: time.Duration(seconds * float64(time.Second)), Units: units,
	}
}

const second = time.Second

// A job of 10 units of 1 s on two cores, after 3 s in which nothing speeds up.
func TestReportsAreExact(t *testing.T) {
	work := Scaling{Fixed: 3 * second, Scaled: 10 * second, Threads: 2, Parallel: 1}
	for _, c := range []struct {
		name string
		o    Options
		do   func(e *Engine) map[time.Duration]func()
		want []scheduler.Notice
	}{
		{"undisturbed", Options{}, nil, []scheduler.Notice{at(4, 1), at(5, 2), at(7, 4), at(11, 8)}},
		{"paused for 10 s in the middle of the third unit", Options{Overheads: Overheads{Pause: 250e6}},
			func(e *Engine) map[time.Duration]func() {
				return map[time.Duration]func(){
					5500 * time.Millisecond:  func() { must(t, e.Pause(0)) },
					15500 * time.Millisecond: func() { must(t, e.Resume(0, cores(2))) },
				}
			}, []scheduler.Notice{at(4, 1), at(5, 2), at(17.25, 4), at(21.25, 8)}},
		{"on one core from the middle of the third unit on", Options{},
			func(e *Engine) map[time.Duration]func() {
				return map[time.Duration]func(){5500 * time.Millisecond: func() { must(t, e.Resize(0, cores(1))) }}
			}, []scheduler.Notice{at(4, 1), at(5, 2), at(8.5, 4), at(16.5, 8)}},
		{"resized at the instant of a report", Options{},
			func(e *Engine) map[time.Duration]func() {
				return map[time.Duration]func(){5 * second: func() { must(t, e.Resize(0, cores(1))) }}
			}, []scheduler.Notice{at(4, 1), at(5, 2), at(9, 4), at(17, 8)}},
	} {
		e := newEngine(t, c.o, work)
		e.Watch([]int{10})
		must(t, e.Start(0, cores(2)))
		var do map[time.Duration]func()
		if c.do != nil {
			do = c.do(e)
		}
		if diff := cmp.Diff(c.want, reports(t, e, do)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// Units that take no time, and jobs without units, cause no errors.
func TestReportsOfSmallJobs(t *testing.T) {
	for _, c := range []struct {
		work  Scaling
		units int
		want  int
	}{
		{FullRequest(second, 1), 0, 0},
		{FullRequest(second, 1), 1, 0},   // its end reports it
		{Scaling{Fixed: second}, 10, 0},  // nothing is known about its units
		{FullRequest(3, 1), 1 << 20, 20}, // a third of a million units in each nanosecond
		{Scaling{}, 5, 0},
	} {
		e := newEngine(t, Options{}, c.work)
		e.Watch([]int{c.units})
		must(t, e.Start(0, cores(1)))
		if got := len(reports(t, e, nil)); got != c.want {
			t.Errorf("%+v in %d units: %d reports, want %d", c.work, c.units, got, c.want)
		}
	}
}

// Watching progress changes only the notices of a run, not its times.
func TestWatchingChangesNothing(t *testing.T) {
	end := func(watch bool) time.Duration {
		e := newEngine(t, Options{Noise: 0.3, Seed: 5}, Training(second, 7, second, 0.8))
		if watch {
			e.Watch([]int{7})
		}
		must(t, e.Start(0, cores(2)))
		for {
			now, news, err := e.Next(context.Background(), scheduler.Never)
			must(t, err)
			if len(news) > 0 && news[0].Kind == scheduler.JobEnded {
				return now
			}
		}
	}
	if a, b := end(false), end(true); a != b {
		t.Errorf("%s, watched %s", a, b)
	}
}

// Under contention, reports come when the work is done. Two jobs of 10 units of 1 s run at half speed, until the second
// is paused at 8 s.
func TestReportsUnderContention(t *testing.T) {
	o := Options{Contention: &Contention{
		Slowdown: func(own, others, cores int) float64 { return 1 + float64(others) },
		Cluster:  scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 2}}},
	}}
	e := newEngine(t, o, FullRequest(10*second, 1), FullRequest(10*second, 1))
	e.Watch([]int{10, 0})
	must(t, e.Start(0, scheduler.Grant{Cores: scheduler.CoreSet{{Lo: 0, Hi: 1}}}))
	must(t, e.Start(1, scheduler.Grant{Cores: scheduler.CoreSet{{Lo: 1, Hi: 2}}}))
	got := reports(t, e, map[time.Duration]func(){8 * second: func() { must(t, e.Pause(1)) }})
	want := []scheduler.Notice{at(2, 1), at(4, 2), at(8, 4), at(12, 8)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
