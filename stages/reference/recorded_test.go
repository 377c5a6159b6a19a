package reference

import (
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// What jobs used of their requests: by core-hours, or GPU-hours where there are GPUs; jobs with one unknown are left out.
func TestUsage(t *testing.T) {
	log := workload.Trace{
		Jobs: []scheduler.Job{
			{Threads: 4, Predicted: 10 * time.Hour}, {Threads: 1, Predicted: 2 * time.Hour}, {Threads: 9},
		},
		RunTimes: []time.Duration{time.Hour, 2 * time.Hour, time.Hour},
		Memory:   []workload.MemoryUse{{Requested: 8 << 30, Used: 2 << 30}, {}, {}},
	}
	r := recorded{Jobs: 3, Time: timeOf(&log), Memory: memoryOf(&log)}
	got := strings.Join(r.usages(), "\n")
	want := "In the log, jobs used 6 of the 42 core-hours that they requested (14%); the median job used 55% of its time " +
		"(known of 2 of 3 jobs).\nIn the log, jobs used 2 of the 8 GiB-hours of memory that they requested (25%); the median " +
		"job used 25% of its memory (known of 1 of 3 jobs)."
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	log.Jobs[0].GPUs = 2
	if u := timeOf(&log); u.Unit != "GPU-hours" || u.Requested != 20 || u.Used != 2 || u.Jobs != 1 {
		t.Errorf("with GPUs: %+v", u)
	}
	if (recorded{Time: timeOf(&workload.Trace{})}).usages() != nil {
		t.Error("nothing is known, and said")
	}
}
