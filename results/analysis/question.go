package analysis

import (
	"cmp"
	"math"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// Question is the question of the compare blocks with one baseline: which of the others is better, in each setting.
type Question struct {
	record.Compare
	Metric  measure.Metric
	Others  []measure.Metric // that are compared, too
	Fields  []Field
	Entries []Entry // the best first
}

// Entry is one of the things that are compared: a policy, or the value of an axis. It has a place for each field.
type Entry struct {
	Name  string
	Base  bool
	At    []*Variant              // nil where it is not in the field
	Rows  []*record.ComparisonRow // of the metric, against the baseline; nil without one
	Means []stats.Interval
	other [][]record.ComparisonRow // of the other metrics
	score float64
}

// Questions returns the questions of the compare blocks, in their order. An experiment without cells asks none.
func Questions(e *record.Experiment, rows []record.ComparisonRow) (out []Question) {
	if len(e.Cells) == 0 {
		return nil
	}
	variants := Variants(e)
	asked := schema.Where(e.Plan.Compares, func(c record.Compare) bool { return c.By == "" })
	if len(asked) == 0 { // all are within groups of jobs: the answer is about all jobs
		for _, c := range e.Plan.Compares {
			c.By = ""
			more, err := comparisonsOf(e, variants, c)
			if err != nil {
				continue // in Comparisons
			}
			asked, rows = append(asked, c), append(rows, more...)
		}
	}
	for _, c := range asked {
		m, ok := measure.MetricByName(c.Metric)
		if !ok {
			continue
		}
		i := slices.IndexFunc(out, func(q Question) bool { return q.Baseline == c.Baseline && slices.Equal(q.At, c.At) })
		if i < 0 {
			out = append(out, Question{Compare: c, Metric: m, Fields: fields(variants, c)})
		} else if q := &out[i]; m.Name != q.Metric.Name {
			q.Others = slices.DeleteFunc(q.Others, func(o measure.Metric) bool { return o.Name == m.Name })
			q.Others = append(q.Others, m)
		}
	}
	for i := range out {
		out[i].enter(rows)
	}
	return slices.DeleteFunc(out, func(q Question) bool { return len(q.Entries) < 2 })
}

// enter fills in the entries from the fields and the comparisons.
func (q *Question) enter(rows []record.ComparisonRow) {
	type side struct{ policy, axes, workload, hardware string }
	of := func(v *Variant) side { return side{v.Policy, record.AxesLabel(v.Axes), v.Workload, v.Hardware} }
	known := map[[2]side][]*record.ComparisonRow{}
	for i := range rows {
		if r := &rows[i]; r.By == "" {
			pair := [2]side{{r.CandidatePolicy, record.AxesLabel(r.CandidateAxes), r.Workload, r.Hardware},
				{r.BaselinePolicy, record.AxesLabel(r.BaselineAxes), cmp.Or(r.BaselineWorkload, r.Workload),
					cmp.Or(r.BaselineHardware, r.Hardware)}}
			known[pair] = append(known[pair], r)
		}
	}
	n := len(q.Fields)
	for i, f := range q.Fields {
		at := slices.IndexFunc(f.Variants, q.isBase)
		if at < 0 {
			continue
		}
		for k := range f.Variants {
			v := &f.Variants[k]
			name := f.name(*v)
			j := slices.IndexFunc(q.Entries, func(o Entry) bool { return o.Name == name })
			if j < 0 {
				j = len(q.Entries)
				q.Entries = append(q.Entries, Entry{Name: name, Base: q.isBase(*v), At: make([]*Variant, n),
					Rows: make([]*record.ComparisonRow, n), other: make([][]record.ComparisonRow, n),
					Means: slices.Repeat([]stats.Interval{{Mean: math.NaN()}}, n)})
			}
			o := &q.Entries[j]
			o.At[i], o.Means[i] = v, v.mean(q.Metric)
			for _, r := range known[[2]side{of(v), of(&f.Variants[at])}] {
				switch {
				case r.Metric == q.Metric.Name && o.Rows[i] == nil:
					o.Rows[i] = r
				case r.Metric != q.Metric.Name:
					o.other[i] = append(o.other[i], *r)
				}
			}
		}
	}
	q.rank()
}

func (q *Question) isBase(v Variant) bool {
	if q.At == nil {
		return v.Policy == q.Baseline
	}
	return v.at(q.At) && (q.Baseline == "" || v.Policy == q.Baseline)
}

// rank puts the best entries first: the ones with the best mean over the fields, each with the same weight.
func (q *Question) rank() {
	sums := make([]stats.Mean, len(q.Entries))
	for i := range q.Fields {
		most := 0.0
		for _, o := range q.Entries {
			if v := q.level(&o, i); stats.Finite(v) {
				most = max(most, math.Abs(v))
			}
		}
		for k, o := range q.Entries {
			if v := q.level(&o, i); stats.Finite(v) && most > 0 {
				sums[k].Add(v / most)
			}
		}
	}
	for k := range q.Entries {
		q.Entries[k].score = sums[k].Value()
	}
	slices.SortStableFunc(q.Entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(q.late(&a), q.late(&b)), better(a.score, b.score, q.Metric))
	})
}

// level is the mean of an entry in a field by which entries are ranked. If an entry lacks replicates of the baseline,
// its level is the mean of the baseline, changed as in the pairs of both: the other replicates may have more work.
func (q *Question) level(o *Entry, field int) float64 {
	r, base := o.Rows[field], q.Base().Means[field].Mean
	switch {
	case r == nil || alone(*r) || !stats.Finite(r.CandidateMean) || !stats.Finite(base):
		return o.Means[field].Mean
	case r.BaselineMean == base:
		return r.CandidateMean
	case r.BaselineMean == 0:
		return r.CandidateMean + base
	}
	return r.CandidateMean * base / r.BaselineMean
}

// better orders two values of a metric, the better one first and unknown ones (NaN) last.
func better(a, b float64, m measure.Metric) int {
	if math.IsNaN(a) || math.IsNaN(b) || m.HigherBetter {
		return cmp.Compare(b, a) // NaN is below all numbers
	}
	return cmp.Compare(a, b)
}

// Base is the entry of the baseline.
func (q *Question) Base() *Entry {
	return &q.Entries[max(0, slices.IndexFunc(q.Entries, func(o Entry) bool { return o.Base }))]
}

// candidates are the other entries.
func (q *Question) candidates() []Entry {
	return schema.Where(q.Entries, func(o Entry) bool { return !o.Base })
}

// Change is the change of an entry from the baseline in a field; unclear where it was not compared.
func (o *Entry) Change(field int) Change {
	if r := o.Rows[field]; r != nil {
		return ChangeOf(r)
	}
	return Change{Ratio: math.NaN(), Low: math.NaN(), High: math.NaN()}
}

// best are the names of the best entries of a field, the one with the best mean first: each other is equal to it, or no
// test separates it from the best. The tests have Holm's correction for all pairs, since the best is chosen by the same
// data. The comparisons with the baseline, which are fewer, may have detected differences that these tests did not:
// an entry worse than the baseline is not as good, and where the best beats the baseline, neither is an entry that does
// not.
//
// Unsure are the names of entries for whose difference from the best too few runs give an interval. Names is empty if
// too few replicates compare the first with any other, or with the baseline.
func (q *Question) best(e *record.Experiment, field int) (names, unsure []string, err error) {
	known := schema.Where(q.Entries, func(o Entry) bool { return stats.Finite(o.Means[field].Mean) })
	kept := schema.Where(known, func(o Entry) bool { return o.At[field].Keeps(q.Metric) })
	if len(kept) > 0 && len(kept) < len(known) {
		if known = kept; len(known) == 1 {
			return []string{known[0].Name}, nil, nil
		}
	}
	if len(known) < 2 {
		return nil, nil, nil
	}
	slices.SortStableFunc(known, func(a, b Entry) int { return better(q.level(&a, field), q.level(&b, field), q.Metric) })
	first, n := known[0], len(known)-1
	names = []string{first.Name}
	c, unseen := q.Compare, n*(n-1)/2
	c.Block = 0
	others := schema.Each(known[1:], func(o Entry) Variant { return *o.At[field] })
	rows, err := compareWith(e, *first.At[field], others, q.Metric, c, unseen)
	if err != nil {
		return nil, nil, err
	}
	of := first.Change(field)
	for i, r := range rows {
		o := known[i+1]
		against := o.Change(field)
		switch {
		case r.Verdict == record.NotEnoughReplicates && !Undetected(&r):
			return nil, nil, nil
		case Undetected(&r) && against.worth() >= 0 && (of.worth() <= 0 || against.worth() > 0):
			if names = append(names, o.Name); ChangeOf(&r).Finding == unclear {
				unsure = append(unsure, o.Name)
			}
		}
	}
	open := func(o Entry) bool { return !o.Base && o.Change(field).Finding == unclear }
	if slices.Contains(names, q.Base().Name) &&
		(open(first) || len(names) == len(known) && slices.ContainsFunc(known, open)) {
		return nil, nil, nil // too few compare them with the baseline
	}
	return names, unsure, nil
}
