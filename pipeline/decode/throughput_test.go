package decode

import (
	"math"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// TestRatesOfChangingBatches: the speed of a job whose batch size changes is its average over its phases, on each
// device that runs all of them.
func TestRatesOfChangingBatches(t *testing.T) {
	const head = "job_type,device,workers,steps_per_s\n"
	const small = "LM (batch size 20),fast,1,4\nLM (batch size 20),slow,1,2\n"
	for rows, want := range map[string]map[string]float64{
		small: {"fast": 4, "slow": 2}, // without the larger batch size the first one is kept
		small + "LM (batch size 80),fast,1,2\nLM (batch size 80),slow,1,0\n": {"fast": 89520. / (29840./4 + 14920./2)},
	} {
		table, err := workload.ReadThroughput("t.csv", strings.NewReader(head+rows))
		if err != nil {
			t.Fatal(err)
		}
		j := &scheduler.Job{Class: "LM (batch size 20)", GPUs: 1, Special: &scheduler.Special{Units: 89520, BatchRule: "accordion"}}
		rates := ratesOf(table, j)
		for _, r := range rates {
			if math.Abs(r.Rate-want[r.Type]) > 1e-12 {
				t.Errorf("%s: %v steps/s, want %v", r.Type, r.Rate, want[r.Type])
			}
		}
		if len(rates) != len(want) {
			t.Errorf("rates %v, want %v", rates, want)
		}
	}
}
