package execute

import (
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages"
)

// A cell whose trace would fill the disk is refused with a sentence.
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
