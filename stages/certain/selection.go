// Package certain adds replicates to an experiment until its comparisons are decided.
package certain

import (
	"cmp"
	"slices"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages"
)

// decides reports whether comparisons of a metric must be decided.
func (r *Rule) decides(metric string) bool {
	return len(r.Metrics) == 0 || slices.Contains(r.Metrics, metric)
}

// Decision is the state of a comparison.
type Decision int

// The values of Decision.
const (
	Undecided Decision = iota
	Same               // the ratio is within Rule.Within of 1
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

// vague reports whether a row has a difference whose size is unknown, because it has too few pairs.
func vague(row *record.ComparisonRow) bool {
	return (row.Verdict == record.Better || row.Verdict == record.Worse) && row.Method == stats.PairedT &&
		analysis.ChangeOf(row).Few != ""
}

// dropped reports whether a row gets no more replicates because its policy is worse in another row.
func (r *Rule) dropped(row *record.ComparisonRow, rows []record.ComparisonRow) bool {
	return r.DropLosers && r.decision(row) == Undecided && slices.ContainsFunc(rows, func(o record.ComparisonRow) bool {
		return r.decision(&o) == Worse && o.Candidate == row.Candidate && o.Workload == row.Workload &&
			o.Hardware == row.Hardware
	})
}

// selection selects the replicates that run next, for comparisons that are not decided.
type selection struct {
	certain
	cells []record.CellRef
	look  int                    // the current check: its replicates run or have ended
	upto  int                    // the last replicate requested for this check
	want  map[int]bool           // cells that get replicates, by index in cells
	rows  []record.ComparisonRow // at the last check
	asked map[int]bool
	ended bool
}

// Select implements stages.SelectPart.
func (c certain) Select(cells []record.CellRef) stages.Selection {
	if len(c.looks) <= 1 {
		return nil
	}
	return c.selection(cells)
}

func (c certain) selection(cells []record.CellRef) *selection {
	return &selection{certain: c, cells: cells, upto: c.looks[0], asked: map[int]bool{}}
}

// Holds implements stages.Selection.
func (s *selection) Holds(cell int) bool { return s.cells[cell].Replicate > s.looks[0] }

// Ahead implements stages.Selection.
func (s *selection) Ahead() (n int) {
	for _, c := range s.cells {
		if !s.ended && c.Replicate > s.upto {
			n++
		}
	}
	return n
}

// Next implements stages.Selection. It checks the comparisons when all replicates of the current check have ended, or
// the time limit has passed. The result depends only on results, so a resumed run makes the same checks.
func (s *selection) Next(over func(cell string) (record.Cell, bool)) (next []int) {
	for !s.ended && len(next) == 0 {
		e, whole := s.seen(over)
		if !whole {
			return nil
		}
		planned := len(s.looks) - len(s.added) // without checks of added replicates
		late := s.late(e) && s.look < planned
		if s.upto < s.looks[s.look] && !late {
			next = s.give()
			continue
		}
		rows, err := analysis.Comparisons(e)
		if err != nil {
			s.ended = true
			return nil
		}
		s.rows, s.want = rows, s.wanted(rows, func(r *record.ComparisonRow) bool {
			return s.decision(r) == Undecided && !s.dropped(r, rows)
		})
		if s.look++; late || s.look >= planned || len(s.want) == 0 { // the planned replicates have ended
			if s.look = max(s.look, planned); s.look == len(s.looks) {
				s.ended = true
				return nil
			}
			s.want = s.wanted(rows, s.worthMore(rows))
		}
		next = s.give()
	}
	return next
}

// give returns the next replicates of the current check. With a time limit it returns one replicate at a time.
func (s *selection) give() (next []int) {
	for len(next) == 0 && s.upto < s.looks[s.look] {
		if s.upto++; s.Seconds == 0 {
			s.upto = s.looks[s.look]
		}
		for i, c := range s.cells {
			if s.want[i] && s.Holds(i) && c.Replicate <= s.upto && !s.asked[i] {
				next, s.asked[i] = append(next, i), true
			}
		}
	}
	return next
}

// seen returns the experiment at the current check. whole is false if a result is missing. After the first check, only
// requested cells count, since results of an earlier run may exist.
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

// late reports whether the time limit for cells has passed.
func (r *Rule) late(e *record.Experiment) bool {
	seconds := 0.0
	for i := range e.Cells {
		seconds += e.Cells[i].Seconds
	}
	return r.Seconds > 0 && seconds >= r.Seconds
}

// worthMore returns a function that selects the comparisons which get added replicates: undecided ones and ones of
// unknown size, or else all comparisons.
func (s *selection) worthMore(rows []record.ComparisonRow) func(*record.ComparisonRow) bool {
	unknown := func(r *record.ComparisonRow) bool { return s.decision(r) == Undecided || vague(r) }
	none := !slices.ContainsFunc(rows, func(r record.ComparisonRow) bool { return unknown(&r) })
	return func(r *record.ComparisonRow) bool { return none || unknown(r) }
}

// wanted returns the cells of the comparisons that these selects.
func (s *selection) wanted(rows []record.ComparisonRow, these func(*record.ComparisonRow) bool) map[int]bool {
	want := map[int]bool{}
	for n := range rows {
		r := &rows[n]
		if !these(r) {
			continue
		}
		for i, c := range s.cells {
			candidate := c.Workload == r.Workload && c.Hardware == r.Hardware && c.Policy == r.CandidatePolicy &&
				slices.Equal(c.Axes, r.CandidateAxes)
			if candidate || c.Workload == cmp.Or(r.BaselineWorkload, r.Workload) && c.Policy == r.BaselinePolicy &&
				c.Hardware == cmp.Or(r.BaselineHardware, r.Hardware) && slices.Equal(c.Axes, r.BaselineAxes) {
				want[i] = true
			}
		}
	}
	return want
}
