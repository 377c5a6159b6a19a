package trace

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Jobs that no hardware can hold are removed from a trace, with all their data.
func TestLeaveOut(t *testing.T) {
	trace := func() *experiment.Trace {
		return &experiment.Trace{File: "/logs/l.csv", Block: []int32{0, 1, 2, 3}, Trace: workload.Trace{
			Jobs:  []scheduler.Job{{Number: 0, Name: "a"}, {Number: 1, Name: "b"}, {Number: 2, Name: "c"}, {Number: 3, Name: "d"}},
			Lines: []int32{9, 3, 5, 7}, RunTimes: []time.Duration{1, 2, -1, 4},
		}}
	}
	one := trace()
	if leftOut(one) != "" {
		t.Errorf("of a whole trace: %q", leftOut(one))
	}
	leaveOut(one, map[int]bool{0: true, 2: true})
	var names []string
	for i, j := range one.Jobs {
		names = append(names, fmt.Sprint(j.Name, j.Number, one.Block[i], one.Lines[i], one.Timed(i)))
	}
	if got := strings.Join(names, ", "); got != "b0 1 3 true, d1 3 7 true" {
		t.Errorf("what stays: %s", got)
	}
	if got := leftOut(one); got != "l.csv has 2 jobs larger than the hardware, first line 5, left out" {
		t.Errorf("%s", got)
	}
	leaveOut(one, map[int]bool{1: true})
	one.Skipped = []error{errors.New("odd")}
	if got := leftOut(one); got != "l.csv has 1 malformed line and 3 jobs larger than the hardware, first line 5, left out" {
		t.Errorf("%s", got)
	}
	if two := trace(); two.Timed(2) || !two.Timed(3) {
		t.Error("a run time of -1 is known, or one of 4 is not")
	}
}
