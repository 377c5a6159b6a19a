package execute

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages"
)

// A cell whose trace would fill the disk is an error.
func TestTooManyTurns(t *testing.T) {
	task := func(quantum, work time.Duration, records record.Records) stages.Task {
		p := policy.Policy{Order: policy.RoundRobin, Settings: policy.Settings{}}
		if quantum > 0 {
			p.Settings["quantum"] = quantum
		}
		return stages.Task{Policy: p, Records: records, Simulation: &stages.Simulation{
			Jobs: make([]scheduler.Job, 2), Work: []simulated.Scaling{{Scaled: work}, {Fixed: work}},
		}}
	}
	for _, c := range []struct {
		quantum, work time.Duration
		records       record.Records
		want          string
	}{
		{0, 1e6 * time.Hour, record.AllRecords, ""},
		{time.Millisecond, 10_000 * time.Second, record.AllRecords, ""},
		{time.Millisecond, 10_001 * time.Second, record.AllRecords,
			"its jobs run for 2e+07 quanta of 1ms; the most is 2e+07"},
		{time.Millisecond, 10_001 * time.Second, record.MetricsOnly, ""},
		{time.Millisecond, 300_000 * time.Second, record.MetricsOnly, "choose a longer quantum"},
	} {
		err := checkTurns(task(c.quantum, c.work, c.records))
		if (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// heard records the calls to a recorder.
type heard []string

func (h *heard) Event(e *scheduler.Event)       { *h = append(*h, fmt.Sprint(e.Kind, e.Job, e.At)) }
func (h *heard) Decision(d *scheduler.Decision) { *h = append(*h, fmt.Sprint("decision", d.Job, d.At)) }

// TestRelayKeepsTheOrder checks that events and decisions arrive in order and none is lost, for traces shorter and
// longer than a batch.
func TestRelayKeepsTheOrder(t *testing.T) {
	for _, n := range []int{0, 1, batchSize - 1, batchSize, batchSize + 1, 10*batchSize + 7} {
		var want, got heard
		r := newRelay(&got)
		for i := range n {
			at := time.Duration(i)
			if i%3 == 1 {
				want.Decision(&scheduler.Decision{Job: i, At: at})
				r.Decision(&scheduler.Decision{Job: i, At: at})
				continue
			}
			want.Event(&scheduler.Event{Kind: scheduler.Start, Job: i, At: at})
			r.Event(&scheduler.Event{Kind: scheduler.Start, Job: i, At: at})
		}
		r.close()
		r.close()
		if len(got) != len(want) {
			t.Fatalf("of %d, %d arrived", len(want), len(got))
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("of %d, number %d is %q, want %q", n, i, got[i], want[i])
			}
		}
	}
}
