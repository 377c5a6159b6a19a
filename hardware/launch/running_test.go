package launch

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// fake is a program that ends when the test says so or when it is killed.
type fake struct {
	JobState
	end  chan Fate
	told []string // the calls that the program received
}

// bench is an engine whose programs are fakes. It records the calls.
type bench struct {
	*Jobs[*fake]
	mu     sync.Mutex
	begun  []*fake
	seen   []func([]byte)
	polite bool // whether programs end when they are asked to
}

func newBench(jobs []Job, opts JobsOptions) *bench {
	b := &bench{}
	opts.Closed = errors.New("closed")
	b.Jobs = NewJobs(jobs, ProgramHands[*fake](b), opts)
	return b
}

func (b *bench) Begin(s JobState, _ scheduler.Part, _ bool, seen func([]byte), _ func(string)) (*fake, error) {
	p := &fake{JobState: s, end: make(chan Fate, 9)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun, b.seen = append(b.begun, p), append(b.seen, seen)
	return p, nil
}

func (b *bench) Discard(*fake) {}

func (b *bench) Attend(p *fake) {
	f := <-p.end
	f.At = time.Now()
	b.Exited(p, f.At, f.Finished)
	b.Ended(p, f, func(string) {})
}

func (b *bench) Addresses(_ int, parts []scheduler.Part, _ contract.Cluster) (contract.Cluster, error) {
	return Addresses("127.0.0.1", parts)
}

func (b *bench) note(programs []*fake, what string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range programs {
		p.told = append(p.told, what)
	}
	return nil
}

func (b *bench) Hold(programs []*fake) error                { return b.note(programs, "hold") }
func (b *bench) GoOn(programs []*fake) error                { return b.note(programs, "go on") }
func (b *bench) Bind(p *fake, _ scheduler.Part) error       { return b.note([]*fake{p}, "bind") }
func (b *bench) Write(p *fake, _ []byte, _ time.Time) error { return b.note([]*fake{p}, "write") }
func (b *bench) Ask(programs []*fake, _ bool) {
	b.note(programs, "ask")
	if b.polite {
		for _, p := range programs {
			p.end <- Fate{Why: "exit status 1"}
		}
	}
}
func (b *bench) Kill(programs []*fake) {
	b.note(programs, "kill")
	for _, p := range programs {
		p.end <- Fate{Why: "killed by signal 9 (killed)"}
	}
}

// done returns the calls that a program received since the last call of done.
func (b *bench) done(p *fake) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(p.told)
}

func (b *bench) next(t *testing.T) scheduler.Notice {
	t.Helper()
	_, news, err := b.Next(context.Background(), scheduler.Never)
	if err != nil || len(news) != 1 {
		t.Fatal(news, err)
	}
	return news[0]
}

// on returns a grant of one core on a node.
func on(node int) scheduler.Grant {
	return scheduler.Grant{Cores: scheduler.CoreSet{{Lo: int32(node), Hi: int32(node) + 1}}}
}

var two = scheduler.Cluster{Nodes: []scheduler.Node{{Name: "a", Threads: 1}, {Name: "b", Threads: 1}}}

// A program that continues after its budget is used up is asked to end. It is killed after the grace period. The time
// of a pause does not count.
func TestTheLimitOfAnAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := 10 * time.Second
		b := newBench([]Job{{Name: "a", Budget: &budget}}, JobsOptions{Cluster: two, Grace: time.Second})
		if err := b.Start(0, on(0)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		b.Pause(0)
		time.Sleep(time.Hour)
		b.Resume(0, on(1))
		end := b.next(t)
		if at := time.Hour + budget + EvaluationGrace(budget) + time.Second; end.At != at || end.State != scheduler.Failed ||
			end.Reason != "still running 11s after its budget of 10s (it must end when its time_left is 0)" {
			t.Errorf("%+v, want it at %s", end, at)
		}
		want := []string{"write", "hold", "bind", "write", "go on", "ask", "kill"} // "write": the time left
		if got := b.done(b.begun[0]); !slices.Equal(got, want) {
			t.Errorf("done to it: %q, want %q", got, want)
		}
		if used := b.Used(0); used != budget+EvaluationGrace(budget)+time.Second {
			t.Errorf("it has used %s", used)
		}
	})
}

// The programs on a node are informed of a warning and asked to end. They are killed at the loss and not before,
// because a warning may be longer than the grace period. A job that is stopped in the meantime has only the grace
// period.
func TestWarnings(t *testing.T) {
	for _, stopped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench([]Job{{Name: "a"}}, JobsOptions{Cluster: two, Grace: time.Second, Saves: true})
			if err := b.Start(0, on(1)); err != nil {
				t.Fatal(err)
			}
			b.Warn(0, time.Minute) // another node
			b.Warn(1, time.Minute)
			p := b.begun[0]
			synctest.Wait()
			if got := b.done(p); !slices.Equal(got, []string{"write", "ask"}) {
				t.Fatalf("at the warning: %q", got)
			}
			if stopped {
				b.Stop(0)
				if end := b.next(t); end.State != scheduler.Stopped || end.At != time.Second {
					t.Error(end)
				}
				return
			}
			b.seen[0]([]byte(`{"tfexp":{"checkpoint":{"step":7,"seconds":0.5}}}` + "\n"))
			time.Sleep(59 * time.Second)
			if got := b.done(p); len(got) != 2 {
				t.Fatalf("before the loss: %q", got)
			}
			b.Take(1)
			if !b.Gone(p) || b.Now() > time.Minute {
				t.Errorf("killed at %s, gone %t", b.Now(), b.Gone(p))
			}
			a, err := b.Revoke(0)
			if want := (scheduler.Attempt{Checkpoints: time.Second / 2, Ran: 59 * time.Second}); err != nil || a != want {
				t.Errorf("%+v, %v, want %+v", a, err, want)
			}
		})
	}
}

// An attempt reports when its program resumed from a checkpoint and when it saved its work. No work counts before it
// has resumed.
func TestWhatAnAttemptSaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench([]Job{{Name: "a"}}, JobsOptions{Cluster: two, Saves: true})
		b.polite = true
		b.Start(0, on(0))
		time.Sleep(10 * time.Second)
		b.seen[0]([]byte(`{"tfexp":{"checkpoint":{"step":7,"seconds":0.5}}}` + "\n"))
		time.Sleep(2 * time.Second)
		a, _ := b.Revoke(0)
		if a.Ran != 12*time.Second || a.Saved != 10*time.Second || a.Began != 0 {
			t.Errorf("the first attempt: %+v", a)
		}
		b.Start(0, on(0))
		time.Sleep(3 * time.Second)
		if a := b.Attempt(0); a.Ran != 3*time.Second || a.Began != 3*time.Second {
			t.Errorf("before it goes on: %+v", a)
		}
		b.seen[1]([]byte(`{"tfexp":{"resumed":{"step":7,"lost_steps":1,"lost_seconds":2,"seconds":1.5}}}` + "\n"))
		time.Sleep(4 * time.Second)
		want := scheduler.Attempt{Ran: 7 * time.Second, Began: 3 * time.Second, Redone: 2 * time.Second,
			Restore: 1500 * time.Millisecond}
		if a := b.Attempt(0); a != want {
			t.Errorf("%+v, want %+v", a, want)
		}
		b.Close()
	})
}

// If a part of an elastic role fails, the scheduler decides: the job continues without it, or ends for that part's
// reason. A part that failed before and was not needed is then not the reason.
func TestPartsThatMayBeSpared(t *testing.T) {
	roles := []scheduler.Role{{Name: "worker", Count: 3, Threads: 1, Elastic: true, Min: 2}}
	grant := func(tasks ...int) scheduler.Grant {
		g := scheduler.Grant{Layout: &cluster.Layout{}}
		for _, k := range tasks {
			g.Layout.Parts = append(g.Layout.Parts, scheduler.Part{Role: "worker", Task: k, Cores: on(k).Cores})
		}
		return g
	}
	for _, stopped := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench([]Job{{Name: "a", Roles: roles}}, JobsOptions{Grace: time.Second})
			b.polite = true
			if err := b.Start(0, grant(0, 1, 2)); err != nil {
				t.Fatal(err)
			}
			b.begun[1].end <- Fate{Why: "killed by signal 9 (killed)"}
			if n := b.next(t); n.Kind != scheduler.PartEnded || n.Role != "worker" || n.Task != 1 ||
				n.Reason != "worker-1: killed by signal 9 (killed)" {
				t.Fatalf("%+v", n)
			}
			b.Reshape(0, grant(0, 2))
			want, reason := scheduler.Finished, ""
			if stopped {
				b.begun[2].end <- Fate{Why: "exit status 3"}
				b.next(t)
				b.Stop(0)
				want, reason = scheduler.Failed, "worker-2: exit status 3"
			} else {
				b.begun[0].end <- Fate{Finished: true}
			}
			if end := b.next(t); end.Kind != scheduler.JobEnded || end.State != want || end.Reason != reason {
				t.Errorf("%+v", end)
			}
			b.Close()
		})
	}
}

// A part that joins later gets an address from the engine. The addresses of the other parts do not change.
func TestAPartThatJoinsLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		roles := []scheduler.Role{{Name: "worker", Count: 1, Threads: 1, Elastic: true, Min: 1, Max: 2}}
		b := newBench([]Job{{Name: "a", Roles: roles}}, JobsOptions{Grace: time.Second})
		b.polite = true
		lead := scheduler.Part{Role: "worker", Task: 0, Cores: on(0).Cores}
		later := scheduler.Part{Role: "worker", Task: 1, Cores: on(1).Cores}
		if err := b.Start(0, scheduler.Grant{Layout: &cluster.Layout{Parts: []scheduler.Part{lead}}}); err != nil {
			t.Fatal(err)
		}
		known := addressesOf(t, b.begun[0])
		if err := b.Reshape(0, scheduler.Grant{Layout: &cluster.Layout{Parts: []scheduler.Part{lead, later}}}); err != nil {
			t.Fatal(err)
		}
		all := addressesOf(t, b.begun[1])
		if len(all) != 2 || all[0] != known[0] || all[1] == all[0] || len(b.live[0].parts["worker"]) != 1 {
			t.Errorf("it knows %q; the first part knows %q", all, known)
		}
		b.Close()
	})
}

// addressesOf returns the addresses of the workers that a program gets.
func addressesOf(t *testing.T, p *fake) []string {
	var c contract.Cluster
	for _, entry := range p.Job.Env {
		if text, ok := strings.CutPrefix(entry, contract.EnvCluster+"="); ok {
			if err := json.Unmarshal([]byte(text), &c); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c["worker"]
}

// If the program of a job ends at the warning, its attempt is over at once. The job may start elsewhere before the
// loss.
func TestItLeavesAtTheWarning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench([]Job{{Name: "a"}}, JobsOptions{Cluster: two, Grace: time.Second, Saves: true})
		b.polite = true
		b.Start(0, on(1))
		time.Sleep(3 * time.Second)
		b.Jobs.Warn(1, time.Hour)
		end := b.next(t)
		if !end.Revoked || end.Node != 1 || end.At != 3*time.Second || end.State != scheduler.Stopped ||
			end.Attempt.Ran != 3*time.Second {
			t.Errorf("%+v", end)
		}
		if err := b.Start(0, on(0)); err != nil {
			t.Error(err)
		}
		b.Take(1)
		b.Close()
	})
}
