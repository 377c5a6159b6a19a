package scheduler

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// The account at the end of a run finds a job that is not final, one whose times do not add up, and one that is
// still held somewhere; what never arrived is in order where the run was closed, and only there.
func TestAccount(t *testing.T) {
	finished := Result{State: Finished, Waiting: 2, Service: 5, Finish: 8}
	for _, c := range []struct {
		name   string
		result Result
		change func(*loop)
		want   string
	}{
		{"finished", finished, nil, ""},
		{"failed", Result{State: Failed, Waiting: 2, Service: 5, Finish: 8}, nil, ""},
		{"stopped", Result{State: Stopped, Waiting: 2, Service: 5, Finish: 8}, nil, ""},
		{"still running", Result{State: Running, Waiting: 2, Service: 5, Finish: 8}, nil, `"j" is unaccounted for: it is still running`},
		{"never arrived", Result{State: Pending}, nil, "unaccounted for"},
		{"never arrived in a closed run", Result{State: Pending}, func(l *loop) { l.closed = 10 }, ""},
		{"still queued in a closed run", Result{State: Queued}, func(l *loop) { l.closed = 10 }, "unaccounted for"},
		{"waited too long", Result{State: Finished, Waiting: 3, Service: 5, Finish: 8}, nil, "do not add up"},
		{"ran too short", Result{State: Finished, Waiting: 2, Service: 4, Finish: 8}, nil, "do not add up"},
		{"the engine has one", finished, func(l *loop) { l.started = 1 }, "some still run or wait"},
		{"one is in the list", finished, func(l *loop) { l.running = []int32{0} }, "some still run or wait"},
	} {
		l := &loop{Run: Run{Jobs: []Job{{Name: "j", Arrival: 1}}}, fates: NewFates(1, true), queue: queue.New(1, false)}
		l.fates.Kept()[0] = c.result
		if c.change != nil {
			c.change(l)
		}
		err := l.account()
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
