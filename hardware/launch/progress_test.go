package launch

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// A line with a print time counts from that time, no matter how late it is read. If the clock of the program differs,
// its offset is estimated from the line that arrived fastest.
func TestLinesAreAsOldAsTheySay(t *testing.T) {
	for _, c := range []struct {
		oneClock bool
		ahead    time.Duration // difference of the program's clock from this one
		want     []string
	}{
		{true, 0, []string{"1 1s", "2 2s", "3 3s", "4 4.5s"}},
		{false, -5 * time.Second, []string{"1 1.25s", "2 2.25s", "3 3s", "4 4.5s"}}, // delays beyond the fastest
		{false, time.Hour, []string{"1 1.25s", "2 2.25s", "3 3s", "4 4.5s"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			zero := time.Now()
			var heard []string
			b := NewProgressBoard(func() time.Duration { return time.Since(zero) }, make(chan struct{}, 1),
				func(_ int, at time.Duration, p contract.Progress) {
					heard = append(heard, fmt.Sprintf("%d %s", p.Epoch, at))
				}, nil)
			if c.oneClock {
				b.OneClock()
			}
			read := b.Follow(0, &Job{}).Output()
			for i, late := range []time.Duration{250 * time.Millisecond, 500 * time.Millisecond, 0} {
				time.Sleep(time.Duration(i+1)*time.Second - time.Since(zero))
				at := float64(time.Now().Add(c.ahead).UnixMicro()) / 1e6
				time.Sleep(late)
				read(fmt.Appendf(nil, "{\"tfexp\":{\"epoch\":%d,\"time_left\":1,\"at\":%f}}\n", i+1, at))
			}
			time.Sleep(1500 * time.Millisecond)
			read([]byte("{\"tfexp\":{\"epoch\":4}}\n")) // a line without a print time
			if !slices.Equal(heard, c.want) {
				t.Errorf("one clock %v: heard %q, want %q", c.oneClock, heard, c.want)
			}
		})
	}
}

// If a clock is set while a job runs, tfexp's or the program's, the times of reports do not change.
func TestClocksThatJump(t *testing.T) {
	for _, oneClock := range []bool{false, true} {
		for _, by := range []time.Duration{time.Hour, -time.Hour, 30 * 365 * 24 * time.Hour, -30 * 365 * 24 * time.Hour} {
			synctest.Test(t, func(t *testing.T) {
				zero := time.Now()
				var heard []string
				b := NewProgressBoard(func() time.Duration { return time.Since(zero) }, make(chan struct{}, 1),
					func(_ int, at time.Duration, p contract.Progress) {
						heard = append(heard, fmt.Sprint(p.Epoch, " ", at))
					}, nil)
				if oneClock {
					b.OneClock()
				}
				read := b.Follow(0, &Job{}).Output()
				for epoch := 1; epoch <= 5; epoch++ {
					time.Sleep(time.Second)
					at := time.Now()
					if epoch >= 3 && !oneClock || epoch == 3 { // a single clock was set between print and read
						at = at.Add(by)
					}
					read(fmt.Appendf(nil, "{\"tfexp\":{\"epoch\":%d,\"at\":%f}}\n", epoch, float64(at.UnixMicro())/1e6))
				}
				if want := []string{"1 1s", "2 2s", "3 3s", "4 4s", "5 5s"}; !slices.Equal(heard, want) {
					t.Errorf("one clock %v, by %s: heard %q", oneClock, by, heard)
				}
			})
		}
	}
}

// The output of jobs becomes reports of finished units. Only the latest report of each job counts. The engine wakes up
// at a job's first unit and whenever the number of its units has doubled.
func TestBoard(t *testing.T) {
	var now time.Duration
	wake := make(chan struct{}, 1)
	var heard []string
	b := NewProgressBoard(func() time.Duration { now += time.Second; return now }, wake,
		func(job int, at time.Duration, p contract.Progress) {
			heard = append(heard, fmt.Sprintf("%d %s %d/%d", job, at, p.Epoch, p.Step))
		}, nil)
	b.Watch([]int{4, 100, 0})
	follow := func(job int, steps bool) func([]byte) { return b.Follow(job, &Job{Steps: steps}).Output() }
	epochs, steps, silent := follow(0, false), follow(1, true), follow(2, false)
	line := func(epoch, step int) []byte {
		return fmt.Appendf(nil, "{\"tfexp\":{\"epoch\":%d,\"step\":%d}}\n", epoch, step)
	}
	check := func(ready bool, want ...scheduler.Notice) {
		t.Helper()
		if got := b.Ready(); got != ready || b.Ready() {
			t.Errorf("ready: %v, want %v, once", got, ready)
		}
		select {
		case <-wake:
			if !ready {
				t.Error("woken for nothing")
			}
		default:
			if ready {
				t.Error("not woken")
			}
		}
		if got := b.reports(); !reflect.DeepEqual(got, want) || len(b.reports()) > 0 {
			t.Errorf("reports %v, want %v, once", got, want)
		}
	}
	check(false)
	epochs([]byte("loading\n"))
	silent(line(1, 1)) // at 1 s
	check(false)
	epochs(line(1, 50)) // at 2 s
	check(true, scheduler.Notice{Kind: scheduler.JobProgress, Job: 0, At: 2 * time.Second, Units: 1})
	epochs(line(1, 60)) // at 3 s; no new unit
	steps(line(0, 3))   // at 4 s
	piece := line(0, 4) // at 5 s; not a doubling
	steps(piece[:7])
	steps(piece[7:])
	check(true, scheduler.Notice{Kind: scheduler.JobProgress, Job: 1, At: 5 * time.Second, Units: 4})
	steps([]byte("{\"tfexp\":{\"step\":5,\"loss\":0.5,\"lr\":0.01}}\n")) // at 6 s
	check(false, scheduler.Notice{
		Kind: scheduler.JobProgress, Job: 1, At: 6 * time.Second, Units: 5,
		Losses: []scheduler.Loss{{Units: 5, Loss: 0.5, Rate: 0.01}},
	})
	epochs(line(9, 0)) // at 7 s; the job has only four units
	check(true, scheduler.Notice{Kind: scheduler.JobProgress, Job: 0, At: 7 * time.Second, Units: 4})
	if want := []string{"2 1s 1/1", "0 2s 1/50", "0 3s 1/60", "1 4s 0/3", "1 5s 0/4", "1 6s 0/5",
		"0 7s 9/0"}; !slices.Equal(heard, want) {
		t.Errorf("heard %q, want %q", heard, want)
	}
	if f := NewProgressBoard(nil, nil, nil, nil).Follow(0, &Job{}).Output(); f != nil {
		t.Error("output is looked at though nobody wants to know")
	}
}
