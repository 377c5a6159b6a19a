package analysis

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// trials is the number of random experiments of each kind in the tests below. The command line can set it: go test
// ./results/analysis -run Nothing -args -trials 3000
var trials = flag.Int("trials", need.Cases(40, 250), "experiments without a difference, of each kind")

// drawnMetric is a kind of metric. It draws a part that a replicate's cells share, and a part for each cell.
type drawnMetric struct {
	metric measure.Metric
	shared func(*rand.Rand) float64
	own    func(r *rand.Rand, shared float64) float64
}

var drawnMetrics = []drawnMetric{
	{measure.MeanJCT, (*rand.Rand).NormFloat64, func(r *rand.Rand, s float64) float64 {
		return 60 * math.Exp(0.5*s+0.3*r.NormFloat64())
	}},
	{measure.MeanSlowdown, (*rand.Rand).ExpFloat64, func(r *rand.Rand, s float64) float64 { return 1 + s + 2*r.ExpFloat64() }},
	{measure.Preemptions, (*rand.Rand).ExpFloat64, func(r *rand.Rand, s float64) float64 {
		return float64(int(3*s) + r.IntN(4))
	}},
	{measure.Utilization, (*rand.Rand).Float64, func(r *rand.Rand, s float64) float64 { return 1 - 0.3*s*r.Float64() }},
	{measure.MissedDeadlines, (*rand.Rand).Float64, func(r *rand.Rand, s float64) float64 {
		return math.Floor(0.3 + 0.2*s + r.Float64()) // 0 or 1
	}},
	{measure.Cost, (*rand.Rand).NormFloat64, func(r *rand.Rand, s float64) float64 {
		return 0.25 * math.Ceil(8*math.Exp(0.3*s+0.3*r.NormFloat64())) // rounded up to a quarter of an hour
	}},
}

// alikePolicies returns an experiment whose policies do not differ, with one cell per policy and replicate, and this
// number of job classes.
func alikePolicies(r *rand.Rand, k drawnMetric, policies, replicates, classes int) *record.Experiment {
	e := &record.Experiment{}
	by := ""
	if classes > 0 {
		by = "class"
	}
	e.Plan.Compares = []record.Compare{{Metric: k.metric.Name, Baseline: "p0", Level: 0.95, By: by}}
	e.Plan.Workloads, e.Plan.Hardware = []record.Named{{Name: "w"}}, []record.Named{{Name: "h"}}
	shared := make([]float64, replicates)
	for i := range shared {
		shared[i] = k.shared(r)
	}
	draw := func(i int) measure.Metrics {
		return MetricsOf(map[string]float64{"jobs": 9, "finished": 9, k.metric.Name: k.own(r, shared[i])})
	}
	for p := range policies {
		for i := range replicates {
			c := record.Cell{CellRef: record.CellRef{Cell: fmt.Sprintf("p%d-r%d", p, i), Workload: "w", Hardware: "h",
				Policy: fmt.Sprintf("p%d", p), Replicate: i + 1, Seed: int64(i)}, State: record.CellFinished, Metrics: draw(i)}
			for g := range classes {
				c.Groups = append(c.Groups, measure.Group{By: "class", Name: fmt.Sprint("c", g), Metrics: draw(i)})
			}
			e.Cells = append(e.Cells, c)
			e.Plan.Cells = append(e.Plan.Cells, c.CellRef)
		}
	}
	return e
}

// atMost fails the test if more than 5% of the trials claim a difference, by more than 3.5 standard errors.
func atMost(t *testing.T, what string, claims, of int) {
	t.Helper()
	share := float64(claims) / float64(of)
	t.Logf("%s: %.1f%%", what, 100*share)
	if share > 0.05+3.5*math.Sqrt(0.05*0.95/float64(of)) {
		t.Errorf("%s: %.1f%% of %d experiments without a difference claim one", what, 100*share, of)
	}
}

// TestNothingClaimed: if policies do not differ, at most 5 of 100 experiments claim a difference. This holds for
// comparisons, for comparisons by class, for rankings, and for pairs in the fidelity table.
func TestNothingClaimed(t *testing.T) {
	type way struct {
		name                                  string
		policies, replicates, classes, atMost int
		claims                                func(t *testing.T, e *record.Experiment, again *record.Experiment, k drawnMetric) bool
	}
	verdicts := func(rows []record.ComparisonRow) bool {
		for _, r := range rows {
			if r.Verdict == record.Better || r.Verdict == record.Worse {
				return true
			}
		}
		return false
	}
	compared := func(t *testing.T, e, _ *record.Experiment, _ drawnMetric) bool {
		rows, err := Comparisons(e)
		if err != nil || len(rows) == 0 {
			t.Fatal(rows, err)
		}
		return verdicts(rows)
	}
	leads := func(t *testing.T, e, _ *record.Experiment, _ drawnMetric) bool {
		rows, err := Comparisons(e)
		if err != nil {
			t.Fatal(err)
		}
		best, _, err := Questions(e, rows)[0].best(e, 0)
		if err != nil {
			t.Fatal(err)
		}
		return best != nil && len(best) < len(Variants(e))
	}
	for _, k := range drawnMetrics {
		for _, w := range []way{
			{"2 policies, 3 pairs", 2, 3, 0, 0, compared},
			{"2 policies, 6 pairs", 2, 6, 0, 0, compared},
			{"5 policies, 10 pairs", 5, 10, 0, 0, compared},
			{"3 policies, 50 pairs", 3, 50, 0, 0, compared},
			{"2 policies, 8 pairs, 3 classes", 2, 8, 3, 0, compared},
			{"best of 3, 6 pairs", 3, 6, 0, 0, leads},
			{"best of 6, 10 pairs", 6, 10, 0, 0, leads},
			{"best of 4, 30 pairs", 4, 30, 0, 0, leads},
			{"order of 3 in fidelity, 5 pairs", 3, 5, 0, 0, func(_ *testing.T, e, again *record.Experiment, k drawnMetric) bool {
				var pairs []Pair
				for i := range e.Cells {
					pairs = append(pairs, Pair{Real: e.Cells[i], Twin: again.Cells[i]})
				}
				var f FidelityMetric
				rank(e, k.metric, &f, pairs)
				return f.Significant > 0
			}},
		} {
			claims := 0
			rng := rand.New(rand.NewPCG(uint64(len(w.name)), uint64(k.metric.Rank)))
			for range *trials {
				e, again := alikePolicies(rng, k, w.policies, w.replicates, w.classes), alikePolicies(rng, k, w.policies,
					w.replicates, w.classes)
				if w.claims(t, e, again, k) {
					claims++
				}
			}
			atMost(t, k.metric.Name+", "+w.name, claims, *trials)
		}
	}
}

// TestNothingClaimedOfALog: two policies that do not differ run one log. Its jobs wait for each other, so neighbors
// have similar times. Blocks of a tenth of the log or less are resampled.
func TestNothingClaimedOfALog(t *testing.T) {
	for _, blocks := range []int{10, 15, 30, 60} {
		rng := rand.New(rand.NewPCG(5, uint64(blocks)))
		claims := 0
		for range *trials {
			const perBlock = 60
			var b, c []jobValue
			queue, other := 0.0, 0.0
			for i := range blocks * perBlock {
				// The waits of a queue near its capacity, under two policies: both are long when the queue is long, and
				// each has its own random part.
				gap := 1.15 * rng.ExpFloat64()
				queue = max(0, queue+rng.ExpFloat64()-gap)
				other = max(0, other+rng.ExpFloat64()-gap)
				at := float64(i)
				b = append(b, jobValue{fmt.Sprint(i), at, queue})
				c = append(c, jobValue{fmt.Sprint(i), at, other})
			}
			if stats.CompareBlocks(blocksOf(b, c, perBlock), 0.95, fmt.Sprint(rng.Uint64())).P < 0.05 {
				claims++
			}
		}
		atMost(t, fmt.Sprintf("a log of %d stretches", blocks), claims, *trials)
	}
}

func blocksOf(b, c []jobValue, length float64) []stats.Block { return blocks(b, c, length) }
