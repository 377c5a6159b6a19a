package launch

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// suspending returns an engine whose programs end when they are paused. Its first job has begun on the first core.
func suspending(t *testing.T, names ...string) *bench {
	t.Helper()
	var jobs []Job
	for _, name := range names {
		jobs = append(jobs, Job{Name: name})
	}
	b := newBench(jobs, JobsOptions{Cluster: two, Grace: 10 * time.Second, Suspends: true})
	if err := b.Start(0, on(0)); err != nil {
		t.Fatal(err)
	}
	return b
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A paused job is asked to end and starts again on another node. Both runs are one attempt, whose service time
// continues.
func TestASuspendedJobGoesOnElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := suspending(t, "a")
		defer b.Close()
		b.polite = true
		if nodes, _ := b.Migrates(); !nodes {
			t.Fatal("it cannot migrate")
		}
		time.Sleep(3 * time.Second)
		must(t, b.Pause(0))
		time.Sleep(5 * time.Second)
		if _, news, err := b.Next(context.Background(), b.Now()); err != nil || len(news) > 0 {
			t.Fatalf("a pause gave the notices %v, %v", news, err)
		}
		must(t, b.Migrate(0, on(1)))
		time.Sleep(2 * time.Second)
		again := b.begun[1]
		if told := b.done(b.begun[0]); !slices.Equal(told, []string{"ask"}) || len(b.begun) != 2 || b.Part(again).Node != 1 {
			t.Errorf("the first program: %v; %d were started, the last on node %d", told, len(b.begun), b.Part(again).Node)
		}
		if again.Before != 3*time.Second || b.Used(0) != 5*time.Second {
			t.Errorf("service time %s at the second start and %s now, want 3s and 5s", again.Before, b.Used(0))
		}
		again.end <- Fate{Finished: true}
		if n := b.next(t); n.State != scheduler.Finished || n.Job != 0 {
			t.Errorf("%+v", n)
		}
		if used, done := b.Usage(0); !done || used.Service != 5*time.Second {
			t.Errorf("%+v, %v", used, done)
		}
	})
}

// A program that exits with status 0 when it is paused has finished by the job contract. A warning says so, since it may
// have work left.
func TestAProgramThatFinishesAtItsPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var codes []string
		b := newBench([]Job{{Name: "a"}}, JobsOptions{Cluster: two, Grace: 10 * time.Second, Suspends: true,
			Warn: func(_ int, code, _ string) { codes = append(codes, code) }})
		defer b.Close()
		must(t, b.Start(0, on(0)))
		must(t, b.Pause(0))
		b.begun[0].end <- Fate{Finished: true}
		if n := b.next(t); n.State != scheduler.Finished || !slices.Equal(codes, []string{pausedCode}) {
			t.Errorf("%+v with the warnings %q", n, codes)
		}
	})
}

// The resources of a suspended job become free when its programs have saved their work. Another job waits for that, but
// only if it needs the same core, and no longer than the grace period.
func TestOthersWaitForASuspendedJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := suspending(t, "a", "b", "c")
		defer b.Close()
		must(t, b.Pause(0))
		must(t, b.Start(1, on(1)))
		if b.Now() != 0 {
			t.Errorf("a job on another core began at %s", b.Now())
		}
		time.AfterFunc(4*time.Second, func() { b.begun[0].end <- Fate{Why: "exit status 143"} })
		must(t, b.Start(2, on(0)))
		if b.Now() != 4*time.Second {
			t.Errorf("a job on the same core began at %s, want 4s", b.Now())
		}
		must(t, b.Pause(1))
		must(t, b.Resume(0, on(1))) // the program of the other job does not end by itself
		if b.Now() != 14*time.Second {
			t.Errorf("it went on at %s, want 14s: after the grace", b.Now())
		}
		if told := b.done(b.begun[1]); !slices.Equal(told, []string{"ask", "kill"}) {
			t.Error(told)
		}
	})
}

// A job that finishes although it was asked to save its work has finished. It does not resume.
func TestASuspendedJobMayFinish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := suspending(t, "a")
		defer b.Close()
		must(t, b.Pause(0))
		b.begun[0].end <- Fate{Finished: true}
		if n := b.next(t); n.State != scheduler.Finished {
			t.Errorf("%+v", n)
		}
		must(t, b.Resume(0, on(0)))
		if len(b.begun) != 1 {
			t.Error("it was started again")
		}
	})
}

// A suspended job that is stopped ends, whether its programs have ended or not.
func TestASuspendedJobIsStopped(t *testing.T) {
	for _, gone := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := suspending(t, "a")
			defer b.Close()
			must(t, b.Pause(0))
			leave := func() { b.begun[0].end <- Fate{Why: "exit status 143"} }
			if gone {
				leave()
				synctest.Wait()
			}
			must(t, b.Stop(0))
			if !gone {
				leave()
			}
			if n := b.next(t); n.State != scheduler.Stopped || n.Reason != "stopped" {
				t.Errorf("%+v", n)
			}
		})
	}
}
