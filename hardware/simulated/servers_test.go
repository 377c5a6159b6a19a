package simulated

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// script is a fleet that gives prepared notices.
type script []scheduler.Notice

func (s *script) Acquire(int, time.Duration) *scheduler.Server { return nil }
func (s *script) Release(int)                                  {}
func (s *script) From(int, time.Duration) time.Duration        { return scheduler.Never }
func (s *script) Between([]int) time.Duration                  { return scheduler.Never }
func (s *script) Next() time.Duration {
	if len(*s) == 0 {
		return scheduler.Never
	}
	return (*s)[0].At
}

func (s *script) Take(now time.Duration, news []scheduler.Notice) []scheduler.Notice {
	for len(*s) > 0 && (*s)[0].At <= now {
		news, *s = append(news, (*s)[0]), (*s)[1:]
	}
	return news
}

// TestWarnedPartsHaveTheJobSave checks that a job saves its work at a warning if it has time and unsaved work. If the
// warned part is the job's lead, the attempt ends.
func TestWarnedPartsHaveTheJobSave(t *testing.T) {
	roles := []scheduler.Role{{Name: "chief", Count: 1, Threads: 1}, {Name: "worker", Count: 1, Threads: 1, Elastic: true}}
	core := func(n int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: n, Hi: n + 1}} }
	grant := scheduler.Grant{Cores: scheduler.CoreSet{{Lo: 0, Hi: 2}}, Layout: &cluster.Layout{Parts: []scheduler.Part{
		{Node: 0, Role: "chief", Cores: core(0)}, {Node: 1, Role: "worker", Cores: core(1)}}}}
	for _, c := range []struct {
		name           string
		node           int
		at, time, lead time.Duration
		done, kept     time.Duration // at 30 s
		over           bool
	}{
		{"a worker", 1, 10 * second, 5 * second, 0, 28 * second, 10 * second, false},
		{"a worker, just in time", 1, 10 * second, 2 * second, 0, 28 * second, 10 * second, false},
		{"a worker, too late", 1, 10 * second, 2*second - 1, 0, 30 * second, 0, false},
		{"a worker that starts", 1, 10 * second, 5 * second, 15 * second, 15 * second, 0, false},
		{"a worker at once", 1, 0, 5 * second, 0, 30 * second, 0, false},
		{"the chief", 0, 10 * second, 5 * second, 0, 0, 0, true},
		{"the chief, too late", 0, 10 * second, second, 0, 30 * second, 0, false},
	} {
		jobs := []scheduler.Job{{Name: "a", Threads: 2, Special: &scheduler.Special{Roles: roles}}}
		e, err := New(jobs, []Scaling{FullRequest(100*second, 2)}, Options{
			Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 1}, {Threads: 1}}}, Overheads: Overheads{Start: c.lead},
			Fleet:       &script{{Kind: scheduler.NodeWarned, At: c.at, Node: c.node, Until: c.at + c.time}},
			Checkpoints: []*Checkpoint{{Every: 60 * second, Cost: 2 * second}},
		})
		must(t, err)
		must(t, e.Start(0, grant))
		var news []scheduler.Notice
		for e.Now() < 30*second {
			_, more, err := e.Next(t.Context(), 30*second)
			must(t, err)
			news = append(news, more...)
			if len(more) > 0 && more[0].Kind == scheduler.JobEnded {
				break
			}
		}
		last := news[0]
		if c.over != (last.Kind == scheduler.JobEnded) {
			t.Errorf("%s: %+v", c.name, news)
			continue
		}
		if c.over {
			if !last.Revoked || last.At != c.at || last.Attempt.Kept != 10*second || last.Attempt.Done != 10*second {
				t.Errorf("%s: %+v, %+v", c.name, last, last.Attempt)
			}
			continue
		}
		if a, err := e.Revoke(0); err != nil || a.Done != c.done || a.Kept != c.kept {
			t.Errorf("%s: %+v, %v; want %s done and %s kept", c.name, a, err, c.done, c.kept)
		}
	}
}

// TestEndedJobsLeaveTheirNodes checks that a warning does not affect a job that has ended.
func TestEndedJobsLeaveTheirNodes(t *testing.T) {
	jobs := []scheduler.Job{{Name: "a", Threads: 1}}
	e, err := New(jobs, []Scaling{FullRequest(10*second, 1)}, Options{
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 1}}}, Checkpoints: []*Checkpoint{{Every: 60 * second}},
		Fleet: &script{{Kind: scheduler.NodeWarned, At: 20 * second, Until: 30 * second}},
	})
	must(t, err)
	must(t, e.Start(0, cores(1)))
	until(t, e, scheduler.Never, 10*second, 0)
	if len(e.onNode[0]) != 0 {
		t.Errorf("on the node are %v", e.onNode[0])
	}
	if _, news, err := e.Next(t.Context(), scheduler.Never); err != nil || len(news) != 1 || news[0].Kind != scheduler.NodeWarned {
		t.Errorf("%+v, %v", news, err)
	}
}

// TestLeftIsWhatIsLeft: RemainingWork is the sum over all started jobs, and decreases while they run.
func TestLeftIsWhatIsLeft(t *testing.T) {
	e := newEngine(t, Options{Overheads: Overheads{Start: second}}, FullRequest(10*second, 1), FullRequest(20*second, 2), FullRequest(5*second, 1))
	left := func(want float64) {
		t.Helper()
		if got := e.RemainingWork(); got < want-1e-6 || got > want+1e-6 {
			t.Errorf("at %s %g s are left, want %g", e.Now(), got, want)
		}
	}
	left(0)
	must(t, e.Start(0, cores(1)))
	must(t, e.Start(1, cores(1))) // at half speed
	left(11 + 21)                 // in times on the full request
	until(t, e, 3*second, 3*second)
	left(8 + 18 + 1)
	must(t, e.Pause(0))
	until(t, e, 5*second, 5*second)
	left(8 + 18)
}

// stages is a course whose stages take the listed times on one core, and half of them on two.
type stages struct {
	left    []time.Duration
	cores   int
	advance time.Duration
}

func (s *stages) Hold(g scheduler.Grant)           { s.cores = g.Cores.Count() }
func (s *stages) Left(time.Duration) time.Duration { return s.left[0] / time.Duration(s.cores) }
func (s *stages) Remaining(passed time.Duration) time.Duration {
	sum := -passed * time.Duration(s.cores)
	for _, d := range s.left {
		sum += d
	}
	return sum
}

func (s *stages) Advance(d time.Duration) {
	s.left[0] -= d * time.Duration(s.cores)
	s.advance += d
}

func (s *stages) Next() bool {
	s.left = s.left[1:]
	return len(s.left) > 0
}

// TestCourses: a job with a course runs its stages in order, also after pauses and resizes. An engine does not accept a
// course together with noise, checkpoints, contention or rented servers.
func TestCourses(t *testing.T) {
	course := &stages{left: []time.Duration{4 * second, 6 * second, 10 * second}}
	begin := FullRequest(time.Hour, 1)
	begin.Special = &Special{Begin: func() Course { return course }}
	e := newEngine(t, Options{}, begin)
	must(t, e.Start(0, cores(1)))
	until(t, e, 5*second, 5*second)
	if got := e.RemainingWork(); got != 15 {
		t.Errorf("after 5 s of 20 %g s are left", got)
	}
	until(t, e, 6*second, 6*second)
	must(t, e.Pause(0))
	until(t, e, 9*second, 9*second)
	must(t, e.Resume(0, cores(1)))
	until(t, e, 10*second, 10*second) // 7 s are done
	must(t, e.Resize(0, cores(2)))
	until(t, e, scheduler.Never, 16500*time.Millisecond, 0)
	for name, o := range map[string]Options{
		"noise": {Noise: 0.1}, "checkpoints": {Checkpoints: []*Checkpoint{{Every: second}}},
		"contention": {Contention: &Contention{Slowdown: func(_, _, _ int) float64 { return 1 }, Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 2}}}}},
		"servers":    {Fleet: &script{}, Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 2}}}},
	} {
		e, err := New([]scheduler.Job{{Name: "a", Threads: 1}}, []Scaling{begin}, o)
		if err == nil {
			err = e.Start(0, cores(1))
		}
		if err == nil {
			t.Errorf("a course goes with %s", name)
		}
	}
}
