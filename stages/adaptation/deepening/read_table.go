package deepening

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// Columns are the names of a table's columns. In the file, the names Action and TimeLeft are followed by the number of
// a decision, from 1.
type Columns struct{ Scenario, Action, TimeLeft, Total, Accuracy string }

// DefaultColumns are the names of columns in tables that tfexp writes.
var DefaultColumns = Columns{
	Scenario: "scenario", Action: "a", TimeLeft: "timeleft", Total: "totaltime", Accuracy: "acc",
}

// scenarioSums has sums over the runs of each sequence in a scenario.
type scenarioSums struct {
	name     string
	time     [][]float64 // by decision, and by the index of the actions before it
	visits   [][]float64
	accuracy []float64
	runs     []float64
}

// mostSequences is the greatest number of sequences in a table.
const mostSequences = 1 << 20

// ReadTable reads a table of recorded trainings. A row is a run, with its actions, the time left at each decision, its
// total time and its final accuracy. Runs of one sequence are averaged. If blocks is 0, the greatest action in the file
// gives the number of blocks. A table without a scenario column has one scenario with the given name. A mistake in a
// line is a textfile.LineError; an incomplete table is an error that wraps *MissingSequences.
func ReadTable(file, name string, in io.Reader, c Columns, decisions, blocks int) ([]*OutcomeTable, float64, error) {
	r := tableReader{name: name, columns: c, decisions: decisions, blocks: blocks, lines: map[string]int{}}
	if _, err := textfile.EachRow(file, in, false, r.head, r.row); err != nil {
		return nil, 0, err
	}
	if len(r.rows) == 0 {
		return nil, 0, fmt.Errorf("the table has no rows")
	}
	tables, err := r.tables()
	return tables, r.budget, err
}

// tableReader collects the rows of a table until the number of actions is known.
type tableReader struct {
	name              string
	columns           Columns
	decisions, blocks int
	scenario, total   int // indices of columns; −1 if the table lacks the column
	accuracy          int
	action, left      []int
	rows              []recordedRun
	lines             map[string]int // line number of each row, by its values
	names             []string
	budget            float64
}

type recordedRun struct {
	scenario, line  int
	actions         []int
	used            []float64 // part of the budget that is used, by decision
	accuracy, total float64
}

func (r *tableReader) head(head []string) error {
	r.scenario = slices.Index(head, r.columns.Scenario)
	var err error
	if r.total, err = textfile.Column(head, r.columns.Total); err != nil {
		return err
	}
	if r.accuracy, err = textfile.Column(head, r.columns.Accuracy); err != nil {
		return err
	}
	for d := range r.decisions {
		a, err := textfile.Column(head, r.columns.Action+strconv.Itoa(d+1))
		if err != nil {
			return err
		}
		left, err := textfile.Column(head, r.columns.TimeLeft+strconv.Itoa(d+1))
		if err != nil {
			return err
		}
		r.action, r.left = append(r.action, a), append(r.left, left)
	}
	if slices.Contains(head, r.columns.Action+strconv.Itoa(r.decisions+1)) {
		return fmt.Errorf("decisions is %d, but the table has more: there is a column %q", r.decisions,
			r.columns.Action+strconv.Itoa(r.decisions+1))
	}
	return nil
}

func (r *tableReader) row(line int, row []string) error {
	number := func(column int, what string) (float64, error) {
		v, err := strconv.ParseFloat(strings.TrimSpace(row[column]), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("%s is %q, which is not a number", what, row[column])
		}
		return v, nil
	}
	one := recordedRun{line: line}
	var err error
	if one.total, err = number(r.total, "the time"); err != nil {
		return err
	}
	if one.total <= 0 {
		return fmt.Errorf("the time is %s s: it must be above 0", row[r.total])
	}
	if one.accuracy, err = number(r.accuracy, "the accuracy"); err != nil {
		return err
	}
	if one.accuracy < 0 || one.accuracy > 1 {
		return fmt.Errorf("the accuracy is %s: it must be from 0 to 1", row[r.accuracy])
	}
	before := one.total
	for d := range r.decisions {
		a, err := strconv.Atoi(strings.TrimSpace(row[r.action[d]]))
		switch {
		case err != nil || a < 0:
			return fmt.Errorf("unknown action %q at decision %d: it is the number of a block, from 0", row[r.action[d]],
				d+1)
		case r.blocks > 0 && a > r.blocks:
			return fmt.Errorf("unknown action %d at decision %d: blocks have the numbers 0 to %d, and %d is nothing",
				a, d+1, r.blocks-1, r.blocks)
		}
		left, err := number(r.left[d], "the time left")
		if err != nil {
			return err
		}
		if left < 0 || left > one.total {
			return fmt.Errorf("the time left at decision %d is %s s, of %s s: it must be from 0 to the whole time", d+1,
				row[r.left[d]], row[r.total])
		}
		if left > before {
			return fmt.Errorf("the time left at decision %d is %s s, more than the %s s at the decision before it", d+1,
				row[r.left[d]], row[r.left[d-1]])
		}
		before = left
		one.actions, one.used = append(one.actions, a), append(one.used, 1-left/one.total)
	}
	name := r.name
	if r.scenario >= 0 {
		if name = strings.TrimSpace(row[r.scenario]); name == "" {
			return fmt.Errorf("the scenario has no name")
		}
	}
	if one.scenario = slices.Index(r.names, name); one.scenario < 0 {
		one.scenario = len(r.names)
		r.names = append(r.names, name)
	}
	key := fmt.Sprint(one.scenario, one.actions, one.used, one.total, one.accuracy)
	if earlier, ok := r.lines[key]; ok {
		return fmt.Errorf("it repeats line %d, number for number, so that one training would count twice: leave one out",
			earlier)
	}
	r.lines[key] = line
	r.budget = math.Max(r.budget, one.total)
	r.rows = append(r.rows, one)
	return nil
}

// tables returns a table for each scenario.
func (r *tableReader) tables() ([]*OutcomeTable, error) {
	blocks := r.blocks
	for _, one := range r.rows {
		if r.blocks == 0 {
			blocks = max(blocks, slices.Max(one.actions))
		}
	}
	if blocks == 0 {
		return nil, fmt.Errorf("the table has one action, which leaves nothing to decide")
	}
	actions, size := blocks+1, 1
	for range r.decisions {
		if size *= actions; size > mostSequences {
			return nil, fmt.Errorf("%d decisions between %d actions are more than %d sequences", r.decisions, actions,
				mostSequences)
		}
	}
	all := make([]scenarioSums, len(r.names))
	for i, name := range r.names {
		all[i] = newSums(name, r.decisions, actions)
	}
	for _, one := range r.rows {
		all[one.scenario].add(one, actions)
	}
	var tables []*OutcomeTable
	missing := &MissingSequences{Sequences: size, Greatest: blocks}
	if r.blocks == 0 {
		missing.Line = r.rows[slices.IndexFunc(r.rows, func(o recordedRun) bool {
			return slices.Contains(o.actions,
				blocks)
		})].line
	}
	for i := range all {
		tables = append(tables, all[i].table(r.decisions, actions, missing))
	}
	if len(missing.In) > 0 {
		return nil, missing
	}
	return tables, nil
}

func newSums(name string, decisions, actions int) scenarioSums {
	s := scenarioSums{name: name}
	states := 1
	for range decisions {
		s.time, s.visits = append(s.time, make([]float64, states)), append(s.visits, make([]float64, states))
		states *= actions
	}
	s.accuracy, s.runs = make([]float64, states), make([]float64, states)
	return s
}

func (s *scenarioSums) add(one recordedRun, actions int) {
	at := 0
	for d, a := range one.actions {
		s.time[d][at] += one.used[d]
		s.visits[d][at]++
		at = at*actions + a
	}
	s.accuracy[at] += one.accuracy
	s.runs[at]++
}

// table divides the sums by the numbers of runs. It adds sequences without a run to missing.
func (s *scenarioSums) table(decisions, actions int, missing *MissingSequences) *OutcomeTable {
	t := &OutcomeTable{Name: s.name, Decisions: decisions, Actions: actions, Time: s.time, Accuracy: s.accuracy}
	lack := MissingInScenario{Scenario: s.name}
	for i, n := range s.runs {
		if n == 0 {
			if lack.Count++; lack.Count == 1 {
				lack.First = t.Sequence(i)
			}
			continue
		}
		t.Accuracy[i] /= n
	}
	for d := range t.Time {
		for i, n := range s.visits[d] {
			t.Time[d][i] /= math.Max(n, 1)
		}
	}
	if lack.Count > 0 {
		missing.In = append(missing.In, lack)
	}
	return t
}

// MissingSequences is the error for a table that lacks runs of some sequences.
type MissingSequences struct {
	// Sequences is the number of sequences that each scenario should have.
	Sequences int
	// Greatest is the greatest action in the file, and Line the first line with it. Both are 0 if the number of blocks
	// was given.
	Greatest, Line int
	In             []MissingInScenario
}

// MissingInScenario has the number of sequences that a scenario lacks, and the first of them.
type MissingInScenario struct {
	Scenario string
	Count    int
	First    []int
}

// Error implements error.
func (m *MissingSequences) Error() string {
	var parts []string
	for _, l := range m.In {
		parts = append(parts, fmt.Sprintf("%s lacks %d of %d sequences, for example (%s)", l.Scenario, l.Count,
			m.Sequences,
			FormatSequence(l.First)))
	}
	return strings.Join(parts, "; ")
}

// FormatSequence returns a sequence as text: "0 1 1".
func FormatSequence(sequence []int) string {
	text := make([]string, len(sequence))
	for i, a := range sequence {
		text[i] = strconv.Itoa(a)
	}
	return strings.Join(text, " ")
}
