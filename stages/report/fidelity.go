package report

import "github.com/tfexp/tfexp/results"

// fidelity is the part of the page about real cells and their simulations.
type fidelity struct {
	Answers  []string
	Table    results.Table
	Pictures []picture
	More     int // pictures that are not shown
}

// fidelity fills in how far simulation and reality are apart; nothing where no
// real cell was simulated.
func (v *view) fidelity(e *results.Experiment) error {
	f := e.Fidelity()
	if f.Cells == 0 {
		return nil
	}
	jobs, err := e.FidelityJobs()
	if err != nil {
		return err
	}
	for _, s := range []string{f.Sentence(), f.RankSentence(), results.FidelityJobsSentence(jobs)} {
		if s != "" {
			v.Fidelity.Answers = append(v.Fidelity.Answers, s)
		}
	}
	v.Fidelity.Table = f.Table()
	return nil
}
