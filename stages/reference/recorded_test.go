package reference

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// The used fraction of requests is weighted by core-hours, or by GPU-hours if there are GPUs. Jobs with an unknown
// amount are skipped.
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

// If the first replay is far from the log, the nearest replay of any policy and size is compared.
func TestNearestReplay(t *testing.T) {
	cells := func(policy string, cores int, waits ...float64) analysis.Variant {
		v := analysis.Variant{Policy: policy, Label: fmt.Sprint(policy, cores)}
		for _, w := range waits {
			var c record.Cell
			c.Cores = cores
			c.Metrics.Set(measure.MeanWaiting, w)
			v.Cells = append(v.Cells, c)
		}
		return v
	}
	r := recorded{Jobs: 9, Known: 9, Mean: 100}
	for _, test := range []struct {
		variants []analysis.Variant
		want     string
	}{
		{[]analysis.Variant{cells("fcfs", 4, 110), cells("fcfs", 8, 100)}, "replayed under fcfs4 they wait 110 s (+10%)."},
		{[]analysis.Variant{cells("fcfs", 4, 900), cells("easy", 8, 120), cells("fcfs", 8, 90, 98), cells("fcfs", 9, 10)},
			"replayed under fcfs8 (the nearest of 4 replays) they wait 94 s (−6%; 90 to 98 s in 2 replicates)."},
		// A replay of another policy is near the log.
		{[]analysis.Variant{cells("fcfs", 4, 900), cells("easy", 4, 103.9), cells("fcfs", 8, 90)},
			"replayed under easy4 (the nearest of 3 replays) they wait 104 s (+3.9%)."},
		{[]analysis.Variant{cells("fcfs", 4, 900), cells("fcfs", 5, 1000)},
			"replayed under fcfs4 (the nearest of 2 replays) they wait 15 min (+800%): the replay is far"},
	} {
		if text := r.sentence(r.nearest(test.variants)); !strings.Contains(text, test.want) {
			t.Errorf("%s\nwant\n%s", text, test.want)
		}
	}
}
