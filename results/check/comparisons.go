package check

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// comparison is a row of comparisons.csv with its expected values.
type comparison struct {
	fields         map[string]string
	line           int
	b, c           []float64 // pairs
	doubtful, gone int
	noLength       int
	unknown        int  // pairs without a value
	planned        int  // pairs of the plan
	fixed, known   bool // nothing is drawn; both variants were found
	higher         bool
	level          float64

	method                   string
	p, difference, low, high float64
	ratioLow, ratioHigh      float64
}

// higherBetter are the metrics that improve upwards.
var higherBetter = []string{"jobs", "finished", "throughput_per_h", "utilization", "jain_fairness", "gpu_utilization",
	"final_accuracy", "jain_finish_time"}

// ofAllJobs are the metrics over all jobs, whether they finished or not.
var ofAllJobs = []string{"jobs", "finished", "failed", "preemptions", "resizes", "missed_deadlines", "migrations",
	"revocations", "reconfigurations"}

// comparisons compares comparisons.csv with the cells. The rows of one baseline, to which Holm's correction
// applies, are together, and each holds their number.
func (c *checker) comparisons() error {
	cells := c.complete()
	planned := map[[3]string]int{}
	for i := range c.plan.Cells {
		if k := &c.plan.Cells[i]; k.Trial == nil {
			planned[k.place()]++
		}
	}
	var family []*comparison
	err := c.rows("comparisons.csv", func(o row) {
		x := &comparison{fields: map[string]string{}, line: o.line}
		for column := range o.at {
			x.fields[column] = string([]byte(o.get(column)))
		}
		x.find(cells, planned)
		family = append(family, x)
		if n, _ := strconv.Atoi(family[0].fields["candidates"]); len(family) >= n {
			c.family(family)
			family = nil
		}
	})
	if len(family) > 0 {
		c.in("comparisons.csv", fmt.Sprintf("line %d", family[0].line))
		c.differs("candidates", family[0].fields["candidates"], strconv.Itoa(len(family)))
	}
	return err
}

// find collects the pairs of a row.
func (x *comparison) find(cells []*cell, planned map[[3]string]int) {
	f := x.fields
	x.level = parse(f["level"])
	x.higher = slices.Contains(higherBetter, f["metric"])
	label := func(k, o *cell) string {
		s := k.variant()
		if k.Hardware != o.Hardware {
			s += " on " + k.Hardware
		}
		if k.Workload != o.Workload {
			s += " of " + k.Workload
		}
		return s
	}
	x.fixed = true
	for _, b := range cells {
		for _, k := range cells {
			if b == k || k.Workload != f["workload"] || k.Hardware != f["hardware"] || label(k, b) != f["candidate"] ||
				label(b, k) != f["baseline"] {
				continue
			}
			x.known, x.planned = true, min(planned[b.place()], planned[k.place()])
			x.fixed = x.fixed && b.Fixed && k.Fixed
			if b.Replicate != k.Replicate {
				continue
			}
			if !slices.Contains(ofAllJobs, f["metric"]) && !sameJobs(b, k) || b.Error != "" || k.Error != "" {
				x.gone++
				continue
			}
			u, v := b.of(f["metric"], f["by"], f["group"]), k.of(f["metric"], f["by"], f["group"])
			if math.IsNaN(u) || math.IsNaN(v) {
				x.unknown++
				continue
			}
			if slices.Contains([]string{"mean_slowdown", "p95_slowdown", "jain_fairness"}, f["metric"]) &&
				(b.warned("no_length") || k.warned("no_length")) {
				x.noLength++
			}
			x.b, x.c = append(x.b, u), append(x.c, v)
			if b.troubled() || k.troubled() {
				x.doubtful++
			}
		}
	}
}

// of is a metric of all jobs, or of a group.
func (c *cell) of(metric, by, group string) float64 {
	if by == "" {
		return c.value(metric)
	}
	for _, g := range c.Groups {
		if v, ok := g.Metrics[metric]; ok && g.By == by && g.Name == group {
			return v
		}
	}
	return math.NaN()
}

// sameJobs reports whether the same jobs finished in two cells; it is not known where more failed than are listed.
func sameJobs(a, b *cell) bool {
	names := func(c *cell) (list []string) {
		for _, f := range c.Failures {
			list = append(list, f.Job)
		}
		slices.Sort(list)
		return list
	}
	return a.metric("finished") == b.metric("finished") && slices.Equal(names(a), names(b)) && a.value("failed") <= 20
}

// judge makes the test of a row at a level.
func (x *comparison) judge(level float64) {
	nan := math.NaN()
	x.p, x.low, x.high, x.ratioLow, x.ratioHigh, x.method = nan, nan, nan, nan, nan, ""
	b, c := x.b, x.c
	if x.fixed && len(b) > 0 {
		x.method, x.b, x.c = "one run", b[:1], c[:1]
		x.difference = c[0] - b[0]
		return
	}
	var d []float64
	scale := 0.0
	for i := range b {
		d = append(d, c[i]-b[i])
		scale = max(scale, math.Abs(b[i]), math.Abs(c[i]))
	}
	if x.difference = mean(d); len(d) < 3 {
		return
	}
	constant := slices.Max(d)-slices.Min(d) <= 1e-9*scale
	switch {
	case constant && math.Abs(x.difference) <= 1e-9*scale:
		x.method, x.p, x.difference, x.low, x.high = "sign flips", 1, 0, 0, 0
		if mean(b) != 0 {
			x.ratioLow, x.ratioHigh = 1, 1
		}
	case constant:
		x.method = "sign flips"
		// n coins that fall alike
		if p := math.Pow(2, float64(1-len(d))); p < 1-level {
			x.p, x.low, x.high = p, x.difference, x.difference
			x.ratioLow, x.ratioHigh = newTest(d).ratio(b, c, level)
		}
	default:
		t := newTest(d)
		x.method, x.p = "skewness-corrected paired t", t.p()
		x.low, x.high = t.mean-t.below*t.se*t.reach(level), t.mean+t.above*t.se*t.reach(level)
		x.ratioLow, x.ratioHigh = t.ratio(b, c, level)
	}
	if x.gone > len(b) { // the rest does not represent the pairs left out
		x.p, x.low, x.high, x.ratioLow, x.ratioHigh = nan, nan, nan, nan, nan
	}
}

// family compares the rows of one baseline.
func (c *checker) family(rows []*comparison) {
	raw := make([]float64, len(rows))
	for i, x := range rows {
		if x.judge(x.level); x.fields["method"] == "block bootstrap" { // drawn at random: its interval is not recomputed
			x.p = parse(x.fields["p_raw"])
			c.unchecked("comparisons.csv: means, intervals and p-values of block bootstraps are not recomputed")
		}
		raw[i] = x.p
	}
	adjusted := holm(raw)
	for i, x := range rows {
		c.in("comparisons.csv", fmt.Sprintf("line %d (%s of %s against %s)", x.line, x.fields["metric"],
			x.fields["candidate"], x.fields["baseline"]))
		if !x.known {
			c.differs("candidate", x.fields["candidate"], "a policy of the plan")
			continue
		}
		c.comparison(x, raw[i], adjusted[i], len(rows))
	}
}

func (c *checker) comparison(x *comparison, raw, adjusted float64, candidates int) {
	has := func(column string) string { return x.fields[column] }
	c.text("candidates", has("candidates"), strconv.Itoa(candidates))
	c.text("dropped_pairs", has("dropped_pairs"), strconv.Itoa(x.gone))
	c.text("disturbed_pairs", has("disturbed_pairs"), strconv.Itoa(x.doubtful))
	if _, ok := x.fields["skewness"]; ok { // earlier versions had none of these
		c.text("no_length_pairs", has("no_length_pairs"), strconv.Itoa(x.noLength))
		missing, skewed := 0, math.NaN()
		if x.method != "one run" && has("method") != "block bootstrap" {
			missing = max(0, x.planned-len(x.b)-x.gone-x.unknown)
		}
		if x.method == "skewness-corrected paired t" {
			skewed = skewness(x.b, x.c)
		}
		c.text("missing_pairs", has("missing_pairs"), strconv.Itoa(missing))
		c.about("skewness", has("skewness"), skewed, 1e-6)
	}
	if x.method != "one run" && has("method") != "block bootstrap" {
		c.text("blocks", has("blocks"), "0")
	}
	if has("method") == "block bootstrap" {
		x.method, x.difference = has("method"), parse(has("difference"))
		c.about("p_value", has("p_value"), adjusted, 1e-5)
		c.about("difference", has("difference"), parse(has("candidate_mean"))-parse(has("baseline_mean")), 2e-6)
	} else {
		if raw < adjusted && raw < 1-x.level { // wider, as Holm's correction asks for
			x.judge(1 - (1-x.level)/min(adjusted/raw, float64(candidates)))
		}
		ratio := math.NaN()
		if m := mean(x.b); m != 0 {
			ratio = mean(x.c) / m
		}
		if x.method == "sign flips" && x.difference == 0 && mean(x.b) != 0 {
			ratio = 1
		}
		c.text("method", has("method"), x.method)
		c.text("pairs", has("pairs"), strconv.Itoa(len(x.b)))
		c.number("baseline_mean", has("baseline_mean"), mean(x.b))
		c.number("candidate_mean", has("candidate_mean"), mean(x.c))
		c.number("difference", has("difference"), x.difference)
		c.number("ratio", has("ratio"), ratio)
		for _, v := range []struct {
			column string
			want   float64
		}{{"p_raw", raw}, {"p_value", adjusted}, {"difference_low", x.low}, {"difference_high", x.high},
			{"ci_low", max(0, x.ratioLow)}, {"ci_high", x.ratioHigh}} {
			c.about(v.column, has(v.column), v.want, 1e-9*math.Abs(v.want))
		}
	}
	verdict := "worse"
	switch better := x.difference > 0 == x.higher; {
	case x.method == "one run" && x.difference == 0:
		verdict = "no difference detected"
	case x.method != "one run" && math.IsNaN(adjusted):
		verdict = "not enough replicates"
	case x.method != "one run" && adjusted >= 1-x.level:
		verdict = "no difference detected"
	case better:
		verdict = "better"
	}
	c.text("verdict", has("verdict"), verdict)
}
