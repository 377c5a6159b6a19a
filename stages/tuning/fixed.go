package tuning

import (
	"maps"
	"math"
	"slices"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// AgainstFixed compares a job that was tuned while it trained with runs of the same job at constant settings. The time of
// the tuned job includes the time of tuning.
type AgainstFixed struct {
	// Value is the objective of the tuned job: the mean over its replicates. Runs is the number of these replicates.
	Value float64
	Runs  int
	// Best is the objective at the best constant settings that were measured: the mean over their replicates. Settings
	// has these settings, and Measured the number of settings that were measured.
	Best     float64
	Settings string
	Measured int
	// Ratio is Value / Best, below 1 if the tuned job is better: the geometric mean over replicates, each compared with
	// the run of the same replicate. Low and High are its 95% confidence interval; NaN for less than three replicates.
	Ratio, Low, High float64
	// Initial is the same ratio with the settings that the tuned job began with in place of the best ones; NaN if these
	// settings were not measured.
	Initial float64
}

// Fixed compares a job that was tuned while it trained with all runs of the same job at constant settings. It returns
// false without such runs. index is the tuning's index in the plan.
func Fixed(e *record.Experiment, index int) (AgainstFixed, bool) {
	t := &trial.Asked.Of(&e.Plan)[index]
	if t.Mode != trial.Online && t.Mode != trial.ByRestart {
		return AgainstFixed{}, false
	}
	fixed := newFixedRuns()
	tuned := map[int]float64{}
	initial := ""
	for _, c := range trial.Cells(e) {
		other := &trial.Asked.Of(&e.Plan)[c.Trial.Tuning]
		if c.Outcome == nil || !t.Same(other) || !other.Feasible(c.Outcome) {
			continue
		}
		v := other.Value(c.Outcome)
		switch {
		case c.Trial.Tuning == index:
			tuned[c.Replicate] = v
			initial = record.AxesLabel(c.Trial.Settings)
		case other.Mode == "" && other.Counts(c.Trial.Settings), other.Mode == trial.Unchanged:
			fixed.add(record.AxesLabel(c.Trial.Settings), c.Replicate, v)
		}
	}
	best := fixed.best(t)
	if len(tuned) == 0 || best == "" {
		return AgainstFixed{}, false
	}
	a := AgainstFixed{
		Value: meanOf(tuned), Runs: len(tuned), Best: meanOf(fixed.of[best]), Settings: best, Measured: len(fixed.order),
		Initial: math.NaN(),
	}
	a.Ratio, a.Low, a.High = ratio(t, e.Plan.Replicates, tuned, fixed.of[best])
	if fixed.of[initial] != nil {
		a.Initial, _, _ = ratio(t, e.Plan.Replicates, tuned, fixed.of[initial])
	}
	return a, true
}

// fixedRuns has the mean objectives of runs with constant settings, and the numbers of these runs: by settings, and
// then by replicate.
type fixedRuns struct {
	order []string
	of    map[string]map[int]float64
	runs  map[string]map[int]int
}

func newFixedRuns() *fixedRuns {
	return &fixedRuns{of: map[string]map[int]float64{}, runs: map[string]map[int]int{}}
}

// add adds a run. Several runs of one replicate with the same settings count as one, with the mean of their objectives.
func (f *fixedRuns) add(settings string, replicate int, v float64) {
	if f.of[settings] == nil {
		f.order = append(f.order, settings)
		f.of[settings], f.runs[settings] = map[int]float64{}, map[int]int{}
	}
	f.runs[settings][replicate]++
	mean := f.of[settings][replicate]
	f.of[settings][replicate] = mean + (v-mean)/float64(f.runs[settings][replicate])
}

// best returns the settings with the best mean objective.
func (f *fixedRuns) best(t *trial.Tuning) string {
	best := ""
	for _, s := range f.order {
		if best == "" || t.Better(meanOf(f.of[s]), meanOf(f.of[best])) {
			best = s
		}
	}
	return best
}

// meanOf returns the mean of objectives by replicate. The replicates have an order, because a sum of floating-point
// numbers depends on it.
func meanOf(by map[int]float64) float64 {
	sum := 0.0
	for _, replicate := range slices.Sorted(maps.Keys(by)) {
		sum += by[replicate]
	}
	return sum / float64(len(by))
}

// ratio returns the geometric mean of the ratios of `of` to `against`, which have objectives by replicate, and its 95%
// confidence interval. A replicate that against lacks is compared with the mean of against.
func ratio(t *trial.Tuning, replicates int, of, against map[int]float64) (mean, low, high float64) {
	var logs []float64
	for r := 1; r <= replicates; r++ {
		v, ok := of[r]
		if !ok {
			continue
		}
		other, ok := against[r]
		if !ok {
			other = meanOf(against)
		}
		logs = append(logs, math.Log(trial.Modelled(t, v)/trial.Modelled(t, other)))
	}
	i := stats.MeanInterval(logs, 0.95)
	low, high = math.NaN(), math.NaN()
	if len(logs) >= 3 {
		low, high = math.Exp(i.Low), math.Exp(i.High)
	}
	return math.Exp(i.Mean), low, high
}

// alike is the relative difference of two times up to which they count as equal.
const alike = 0.05

// Without returns the names of the settings that made no difference. All pairs of trials that differ only in such a
// setting report exactly the same losses and accuracies, and their times differ by less than 5%. The program may not
// read the setting.
func Without(e *record.Experiment, index int) []string {
	t := &trial.Asked.Of(&e.Plan)[index]
	if t.Mode != "" || t.Best != nil {
		return nil
	}
	var names []string
	trials := trial.Cells(e)
	for k := range t.Settings {
		if t.Settings[k].Context {
			continue
		}
		pairs, same := 0, true
		for i := range trials {
			for j := range trials[:i] {
				a, b := &trials[i], &trials[j]
				if a.Trial.Tuning != index || b.Trial.Tuning != index || a.Replicate != b.Replicate ||
					!differOnlyIn(a.Trial.Settings, b.Trial.Settings, t.Settings[k].Name) {
					continue
				}
				pairs++
				same = same && cameToTheSame(a.Outcome, b.Outcome)
			}
		}
		if pairs > 0 && same {
			names = append(names, t.Settings[k].Name)
		}
	}
	return names
}

// differOnlyIn reports whether the settings of two trials differ in the setting with the given name, and in no other.
func differOnlyIn(a, b []record.Setting, name string) bool {
	other := false
	for i := range a {
		if i >= len(b) || a[i].Name != b[i].Name || a[i].Value != b[i].Value && a[i].Name != name {
			return false
		}
		other = other || a[i].Value != b[i].Value
	}
	return other
}

func cameToTheSame(a, b *trial.Outcome) bool {
	if a == nil || b == nil || a.Crashed != "" || b.Crashed != "" || a.Loss == nil || b.Loss == nil || *a.Loss != *b.Loss {
		return false
	}
	if (a.Accuracy == nil) != (b.Accuracy == nil) || a.Accuracy != nil && *a.Accuracy != *b.Accuracy {
		return false
	}
	return math.Abs(math.Log(a.Time/b.Time)) <= alike
}
