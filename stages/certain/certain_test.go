package certain

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages/experiment"
)

// world has the waiting time that each cell would have.
type world struct {
	cells []record.CellRef
	waits map[string]float64
}

// worldOf draws the waiting times of policies with these means and standard deviations. The first policy is the
// baseline.
func worldOf(seed uint64, most int, policies []string, means, spreads []float64) world {
	w := world{waits: map[string]float64{}}
	rng := rand.New(rand.NewPCG(seed, 1))
	for r := 1; r <= most; r++ {
		common := rng.NormFloat64()
		for i, p := range policies {
			ref := record.CellRef{Cell: fmt.Sprintf("%s-r%d", p, r), Workload: "w", Hardware: "h", Policy: p, Replicate: r}
			w.cells = append(w.cells, ref)
			w.waits[ref.Cell] = means[i] + common + spreads[i]*rng.NormFloat64()
		}
	}
	return w
}

func (w world) over(done map[string]bool) func(string) (record.Cell, bool) {
	return func(cell string) (record.Cell, bool) {
		c := record.Cell{State: record.CellFinished, Seconds: 10}
		c.Metrics.Set(measure.MeanWaiting, w.waits[cell])
		c.Metrics.Set(measure.Finished, 1)
		return c, done[cell]
	}
}

// run runs the cells that a rule selects, and returns their number for each policy. It stops after most cells. done has
// the cells of an earlier run.
func (w world) run(c certain, done map[string]bool, most int) map[string]int {
	s, _ := c.Select(w.cells).(*selection)
	var batch []int
	for i := range w.cells {
		if s == nil || !s.Holds(i) {
			batch = append(batch, i)
		}
	}
	given := map[int]bool{}
	for len(batch) > 0 {
		for _, i := range batch {
			given[i] = true
			if name := w.cells[i].Cell; !done[name] {
				if most == 0 {
					return nil // the run was killed
				}
				done[name] = true
				most--
			}
		}
		if batch = nil; s != nil {
			batch = s.Next(w.over(done))
		}
	}
	counts := map[string]int{}
	for i := range given {
		counts[w.cells[i].Policy]++
	}
	return counts
}

func rule(most int, metrics ...string) certain {
	c := certain{Rule: Rule{Within: 0.05}, looks: stats.Looks(most)}
	for _, m := range append([]string{"mean_waiting_s"}, metrics...) {
		c.compares = append(c.compares, record.Compare{Metric: m, Baseline: "base", Level: 0.95, Looks: stats.Looks(most)})
	}
	return c
}

// Each policy gets replicates until it is decided, and the baseline as many as the last of them.
func TestReplicatesGoWhereTheyDecide(t *testing.T) {
	policies := []string{"base", "far", "near", "same", "noisy"}
	w := worldOf(4, 40, policies, []float64{100, 50, 93, 100, 101}, []float64{0.5, 0.5, 5, 0.5, 30})
	got := w.run(rule(40), map[string]bool{}, math.MaxInt)
	if got["far"] > 4 || got["same"] > 6 || got["near"] <= got["far"] || got["near"] == 40 || got["noisy"] != 40 || got["base"] != 40 {
		t.Errorf("replicates: %v", got)
	}
	timed := rule(40)
	timed.Seconds = 200 // cells take 10 s each
	cells := 0
	for _, n := range w.run(timed, map[string]bool{}, math.MaxInt) {
		cells += n
	}
	if last := 4; cells < 20 || cells >= 20+last { // the last replicates of the baseline and of undecided policies
		t.Errorf("within 200 s: %d cells", cells)
	}
	if rule(3).Select(w.cells) != nil {
		t.Error("three replicates leave nothing to select")
	}
}

// With drop_losers, a policy that is worse in one metric gets no more replicates for another metric.
func TestLosersAreDropped(t *testing.T) {
	w := worldOf(4, 40, []string{"base", "worse"}, []float64{100, 150}, []float64{1, 1})
	for drop, want := range map[bool]bool{false: false, true: true} {
		c := rule(40, "preemptions") // this metric is never known, so it is never decided
		c.DropLosers = drop
		if got := w.run(c, map[string]bool{}, math.MaxInt); (got["worse"] < 40) != want {
			t.Errorf("dropped %v: %v", drop, got)
		}
	}
}

// A run that is killed after any number of cells and resumed stops at the same check, with the same cells, as an
// uninterrupted run.
func TestResumedRunsStopAlike(t *testing.T) {
	for seed := range uint64(4) {
		w := worldOf(seed, 20, []string{"base", "a", "b"}, []float64{100, 90, 101}, []float64{1, 6, 4})
		c := rule(20)
		want := w.run(c, map[string]bool{}, math.MaxInt)
		for killed := range len(w.cells) {
			done := map[string]bool{}
			if w.run(c, done, killed) != nil {
				break // the run had ended
			}
			if got := w.run(c, done, math.MaxInt); !maps.Equal(got, want) {
				t.Fatalf("seed %d, killed after %d cells: %v, unbroken %v", seed, killed, got, want)
			}
		}
		left := map[string]bool{} // cells of an earlier run with more replicates
		for _, ref := range w.cells {
			left[ref.Cell] = true
		}
		if got := w.run(c, left, math.MaxInt); !maps.Equal(got, want) {
			t.Errorf("seed %d, with all cells left of an earlier run: %v, want %v", seed, got, want)
		}
	}
}

// Added replicates run for comparisons that are undecided or of unknown size, or for all comparisons if all are
// decided. Other comparisons stay unchanged. A run that is killed and resumed has the same replicates.
func TestAddedReplicates(t *testing.T) {
	w := worldOf(4, 60, []string{"base", "far", "noisy"}, []float64{100, 50, 101}, []float64{0.5, 0.5, 30})
	add := func(c certain, first int, to ...int) certain {
		s := experiment.Spec{Replicates: first, Compares: []experiment.Compare{{Metric: "mean_waiting_s", Baseline: "base"}},
			Parts: experiment.Parts{c}}
		(&Added{First: first, Ran: first, To: to}).apply(&s)
		c, _ = experiment.PartOf[certain](s.Parts)
		return c
	}
	before := w.run(rule(12), map[string]bool{}, math.MaxInt)
	for _, to := range [][]int{{20}, {20, 60}} {
		c, most := add(rule(12), 12, to...), to[len(to)-1]
		got := w.run(c, map[string]bool{}, math.MaxInt)
		if got["far"] != before["far"] || got["noisy"] != most || got["base"] != most {
			t.Errorf("to %d: %v, before %v", to, got, before)
		}
		for killed := 0; ; killed += 7 {
			done := map[string]bool{}
			if w.run(c, done, killed) != nil {
				break
			}
			if again := w.run(c, done, math.MaxInt); !maps.Equal(again, got) {
				t.Errorf("killed after %d cells: %v, unbroken %v", killed, again, got)
			}
		}
	}
	decided := worldOf(4, 60, []string{"base", "far"}, []float64{100, 50}, []float64{0.5, 0.5})
	if got := decided.run(add(rule(12), 12, 15), map[string]bool{}, math.MaxInt); got["far"] != 15 || got["base"] != 15 {
		t.Errorf("all are decided, and get more: %v", got)
	}
}

// The sentence names the replicates of decided comparisons and the intervals of undecided ones.
func TestSentence(t *testing.T) {
	row := func(candidate, verdict string, pairs int, low, high float64) record.ComparisonRow {
		return record.ComparisonRow{Metric: "mean_jct_s", Baseline: "base", Candidate: candidate, Verdict: verdict, Pairs: pairs, BaselineMean: 1,
			CandidateMean: 1.01, Ratio: 1.01, CILow: low, CIHigh: high, Difference: 0.01, DifferenceLow: low - 1, DifferenceHigh: high - 1,
			Method: "skewness-corrected paired t", Level: 0.95}
	}
	better, same := row("a", record.Better, 4, 0.5, 0.9), row("b", record.NoDifference, 12, 0.97, 1.04)
	open := row("c", record.NoDifference, 40, 0.9, 1.1)
	r := &Rule{Within: 0.05}
	for want, rows := range map[string][]record.ComparisonRow{
		"The comparison is decided after 4 of at most 40 replicates.":                                           {better},
		"Every comparison is decided after 4 to 12 of at most 40 replicates.":                                   {better, same},
		"Undecided with 40 replicates: c against base in mean JCT, +1% (−10% to +10%).":                         {open},
		"1 of 2 comparisons is decided after 4 of at most 40 replicates. Undecided: c against base in mean JCT": {open, better},
		"Undecided with 40 replicates: 4 comparisons.":                                                          slices.Repeat([]record.ComparisonRow{open}, 4),
	} {
		if got := r.sentence(rows, 40, false); !strings.HasPrefix(got, want) {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	words := map[string]record.ComparisonRow{"better": better, "the same within 5%": same, "undecided": open, "worse": row("d", record.Worse, 5, 1.1, 1.2)}
	for want, one := range words {
		if got := r.word(&one, nil); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	open5 := row("e", record.Better, 5, 0.04, 0.9) // the difference is between 10% and 96%
	if got := r.sentence([]record.ComparisonRow{open5, better}, 40, false); r.word(&open5, nil) != "better" || !strings.Contains(got,
		"The size of these differences is not known yet: e against base in mean JCT.") {
		t.Errorf("%q", got)
	}
	dropping, loser := &Rule{Within: 0.05, DropLosers: true, Seconds: 1800}, row("c", record.Worse, 5, 1.1, 1.2)
	if got, want := dropping.sentence([]record.ComparisonRow{open, loser}, 40, true),
		" The time of 30 min is spent. Dropped, since they are worse in another comparison: c."; !strings.HasSuffix(got, want) ||
		dropping.word(&open, []record.ComparisonRow{open, loser}) != "dropped" {
		t.Errorf("%q", got)
	}
	if t1 := r.table([]record.ComparisonRow{better, open}); t1.Rows[0][4] != "undecided" {
		t.Errorf("the undecided comes first: %v", t1.Rows)
	}
}
