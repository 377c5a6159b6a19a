package launch

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/control"
)

// TestNoAttempt ends an attempt that never began.
func TestNoAttempt(*testing.T) {
	var none *ProgressAttempt
	none.End(true)
}

// TestFollowedJobs checks that each report of a job with a controller is a notice, with the changes of the program's
// settings since the last one.
func TestFollowedJobs(t *testing.T) {
	var now time.Duration
	b := NewProgressBoard(func() time.Duration { return now }, make(chan struct{}, 1), nil, nil)
	b.Attend([]bool{false, true})
	if b.Follow(0, &Job{}).Output() != nil || b.Follow(2, &Job{}).Output() != nil {
		t.Error("the output of other jobs is looked at")
	}
	read := b.Follow(1, &Job{}).Output()
	now = time.Second
	read([]byte(`{"tfexp":{"changed":{"settings":{"rate":0.5,"batch":32}}}}
{"tfexp":{"refused":"depth","reason":"too deep"}}
{"tfexp":{"epoch":1,"step":3,"loss":0.5,"seconds":2}}
{"tfexp":{"epoch":2,"accuracy":0.75}}
`))
	if !b.Ready() {
		t.Error("not ready after a report")
	}
	nan := math.NaN()
	want := []scheduler.Notice{
		{Kind: scheduler.JobProgress, Job: 1, At: now, Progress: &control.Progress{Epoch: 1, Step: 3, Loss: .5, Accuracy: nan,
			Seconds: 2, Took: []control.Setting{{Name: "batch", Value: "32"}, {Name: "rate", Value: "0.5"}},
			Refused: []control.Setting{{Name: "depth", Value: "too deep"}}}},
		{Kind: scheduler.JobProgress, Job: 1, At: now, Progress: &control.Progress{Epoch: 2, Loss: nan, Accuracy: .75,
			Seconds: nan}},
	}
	same := cmp.Comparer(func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) })
	if diff := cmp.Diff(want, b.reports(), same); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAwait checks which events end a wait, and the reports that it returns.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		zero, wake := time.Now(), make(chan struct{}, 1)
		b := NewProgressBoard(func() time.Duration { return time.Since(zero) }, wake, nil, nil)
		b.Watch([]int{8})
		var mu sync.Mutex // guards the fields below
		var ended []scheduler.Notice
		alive := 1
		take := func() (time.Duration, []scheduler.Notice, int) {
			mu.Lock()
			defer mu.Unlock()
			list := ended
			ended = nil
			return time.Since(zero), list, alive
		}
		await := func(until, want time.Duration, news int) {
			t.Helper()
			now, list, err := b.Await(t.Context(), until, take)
			if err != nil || now != want || len(list) != news {
				t.Errorf("it waited until %s, for %v, %v; want until %s, for %d news", now, list, err, want, news)
			}
		}
		await(time.Second, time.Second, 0)
		await(time.Second, time.Second, 0) // returns at once
		time.AfterFunc(time.Second, func() {
			mu.Lock()
			defer mu.Unlock()
			ended = []scheduler.Notice{{Kind: scheduler.JobEnded, At: time.Since(zero)}}
			wake <- struct{}{}
		})
		await(scheduler.Never, 2*time.Second, 1)
		read := b.Follow(0, &Job{}).Output()
		time.AfterFunc(time.Second, func() { read([]byte("{\"tfexp\":{\"epoch\":2}}\n")) })
		await(time.Hour, 3*time.Second, 1)
		synctest.Wait()                             // the line is read to its end
		read([]byte("{\"tfexp\":{\"epoch\":3}}\n")) // not a doubling, so nothing wakes up
		await(4*time.Second, 4*time.Second, 1)
		alive = 0
		if _, _, err := b.Await(t.Context(), scheduler.Never, take); err == nil {
			t.Error("it waits without end for nobody")
		}
		await(5*time.Second, 5*time.Second, 0)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if now, _, err := b.Await(ctx, time.Hour, take); !errors.Is(err, context.Canceled) || now != 6*time.Second {
			t.Errorf("after an interruption: %s, %v", now, err)
		}
		ended = make([]scheduler.Notice, 1)
		if _, list, err := b.Await(ctx, time.Hour, take); err != nil || len(list) != 1 {
			t.Errorf("a job has ended before the interruption: %v, %v", list, err)
		}
	})
}

// TestSaves checks that the seconds that a program reports are added up over an attempt. An attempt that resumes from a
// checkpoint begins when the program says so, or with its first report.
func TestSaves(t *testing.T) {
	const s = time.Second
	saved := `{"tfexp":{"checkpoint":{"step":5,"seconds":0.5}}}` + "\n"
	resumed := `{"tfexp":{"resumed":{"step":5,"lost_steps":2,"lost_seconds":1.5,"seconds":0.25}}}` + "\n"
	report := `{"tfexp":{"epoch":1}}` + "\n"
	says := func(of *CheckpointSaves, now time.Duration, text string) {
		of.Listen(nil, func() time.Duration { return now })([]byte(text))
	}
	check := func(of *CheckpointSaves, ran time.Duration, want scheduler.Attempt) {
		t.Helper()
		want.Ran = ran
		if got := of.Attempt(ran); got != want {
			t.Errorf("after %s: %+v, want %+v", ran, got, want)
		}
	}
	var first, second, third, again CheckpointSaves
	check(&first, s, scheduler.Attempt{})
	says(&first, 2*s, report+saved)
	says(&first, 3*s, saved)
	check(&first, 4*s, scheduler.Attempt{Checkpoints: s, Saved: 3 * s})
	check(&first, 2*s, scheduler.Attempt{Checkpoints: s, Saved: 2 * s}) // not more than its run time
	again.GoOn(&first)
	check(&again, 5*s, scheduler.Attempt{Checkpoints: s, Saved: 3 * s})

	second.After(&first)
	check(&second, 2*s, scheduler.Attempt{Began: 2 * s}) // restoring took all of the time
	says(&second, s, resumed)
	check(&second, 4*s, scheduler.Attempt{Redone: 3 * s / 2, Restore: s / 4, Began: s})
	says(&second, 2*s, resumed)
	check(&second, 4*s, scheduler.Attempt{Redone: 3 * s, Restore: s / 2, Began: 2 * s})
	third.After(&second)
	says(&third, s, report)
	check(&third, 4*s, scheduler.Attempt{})
	var fresh, after CheckpointSaves
	after.After(&fresh)
	check(&after, s, scheduler.Attempt{})
	var passed []byte
	fresh.Listen(func(b []byte) { passed = append(passed, b...) }, nil)([]byte("text\n"))
	if string(passed) != "text\n" {
		t.Errorf("passed on is %q", passed)
	}
}

// TestMet reads the kernel's tables of connections.
func TestMet(t *testing.T) {
	const head = "  sl  local_address rem_address   st tx_queue\n"
	c := contract.Cluster{"ps": {"127.0.0.1:8080"}, "worker": {"[::1]:9000", "nonsense", "host:port"}}
	for name, table := range map[string]struct {
		tcp, tcp6  string
		met, known bool
	}{
		"no tables":    {"", "", false, false},
		"nobody":       {head, head, false, true},
		"listens":      {head + "   0: 0100007F:1F90 00000000:0000 0A\n", "", true, true},
		"connected":    {head + "   0: 0100007F:0001 0100007F:1F90 01\n", "", true, true},
		"other ports":  {head + "   0: 0100007F:1F91 0100007F:0050 01\n", head, false, true},
		"by version 6": {head, head + "   0: 0000:2328 00000000:0000 0A\n", true, true},
		"no addresses": {head + "   0: 0100007F:1F90\n", "", false, true},
	} {
		dir := t.TempDir()
		for file, text := range map[string]string{"tcp": table.tcp, "tcp6": table.tcp6} {
			if text == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if met, known := ClusterConnected(c, dir); met != table.met || known != table.known {
			t.Errorf("%s: met %v, known %v", name, met, known)
		}
	}
}

// TestPartsThatIgnoreTheirRoles checks the warnings at the line of the job: for parts that never connect to each other,
// and for parts other than the chief that report progress. There is no warning if the parts connect, in unknown cases,
// or if the job failed.
func TestPartsThatIgnoreTheirRoles(t *testing.T) {
	const alone = "ignored_role: shop.hcl line 12: none of its parts ever listened"
	for name, c := range map[string]struct {
		met      func(look int) (met, known bool)
		finished bool
		last     bool
		want     string
	}{
		"never":             {func(int) (bool, bool) { return false, true }, true, false, alone},
		"of one that fails": {func(int) (bool, bool) { return false, true }, false, false, ""},
		"late":              {func(look int) (bool, bool) { return look == 5, true }, true, false, ""},
		"at the last look":  {func(look int) (bool, bool) { return look == 3, true }, true, true, ""},
		"unknown":           {func(int) (bool, bool) { return false, false }, true, false, ""},
		"known once":        {func(look int) (bool, bool) { return false, look == 2 }, true, false, alone},
	} {
		synctest.Test(t, func(t *testing.T) {
			warned := ""
			b := NewProgressBoard(nil, nil, nil, func(_ int, code, text string) { warned += code + ": " + text })
			a := b.Follow(0, &Job{Place: "shop.hcl line 12"})
			looks := 0
			a.Meet(func() (bool, bool) { looks++; return c.met(looks) })
			if c.last {
				time.Sleep(25 * time.Millisecond) // after two samples, at 0 and 10 ms
				synctest.Wait()
				a.Last()
			} else {
				time.Sleep(10 * time.Second)
			}
			a.End(c.finished)
			if !strings.HasPrefix(warned, c.want) || c.want == "" && warned != "" {
				t.Errorf("%s: warned %q, want %q", name, warned, c.want)
			}
			if looks > 20 {
				t.Errorf("%s: %d looks in 10 s", name, looks)
			}
		})
	}
	warned := ""
	b := NewProgressBoard(nil, nil, nil, func(_ int, code, text string) { warned += code + ": " + text + "\n" })
	a := b.Follow(0, &Job{})
	read := a.OfPart("worker-1")
	read([]byte("text\n"))
	if warned != "" {
		t.Errorf("warned of %q", warned)
	}
	read([]byte("{\"tfexp\":{\"epoch\":1}}\n{\"tfexp\":{\"epoch\":2}}\n"))
	read([]byte("{\"tfexp\":{\"epoch\":3}}\n"))
	if strings.Count(warned, "\n") != 1 || !strings.HasPrefix(warned, "ignored_role: its part worker-1 reports progress") {
		t.Errorf("warned of %q, want it once", warned)
	}
	quiet := NewProgressBoard(nil, nil, nil, nil).Follow(0, &Job{})
	quiet.Meet(func() (bool, bool) { t.Error("it looks though nobody wants to know"); return true, true })
	quiet.Last()
	quiet.End(true)
	if quiet.OfPart("ps-0") != nil {
		t.Error("output is looked at though nobody wants to know")
	}
}
