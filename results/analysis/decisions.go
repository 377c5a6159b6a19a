package analysis

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/tfexp/tfexp/results/record"
)

// FidelityDecisions are the rows of fidelity_decisions.csv: by cell, how long the scheduler decided for real as in
// the simulation. A cell that recorded no decisions has none.
func FidelityDecisions(e *record.Experiment) ([]record.FidelityDecisionRow, error) {
	var rows []record.FidelityDecisionRow
	for _, p := range Pairs(e) {
		real, err := decisions(e, p.Real.CellRef)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		twin, err := decisions(e, p.Twin.CellRef)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		rows = append(rows, compareDecisions(p.Real.Cell, real, twin))
	}
	return rows, nil
}

func decisions(e *record.Experiment, c record.CellRef) ([]record.DecisionRow, error) {
	var list []record.DecisionRow
	for d, err := range e.Decisions(c) {
		if err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, nil
}

// compareDecisions counts the first decisions that are the same in both: what is done to which job, on which cores.
func compareDecisions(cell string, real, twin []record.DecisionRow) record.FidelityDecisionRow {
	row := record.FidelityDecisionRow{Cell: cell, Decisions: len(real), Simulated: len(twin), DiffersAt: -1}
	for row.Same < min(len(real), len(twin)) && decided(real[row.Same]) == decided(twin[row.Same]) {
		row.Same++
	}
	if row.Same < len(real) {
		row.Real, row.DiffersAt = decided(real[row.Same]), real[row.Same].At
	}
	if row.Same < len(twin) {
		row.Instead = decided(twin[row.Same])
		if row.Real == "" {
			row.DiffersAt = twin[row.Same].At
		}
	}
	return row
}

// decided is a decision in words: "resume long-1 on 0-1".
func decided(d record.DecisionRow) string {
	if len(d.Cores) == 0 {
		return fmt.Sprintf("%s %s", d.Decision, d.Job)
	}
	return fmt.Sprintf("%s %s on %s", d.Decision, d.Job, d.Cores)
}
