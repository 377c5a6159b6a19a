package trace

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload/throughput"
	"github.com/tfexp/tfexp/stages/experiment"
)

// TestRatesOfChangingBatches checks that the speed of a job with a changing batch size is the average over its phases,
// on each device that can run all phases.
func TestRatesOfChangingBatches(t *testing.T) {
	const head = "job_type,device,workers,steps_per_s\n"
	const small = "LM (batch size 20),fast,1,4\nLM (batch size 20),slow,1,2\n"
	for rows, want := range map[string]map[string]float64{
		small: {"fast": 4, "slow": 2}, // the table lacks the larger batch size here, so the first one is kept
		small + "LM (batch size 80),fast,1,2\nLM (batch size 80),slow,1,0\n": {"fast": 89520. / (29840./4 + 14920./2)},
	} {
		table, err := throughput.Read("t.csv", strings.NewReader(head+rows))
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

// TestNeighbours checks that a job keeps its measured fraction of speed next to a neighbor.
func TestNeighbours(t *testing.T) {
	table, err := throughput.Read("t", strings.NewReader("device,workers,job_type,beside,steps_per_s\n"+
		"v100,1,A,,2\nv100,1,B,,1\nv100,1,A,B,1.5\nv100,1,A,A,1\nk80,1,A,,1\nk80,1,A,B,0\nv100,2,A,,3\nv100,2,A,B,3\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got := neighboursIn(table, "A", 1); !slices.Equal(got, []experiment.Neighbour{{Class: "A", GPU: "v100", Keep: 0.5}, {Class: "B", GPU: "v100", Keep: 0.75}}) {
		t.Errorf("beside A: %v", got)
	}
}
