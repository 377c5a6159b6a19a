package report

import (
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/prose"
	"github.com/tfexp/tfexp/results/record"
)

// fidelity is the part of the page about real cells and their simulations.
type fidelity struct {
	Answers  []string
	Table    prose.Table
	Pictures []shownPicture
	More     []string // of pictures that are not shown
}

// fidelity fills in how far simulation and reality are apart; nothing where no
// real cell was simulated.
func (v *view) fidelity(e *record.Experiment) error {
	f := analysis.FidelityOf(e)
	if f.Cells == 0 {
		return nil
	}
	jobs, err := analysis.FidelityJobs(e)
	if err != nil {
		return err
	}
	decisions, err := analysis.FidelityDecisions(e)
	if err != nil {
		return err
	}
	sentences := []string{
		prose.Fidelity(f), prose.FidelityRanks(f), prose.FidelityJobs(jobs), prose.FidelityDecisions(decisions),
	}
	for _, s := range sentences {
		if s != "" {
			v.Fidelity.Answers = append(v.Fidelity.Answers, s)
		}
	}
	v.Fidelity.Table = prose.FidelityTable(f)
	return nil
}
