package analysis

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// finding is the result of a comparison.
type finding int

const (
	unclear      finding = iota // too few runs to say
	equal                       // both sides have the same value in each pair
	noDifference                // no difference, with an interval that says how large one may be
	falls
	rises
)

// Change is the change of a metric from a baseline to a candidate, from which sentences are made.
type Change struct {
	Metric   measure.Metric
	From, To float64 // the means
	// Ratio is To/From, Low and High its interval: NaN where it has none, or too few runs to say it.
	Ratio, Low, High float64
	// ToLow and ToHigh bound the candidate's mean where the baseline's mean is 0; else they are NaN.
	ToLow, ToHigh float64
	// Few says how many runs would give an interval, where too few do not: "about 14 runs would do".
	Few     string
	Finding finding
}

// widest is the greatest ratio of the bounds of an interval that is shown.
const widest = 10

// informative reports whether an interval is worth showing: all of its values are possible for the metric, and its
// bounds differ by at most a factor of ten. A bound times scale is a value of the metric.
func informative(low, high, scale float64, m measure.Metric) bool {
	return stats.Finite(low) && stats.Finite(high) && low > 0 && high <= widest*low && low*scale >= m.Least &&
		!(m.Most > 0 && high*scale > m.Most*(1+1e-9))
}

// relaxed returns a metric without those of its bounds that some values exceed. An accuracy in percent exceeds the
// bound 1 of a fraction.
func relaxed(m measure.Metric, values ...float64) measure.Metric {
	for _, v := range values {
		if v > m.Most {
			m.Most = 0
		}
		if v < m.Least {
			m.Least = 0
		}
	}
	return m
}

// sized reports whether the interval of a comparison is worth showing. If it is not, and no difference was detected,
// there are too few runs for an answer.
func sized(r *record.ComparisonRow, m measure.Metric) bool {
	if r.Method == stats.SignFlips {
		return r.Difference == 0
	}
	m = relaxed(m, r.BaselineMean, r.CandidateMean)
	return informative(r.CILow, r.CIHigh, r.BaselineMean, m) ||
		informative(r.BaselineMean+r.DifferenceLow, r.BaselineMean+r.DifferenceHigh, 1, m)
}

// Undetected reports whether a test found no difference.
func Undetected(r *record.ComparisonRow) bool {
	return r.Verdict == record.NoDifference || r.Verdict == record.NotEnoughReplicates && !math.IsNaN(r.PValue)
}

// ChangeOf is the change of a comparison. Of one log, or of runs in which nothing is random, it is the difference of
// these runs, a fact without an interval.
func ChangeOf(r *record.ComparisonRow) Change {
	if !alone(*r) {
		return beyond(r)
	}
	c := plain(r)
	c.Finding = direction(r)
	return c
}

// beyond returns the change with its interval. For a log, the interval says whether other days would show the change.
func beyond(r *record.ComparisonRow) Change {
	c := plain(r)
	known := r.Method != record.OneRun && r.Verdict != record.NotEnoughReplicates
	ranged := known && r.Method != stats.SignFlips
	m := relaxed(c.Metric, c.From, c.To)
	// Where the ratio has no interval, the difference bounds the candidate's mean: the baseline's is as it was found.
	low, high := c.From+r.DifferenceLow, c.From+r.DifferenceHigh
	told, oneSide := ranged && informative(r.CILow, r.CIHigh, c.From, m), (r.CILow-1)*(r.CIHigh-1) >= 0
	if told {
		c.Low, c.High = r.CILow, r.CIHigh
	} else if told = ranged && informative(low, high, 1, m); told {
		oneSide = r.DifferenceLow*r.DifferenceHigh >= 0
		if c.Low, c.High = low/c.From, high/c.From; c.From == 0 {
			c.Low, c.High, c.ToLow, c.ToHigh = math.NaN(), math.NaN(), low, high
		}
	}
	switch d := direction(r); {
	case !known:
	case r.Verdict != record.NoDifference:
		c.Finding, told = d, told && oneSide || r.Method == stats.SignFlips || c.To == 0
	case d == equal && r.Method == stats.SignFlips:
		c.Finding, told = equal, true
	case told:
		c.Finding = noDifference
	}
	if !told {
		nan := math.NaN()
		c.Low, c.High, c.ToLow, c.ToHigh, c.Few = nan, nan, nan, nan, needed(r)
	}
	return c
}

func plain(r *record.ComparisonRow) Change {
	m, ok := measure.MetricByName(r.Metric)
	if !ok {
		m.Title = r.Metric
	}
	nan, ratio := math.NaN(), r.Ratio
	if r.Difference == 0 && math.IsNaN(ratio) { // both are 0
		ratio = 1
	}
	return Change{Metric: m, From: r.BaselineMean, To: r.CandidateMean, Ratio: ratio, Low: nan, High: nan, ToLow: nan,
		ToHigh: nan}
}

func direction(r *record.ComparisonRow) finding {
	switch {
	case r.Difference < 0:
		return falls
	case r.Difference > 0:
		return rises
	case r.Difference == 0:
		return equal
	}
	return unclear
}

// MostRuns is the largest number of runs that is recommended.
const MostRuns = 200

// lacks returns the number of runs that would show a difference as large as the one found, or a tenth of the baseline
// if that is more. It returns 0 if the number is not known, and MostRuns + 1 if it is greater than MostRuns. Least is
// true if the number is only a lower bound.
func lacks(r *record.ComparisonRow) (n int, least bool) {
	switch half := (r.DifferenceHigh - r.DifferenceLow) / 2; {
	case r.Dropped > r.Pairs || r.Method == stats.Welch:
		return 0, false
	case r.Method == stats.SignFlips:
		n := stats.FewestAlike(r.Level)
		if n <= r.Pairs { // the fewest are for a single look at the results; this is one of several
			n = 2 * r.Pairs
		}
		return n, true
	case r.Blocks > 0 && r.Blocks < stats.MinBlocks:
		return stats.MinBlocks, true
	case r.Blocks == 0 && r.Pairs < stats.MinPairs:
		return stats.MinPairs, true
	case !stats.Finite(half):
		return 0, false
	default:
		have := max(r.Pairs, r.Blocks)
		size := max(math.Abs(r.Difference), WorthKnowing*math.Abs(r.BaselineMean))
		if n := stats.Needed(half, have, r.Level, size, Sureness); n > 0 && n <= MostRuns {
			return max(n, have+1), false
		}
		return MostRuns + 1, false
	}
}

// needed returns the result of lacks as text.
func needed(r *record.ComparisonRow) string {
	noun := "run"
	if r.Blocks > 0 {
		noun = "stretch"
	}
	switch n, least := lacks(r); {
	case r.Dropped > r.Pairs:
		return "different jobs finished in most pairs"
	case r.Method == stats.Welch:
		return "more runs would do"
	case n == 0:
		return "it takes more than " + plural(max(r.Pairs, r.Blocks), noun)
	case n > MostRuns:
		return "it takes more than " + plural(MostRuns, noun)
	case least:
		return "it takes at least " + plural(n, noun)
	default:
		return "about " + plural(n, noun) + " would do"
	}
}

func plural(n int, noun string) string {
	if noun == "stretch" && n != 1 {
		noun += "e"
	}
	return schema.Plural(n, noun)
}

// worth is 1 for a change to the better, −1 for a change to the worse, and 0 if no difference is known.
func (c *Change) worth() int {
	switch {
	case c.Finding != falls && c.Finding != rises:
		return 0
	case (c.Finding == rises) == c.Metric.HigherBetter:
		return 1
	}
	return -1
}

// Same reports whether both sides have the same value in each pair.
func (c *Change) Same() bool { return c.Finding == equal }

// Word returns the verdict that tables show.
func (c *Change) Word() string {
	switch {
	case c.worth() > 0:
		return "better"
	case c.worth() < 0:
		return "worse"
	case c.Finding == equal:
		return "the same"
	case c.Finding == noDifference:
		return "no difference known"
	}
	return "too few runs"
}

// mostTimes is the ratio from which a change is written as a multiple instead of a percentage.
const mostTimes = 10

// inPercent reports whether the change can be written as a percentage. It cannot if it would be rounded to 0% or to
// 100%, or is a multiple of mostTimes or more.
func (c *Change) inPercent() bool {
	return stats.Finite(c.Ratio) && c.Ratio < mostTimes && math.Abs(c.Ratio-1) >= 0.0005 &&
		(c.Ratio >= 0.0005 || c.Ratio == 0)
}

// amount is "50% (44–61%)" or "12 times (9–15)"; "" if the two means must be written instead.
func (c *Change) amount() string {
	switch {
	case c.Few != "":
		return "" // the two means are written
	case c.inPercent() && !stats.Finite(c.Low):
		return table.Share(math.Abs(c.Ratio - 1))
	case c.inPercent() && c.Finding == falls:
		return table.Share(1-c.Ratio) + " (" + table.PercentRange(1-c.High, 1-c.Low) + ")"
	case c.inPercent():
		return table.Share(c.Ratio-1) + " (" + table.PercentRange(c.Low-1, c.High-1) + ")"
	case !stats.Finite(c.Ratio) || c.Ratio < mostTimes:
		return ""
	case !stats.Finite(c.Low):
		return table.Number(c.Ratio) + " times"
	}
	return table.Number(c.Ratio) + " times (" + table.Number(c.Low) + "–" + table.Number(c.High) + ")"
}

// fewRuns is a note on a change that has too few runs for an interval.
func (c *Change) fewRuns() string {
	if c.Few == "" {
		return ""
	}
	return fmt.Sprintf(" (too few runs for an interval: %s)", c.Few)
}

// value writes one of the two means, both in one unit.
func (c *Change) value(v float64) string { return table.UnitFor(c.Metric.Unit, c.From, c.To).With(v) }

// fromTo is "from 0 to 17 (14.8–19.2)".
func (c *Change) fromTo() string {
	return fmt.Sprintf("from %s to %s%s", c.value(c.From), c.value(c.To), c.toRange())
}

// toRange is the interval of the candidate's mean if the ratio has no interval.
func (c *Change) toRange() string {
	if !stats.Finite(c.ToLow) {
		return ""
	}
	u := table.UnitFor(c.Metric.Unit, c.From, c.To)
	return " (" + u.Number(c.ToLow) + "–" + u.Number(c.ToHigh) + ")"
}

// Verb is the predicate of a sentence: "cuts mean JCT by 50% (44–61%)", "raises cost from 0 USD to 5 USD".
func (c *Change) Verb() string {
	by := cmp.Or(c.by(), " "+c.fromTo())
	return c.side("cuts ", "raises ") + c.Metric.Title + by + c.fewRuns()
}

// side returns falling or rising, whichever the change does.
func (c *Change) side(falling, rising string) string {
	if c.Finding == rises {
		return rising
	}
	return falling
}

// by is " by 50% (44–61%)" or " to 12 times (9–15) as much"; "" if the two means must be written instead.
func (c *Change) by() string {
	switch amount := c.amount(); {
	case amount == "":
		return ""
	case c.inPercent():
		return " by " + amount
	default:
		return " to " + amount + " as much"
	}
}

// Against is the distance from the baseline: "34% (28–40%) below fcfs", "0 s against 5 s of fcfs".
func (c *Change) Against(base string) string {
	switch amount := c.amount(); {
	case amount == "":
		return fmt.Sprintf("%s%s against %s of %s", c.value(c.To), c.toRange(), c.value(c.From), base) + c.fewRuns()
	case !c.inPercent():
		return amount + " as much as " + base + c.fewRuns()
	default:
		return amount + c.side(" below ", " above ") + base + c.fewRuns()
	}
}

// Signed is a change in a list or a table: "−50% (−61% to −44%)"; "–" where it is not known.
func (c *Change) Signed() string {
	switch {
	case c.Finding == equal || c.Ratio == 1:
		return "0%"
	case !stats.Finite(c.Ratio):
		return "–"
	case !stats.Finite(c.Low):
		return signed(c.Ratio)
	case c.Ratio >= mostTimes:
		return c.amount()
	}
	return fmt.Sprintf("%s (%s to %s)", signed(c.Ratio), signed(c.Low), signed(c.High))
}

// signed writes a ratio as a change: "−12%", "12 times".
func signed(ratio float64) string {
	switch d := ratio - 1; {
	case ratio >= mostTimes:
		return table.Number(ratio) + " times"
	case ratio > 0 && ratio < 0.0005:
		return "−99.9% or more"
	default:
		return table.Signed(d)
	}
}

// Clause is a sentence without its end: the candidate, the change, the baseline and where.
func (c *Change) Clause(candidate, baseline, where string) string {
	switch c.Finding {
	case equal:
		return fmt.Sprintf("%s and %s have the same %s%s: %s", candidate, baseline, c.Metric.Title, where, c.value(c.From))
	case noDifference:
		return fmt.Sprintf("no difference in %s is known between %s and %s%s: %s", c.Metric.Title, candidate, baseline,
			where, c.Signed())
	case unclear:
		return fmt.Sprintf("too few runs to say whether %s or %s has the %s%s: %s against %s (%s)", candidate,
			baseline, extreme(c.Metric, 2), where, c.value(c.To), c.value(c.From), c.Few)
	}
	return fmt.Sprintf("%s %s against %s%s", candidate, c.Verb(), baseline, where)
}

// Course describes the change of the metric: "falls by 12% (8–16%), from 4.00 s to 3.52 s".
func (c *Change) Course() string {
	values := fmt.Sprintf("%s and %s", c.value(c.From), c.value(c.To))
	switch c.Finding {
	case equal:
		return "is the same, " + c.value(c.From)
	case noDifference:
		return fmt.Sprintf("shows no difference: %s, %s", values, c.Signed())
	case unclear:
		return fmt.Sprintf("is %s; too few runs say whether it differs: %s", values, c.Few)
	}
	by := c.by()
	if by != "" {
		by += ","
	}
	return c.side("falls", "rises") + by + " " + c.fromTo() + c.fewRuns()
}

// extreme is "lowest mean JCT" among several, "lower mean JCT" of two.
func extreme(m measure.Metric, of int) string {
	words := [2]string{"lower ", "lowest "}
	switch {
	case m.HigherBetter && m.Count:
		words = [2]string{"more ", "most "}
	case m.HigherBetter:
		words = [2]string{"higher ", "highest "}
	case m.Count:
		words = [2]string{"fewer ", "fewest "}
	}
	return words[min(max(of, 2), 3)-2] + m.Title
}

// unsignedSpan joins changes of several settings to one side, without their sign: "5% to 29%".
func unsignedSpan(changes []Change) string {
	return ranged(changes, changes[0].Finding == falls, func(ratio float64) string {
		return strings.TrimLeft(signed(ratio), "+−")
	})
}

// signedSpan joins changes with their signs: "−29% to −4.6%", "−5% to +12%".
func signedSpan(changes []Change) string { return ranged(changes, false, signed) }

// ranged writes the smallest and the largest of several changes; two values where there is no ratio.
func ranged(changes []Change, descending bool, write func(float64) string) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, c := range changes {
		if !stats.Finite(c.Ratio) {
			return fmt.Sprintf("from %s to %s", c.value(c.From), c.value(c.To))
		}
		low, high = min(low, c.Ratio), max(high, c.Ratio)
	}
	if write(low) == write(high) {
		return write(low)
	}
	if descending {
		low, high = high, low
	}
	return write(low) + " to " + write(high)
}

// upper writes a sentence with a capital letter.
func upper(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

// few names the first of several things: "a, b and c", "5 others".
func few(names []string, noun string) string {
	if len(names) > mostListed {
		return fmt.Sprintf("%d %s", len(names), noun)
	}
	return table.Listed(names)
}

// mostListed is the number of things that a list in a sentence names.
const mostListed = 3

// sentence ends a sentence. A name at its begin keeps its letters.
func sentence(text string, names ...string) string {
	for _, n := range names {
		if strings.HasPrefix(text, n) {
			return text + "."
		}
	}
	return upper(text) + "."
}
