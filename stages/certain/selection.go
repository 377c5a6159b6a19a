// Package certain adds replicates to an experiment until its comparisons are decided.
package certain

import (
	"slices"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages"
)

// decides reports whether the comparisons of a metric have to be decided.
func (r *Rule) decides(metric string) bool {
	return len(r.Metrics) == 0 || slices.Contains(r.Metrics, metric)
}

// Decision is the outcome of a comparison.
type Decision int

// Decisions.
const (
	Undecided Decision = iota
	Same               // within Rule.Within
	Better
	Worse
)

// decision returns the outcome of a row.
func (r *Rule) decision(row *record.ComparisonRow) Decision {
	switch {
	case row.Verdict == record.Better:
		return Better
	case row.Verdict == record.Worse:
		return Worse
	case row.Method == record.OneRun || row.CILow >= 1-r.Within && row.CIHigh <= 1+r.Within:
		return Same
	}
	return Undecided
}

// vague reports whether a row has a difference whose size its pairs do not say.
func vague(row *record.ComparisonRow) bool {
	return (row.Verdict == record.Better || row.Verdict == record.Worse) && row.Method == stats.PairedT &&
		analysis.ChangeOf(row).Few != ""
}

// selection adds the replicates of comparisons that are not decided.
type selection struct {
	certain
	cells []record.CellRef
	look  int                    // whose replicates are being run, or are over
	rows  []record.ComparisonRow // at the last look
	asked map[int]bool
	ended bool
}

// Select implements stages.SelectPart.
func (c certain) Select(cells []record.CellRef) stages.Selection {
	if len(c.looks) <= 1 {
		return nil
	}
	return &selection{certain: c, cells: cells, asked: map[int]bool{}}
}

// Holds implements stages.Selection.
func (s *selection) Holds(cell int) bool { return s.cells[cell].Replicate > s.looks[0] }

// Ahead implements stages.Selection.
func (s *selection) Ahead() (n int) {
	for _, c := range s.cells {
		if !s.ended && c.Replicate > s.looks[s.look] {
			n++
		}
	}
	return n
}

// Next implements stages.Selection: it looks at the results when all replicates of a look are over. Its answer depends on
// them alone, so that a resumed run has the same looks.
func (s *selection) Next(over func(cell string) (record.Cell, bool)) (next []int) {
	for !s.ended && len(next) == 0 {
		e, whole := s.seen(over)
		if !whole {
			return nil
		}
		rows, err := analysis.Comparisons(e)
		if err != nil {
			s.ended = true
			return nil
		}
		s.rows = rows
		planned := len(s.looks) - len(s.added) // looks
		if s.look < planned-1 && !(s.Seconds > 0 && ran(e) >= s.Seconds) {
			s.look++
			next = s.give(s.wanted(rows, s.open(rows)))
		}
		if len(next) == 0 { // the planned replicates are over
			if s.look = max(s.look+1, planned); s.look == len(s.looks) {
				s.ended = true
				return nil
			}
			next = s.give(s.wanted(rows, s.worthMore(rows)))
		}
	}
	return next
}

// give returns the replicates of some cells up to the present look that were not asked for before.
func (s *selection) give(cells map[int]bool) (next []int) {
	for i := range cells {
		if r := s.cells[i].Replicate; s.Holds(i) && r <= s.looks[s.look] && !s.asked[i] {
			next, s.asked[i] = append(next, i), true
		}
	}
	slices.Sort(next)
	return next
}

// seen is the experiment as it is at the present look; whole is false while a cell of it is missing. Cells beyond the first
// look count if they were asked for: others may be left of an earlier run.
func (s *selection) seen(over func(cell string) (record.Cell, bool)) (e *record.Experiment, whole bool) {
	e = &record.Experiment{Plan: record.Plan{Compares: s.compares, Replicates: s.looks[len(s.looks)-1]}}
	for i, ref := range s.cells {
		if s.Holds(i) && !s.asked[i] {
			continue
		}
		c, ok := over(ref.Cell)
		if !ok {
			return nil, false
		}
		c.CellRef = ref
		e.Plan.Cells, e.Cells = append(e.Plan.Cells, ref), append(e.Cells, c)
	}
	return e, true
}

// ran is how long the cells ran in all, in seconds.
func ran(e *record.Experiment) (seconds float64) {
	for i := range e.Cells {
		seconds += e.Cells[i].Seconds
	}
	return seconds
}

// open reports which comparisons still need replicates: the undecided ones of policies that are not dropped.
func (s *selection) open(rows []record.ComparisonRow) func(*record.ComparisonRow) bool {
	return func(r *record.ComparisonRow) bool {
		return s.decision(r) == Undecided && !(s.DropLosers && slices.ContainsFunc(rows, func(o record.ComparisonRow) bool {
			return s.decision(&o) == Worse && candidate(&o).is(candidate(r))
		}))
	}
}

// worthMore are the comparisons that get replicates which were asked for afterwards: those that are undecided or do not say
// the size of a difference; all, where there are none.
func (s *selection) worthMore(rows []record.ComparisonRow) func(*record.ComparisonRow) bool {
	unknown := func(r *record.ComparisonRow) bool { return s.decision(r) == Undecided || vague(r) }
	none := !slices.ContainsFunc(rows, func(r record.ComparisonRow) bool { return unknown(&r) })
	return func(r *record.ComparisonRow) bool { return none || unknown(r) }
}

// wanted are the cells of some of the comparisons.
func (s *selection) wanted(rows []record.ComparisonRow, these func(*record.ComparisonRow) bool) map[int]bool {
	var sides []side
	for i := range rows {
		if r := &rows[i]; these(r) {
			sides = append(sides, candidate(r), baseline(r))
		}
	}
	want := map[int]bool{}
	for i, c := range s.cells {
		of := side{c.Workload, c.Hardware, c.Policy, c.Axes}
		if slices.ContainsFunc(sides, of.is) {
			want[i] = true
		}
	}
	return want
}

// side is one of two that are compared.
type side struct {
	workload, hardware, policy string
	axes                       []record.Setting
}

func candidate(r *record.ComparisonRow) side {
	return side{r.Workload, r.Hardware, r.CandidatePolicy, r.CandidateAxes}
}

func baseline(r *record.ComparisonRow) side {
	b := side{r.BaselineWorkload, r.BaselineHardware, r.BaselinePolicy, r.BaselineAxes}
	if b.workload == "" {
		b.workload = r.Workload
	}
	if b.hardware == "" {
		b.hardware = r.Hardware
	}
	return b
}

func (s side) is(o side) bool {
	return s.workload == o.workload && s.hardware == o.hardware && s.policy == o.policy && slices.Equal(s.axes, o.axes)
}
