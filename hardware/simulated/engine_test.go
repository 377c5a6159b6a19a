package simulated

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

func cores(n int) scheduler.Grant {
	return scheduler.Grant{Cores: scheduler.CoreSet{{Lo: 0, Hi: int32(n)}}}
}

func newEngine(t *testing.T, o Options, work ...Scaling) *Engine {
	t.Helper()
	jobs := make([]scheduler.Job, len(work))
	for i := range jobs {
		jobs[i] = scheduler.Job{Number: i, Name: string(rune('a' + i))}
	}
	e, err := New(jobs, work, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// must fails the test on an error.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// until advances the engine, and fails the test unless exactly the given jobs end at the time want.
func until(t *testing.T, e *Engine, at, want time.Duration, jobs ...int) {
	t.Helper()
	now, ended, err := e.Next(context.Background(), at)
	must(t, err)
	if now != want || len(ended) != len(jobs) {
		t.Fatalf("at %s (want %s) %v end (want %v)", now, want, ended, jobs)
	}
	for i, end := range ended {
		if end.Job != jobs[i] || end.At != want || end.State != scheduler.Finished {
			t.Fatalf("%+v, want job %d at %s", end, jobs[i], want)
		}
	}
}

func TestRunTimes(t *testing.T) {
	for _, c := range []struct {
		name    string
		work    Scaling
		threads int
		want    time.Duration
	}{
		{"one thread", Training(2*time.Second, 10, time.Second, 0.9), 1, 12 * time.Second},
		{"Amdahl: the start-up and a tenth of each epoch stay", Training(2*time.Second, 10, time.Second, 0.9), 2,
			7500 * time.Millisecond},
		{"nothing speeds up", Training(0, 10, time.Second, 0), 8, 10 * time.Second},
		{"as given on the full request", FullRequest(7*time.Second+1, 3), 3, 7*time.Second + 1},
		{"three times as long on a third", FullRequest(7*time.Second, 3), 1, 21 * time.Second},
		{"a speed-up by table", Scaling{Scaled: 8 * time.Second, SpeedUp: func(n int) float64 {
			return []float64{0, 1,
				1.6}[n]
		}}, 2, 5 * time.Second},
		{"no time", Scaling{}, 4, 0},
	} {
		if got := c.work.RunTime(c.threads); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		e := newEngine(t, Options{}, c.work)
		must(t, e.Start(0, cores(c.threads)))
		until(t, e, scheduler.Never, c.want, 0)
	}
}

// A job that is paused and resumed on the same number of cores ends exactly as if the pauses were cut out.
func TestPausesAreExact(t *testing.T) {
	const run = 1_000_000_007 * time.Nanosecond
	e := newEngine(t, Options{}, FullRequest(run, 3))
	must(t, e.Start(0, cores(3)))
	at := time.Duration(0)
	for range 1000 {
		at += 777_777
		until(t, e, at, at)
		must(t, e.Pause(0))
		at += 333_331
		until(t, e, at, at)
		must(t, e.Resume(0, cores(3)))
	}
	until(t, e, scheduler.Never, run+1000*333_331, 0)
}

func TestResizesChangeTheRate(t *testing.T) {
	// 12 core-seconds: 2 on one core, then 3 s on two, then 1 s on four.
	e := newEngine(t, Options{}, FullRequest(3*time.Second, 4))
	must(t, e.Start(0, cores(1)))
	until(t, e, 2*time.Second, 2*time.Second)
	must(t, e.Resize(0, cores(2)))
	until(t, e, 5*time.Second, 5*time.Second)
	must(t, e.Resize(0, cores(4)))
	until(t, e, scheduler.Never, 6*time.Second, 0)
}

func TestOverheadsCostTheJob(t *testing.T) {
	o := Options{Overheads: Overheads{Start: 1 * time.Second, Pause: 10 * time.Second, Resume: 100 * time.Second,
		Resize: 1000 * time.Second}}
	e := newEngine(t, o, FullRequest(4*time.Second, 2))
	must(t, e.Start(0, cores(2))) // 1 + 4
	until(t, e, 2*time.Second, 2*time.Second)
	must(t, e.Pause(0)) // 3 left, + 10
	must(t, e.Resume(0, cores(2)))
	must(t, e.Resize(0, cores(1))) // 3 twice as long
	until(t, e, scheduler.Never, (2+10+100+1000+6)*time.Second, 0)
}

// Noise has mean 1 and the given relative standard deviation. It depends on the job's name and the seed, and affects
// only the run time.
func TestNoise(t *testing.T) {
	const n, sd = 20000, 0.3
	sum, squares := 0.0, 0.0
	for i := range n {
		f := noise(Options{Noise: sd, Seed: int64(i)}, "job")
		sum += f
		squares += f * f
	}
	mean := sum / n
	if got := math.Sqrt(squares/n - mean*mean); math.Abs(mean-1) > 0.01 || math.Abs(got-sd) > 0.01 {
		t.Errorf("mean %.4f, standard deviation %.4f", mean, got)
	}
	end := func(seed int64) time.Duration {
		e := newEngine(t, Options{Noise: sd, Seed: seed}, FullRequest(time.Hour, 1))
		must(t, e.Start(0, cores(1)))
		now, _, err := e.Next(context.Background(), scheduler.Never)
		must(t, err)
		return now
	}
	first, again, other := end(1), end(1), end(2)
	if first != again || first == other || first == time.Hour {
		t.Error("the noise is not that of the seed")
	}
}

func TestJobsThatEndTogetherComeByNumber(t *testing.T) {
	e := newEngine(t, Options{}, FullRequest(time.Second, 1), Scaling{}, FullRequest(time.Second, 1))
	for _, j := range []int{2, 1, 0} {
		must(t, e.Start(j, cores(1)))
	}
	until(t, e, scheduler.Never, 0, 1)
	until(t, e, time.Second, time.Second, 0, 2)
}

func TestStop(t *testing.T) {
	e := newEngine(t, Options{}, FullRequest(time.Second, 1), FullRequest(time.Second, 1), FullRequest(time.Second, 1))
	must(t, e.Start(1, cores(1)))
	must(t, e.Start(0, cores(1)))
	must(t, e.Pause(1))
	for _, j := range []int{1, 0, 2} { // job 2 has not started
		must(t, e.Stop(j))
	}
	_, ended, err := e.Next(context.Background(), scheduler.Never)
	must(t, err)
	if len(ended) != 2 || ended[0].Job != 0 || ended[1].Job != 1 || ended[0].State != scheduler.Stopped {
		t.Errorf("%+v", ended)
	}
	if _, _, err := e.Next(context.Background(), scheduler.Never); err == nil {
		t.Error("there is nothing left to wait for")
	}
}

func TestWhatItIsToldToLack(t *testing.T) {
	e := newEngine(t, Options{Lacks: scheduler.Capabilities{Pause: true, Resize: true, GPUs: true, Migrate: true}},
		FullRequest(time.Second, 1), Scaling{})
	if e.Capabilities() != (scheduler.Capabilities{Memory: true}) {
		t.Errorf("%+v", e.Capabilities())
	}
	must(t, e.Start(0, cores(1)))
	g := cores(1)
	g.GPUs = scheduler.CoreSet{{Lo: 0, Hi: 1}}
	for _, err := range []error{e.Pause(0), e.Resize(0, cores(1)), e.Start(1, g)} {
		if !errors.Is(err, ErrLacking) {
			t.Errorf("error %v", err)
		}
	}
}

func TestMisuse(t *testing.T) {
	e := newEngine(t, Options{}, FullRequest(time.Second, 1))
	for want, f := range map[string]func() error{
		"number 1":    func() error { return e.Start(1, cores(1)) },
		"number -1":   func() error { return e.Stop(-1) },
		"not started": func() error { return e.Pause(0) },
		"no cores":    func() error { return e.Start(0, scheduler.Grant{}) },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
	jobs := []scheduler.Job{{Name: "a"}}
	for _, c := range []struct {
		work []Scaling
		o    Options
	}{
		{nil, Options{}},
		{[]Scaling{{Scaled: -1}}, Options{}},
		{[]Scaling{{Parallel: 1.1}}, Options{}},
		{[]Scaling{{Parallel: math.NaN()}}, Options{}},
		{[]Scaling{{Threads: -1}}, Options{}},
		{[]Scaling{{}}, Options{Noise: math.Inf(1)}},
		{[]Scaling{{}}, Options{Overheads: Overheads{Resume: -1}}},
	} {
		if _, err := New(jobs, c.work, c.o); err == nil {
			t.Errorf("%+v %+v is accepted", c.work, c.o)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := e.Next(ctx, time.Second); !errors.Is(err, context.Canceled) || e.Now() != 0 {
		t.Errorf("error %v at %s", err, e.Now())
	}
}

// A job with alternatives takes the run time of the alternative with which it starts, with the same noise for all. The
// work that the caller passed does not change.
func TestAlternatives(t *testing.T) {
	ways := []Scaling{FullRequest(8*time.Second, 2), {Fixed: time.Second, Scaled: time.Second, Threads: 1, Parallel: 1}}
	each := &Special{Alternatives: ways}
	work := []Scaling{{Special: each}, {Special: each}, {Special: each}}
	for _, noise := range []float64{0, 0.3} {
		e := newEngine(t, Options{Noise: noise, Seed: 4}, work...)
		for job, alternative := range []int{0, 1} {
			g := cores(2 - alternative)
			g.Alternative = alternative
			must(t, e.Start(job, g))
		}
		for _, job := range []int{1, 0} {
			want := time.Duration(float64([]time.Duration{8 * time.Second, 2 * time.Second}[job]) * Options{Noise: noise,
				Seed: 4}.Factor(string(rune('a'+job))))
			_, ended, err := e.Next(context.Background(), scheduler.Never)
			must(t, err)
			if len(ended) != 1 || ended[0].Job != job || (ended[0].At-want).Abs() > 2 {
				t.Errorf("%+v, want job %d at %s", ended, job, want)
			}
		}
		g := cores(1)
		g.Alternative = 2
		if err := e.Start(2, g); err == nil {
			t.Error("an alternative that does not exist was started")
		}
	}
	if len(work[0].Alternatives()) != 2 || work[0].Scaled != 0 {
		t.Error("the engine has changed the work that it was given")
	}
	work[0].Special = &Special{Alternatives: []Scaling{{Scaled: -1}}}
	if _, err := New([]scheduler.Job{{Name: "a"}}, work[:1], Options{}); err == nil {
		t.Error("a negative run time of an alternative was accepted")
	}
}

// TestLeftIsAlikeInAllAlternatives checks that the remaining work of a job is measured as its time in the first
// alternative. There it takes 10 s. In the second, 8 of 40 s are a fifth, so 8 of 10 s
// remain. Then 3 s in the first alternative leave 5 s.
func TestLeftIsAlikeInAllAlternatives(t *testing.T) {
	e := newEngine(t, Options{}, Scaling{Special: &Special{
		Alternatives: []Scaling{FullRequest(10*second, 1), FullRequest(40*second, 1)}}})
	left := func(want float64) {
		t.Helper()
		if got := e.RemainingWork(); math.Abs(got-want) > 1e-6 {
			t.Errorf("at %s %g s are left, want %g", e.Now(), got, want)
		}
	}
	slow := cores(1)
	slow.Alternative = 1
	must(t, e.Start(0, slow))
	until(t, e, 8*second, 8*second)
	left(8)
	must(t, e.Pause(0))
	left(8)
	must(t, e.Resume(0, cores(1)))
	left(8)
	until(t, e, 11*second, 11*second)
	left(5)
	must(t, e.Pause(0))
	must(t, e.Resume(0, slow))
	left(5)
}
