package deepen

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/scheduler/adaptation"
)

// went reads how the training in a folder went, from what its program reported and what was decided.
func went(dir string) (adaptation.Trained, error) {
	out := adaptation.Trained{Trained: math.NaN(), Step: math.NaN()}
	did, err := read(dir)
	if err != nil {
		return out, err
	}
	out.Final = did.accuracy
	for _, row := range did.decisions() {
		out.Decided = append(out.Decided, row.Used)
	}
	lines, err := record.ProgressIn(dir)
	if err != nil {
		return out, fmt.Errorf("read a training: %w", err)
	}
	var steps []float64
	last := 0
	for _, l := range lines {
		if stats.Finite(l.Accuracy) && stats.Finite(l.Used) {
			out.Times, out.Accuracies = append(out.Times, l.Used), append(out.Accuracies, l.Accuracy)
		}
		if stats.Finite(l.Left) && stats.Finite(l.TimeLeft) {
			out.Told = append(out.Told, l.TimeLeft-l.Left)
		}
		if n := l.Step - last; n > 0 && l.Seconds > 0 {
			steps = append(steps, l.Seconds/float64(n))
		}
		last = l.Step
	}
	if slices.Sort(steps); len(steps) > 0 {
		out.Step = stats.Quantile(steps, 0.5)
	}
	return out, said(dir, &out)
}

// said takes from the log of a training what its progress lines do not have.
func said(dir string, out *adaptation.Trained) error {
	logs, err := filepath.Glob(filepath.Join(dir, record.LogsDir, "*.log"))
	if err != nil || len(logs) == 0 {
		return err
	}
	f, err := folder.Open(filepath.Split(logs[0])) // there is one job
	if err != nil {
		return fmt.Errorf("read a training: %w", err)
	}
	defer f.Close()
	report, err := contract.Parse(f, contract.Last)
	if err != nil {
		return fmt.Errorf("read a training: %w", err)
	}
	for _, d := range report.Deepened {
		out.Deepening = append(out.Deepening, d.Seconds)
	}
	if report.Trained != nil {
		out.Trained = *report.Trained
	}
	return nil
}

// all reads how the trainings of an adaptation went that are there: by sequences, and those that controllers decided
// in.
func (t *trainer) all() ([]adaptation.Trained, error) {
	var list []adaptation.Trained
	for k, sc := range t.Real.Scenarios {
		for i := range t.Real.Sequences() {
			if !t.Real.Exhaustive {
				break
			}
			task, key, err := t.task(k, t.sequence(i))
			if err != nil || !complete(task.Dir, key) {
				continue
			}
			one, err := went(task.Dir)
			if err != nil {
				return nil, err
			}
			one.Scenario = sc.Name
			one.Actions = (&adaptation.AgentTable{Decisions: t.Real.Decisions, Actions: t.Real.Blocks + 1}).Sequence(i)
			list = append(list, one)
		}
	}
	for i := range t.Study.Chosen {
		c := &t.Study.Chosen[i]
		one, err := went(c.Dir)
		if err != nil {
			return nil, err
		}
		one.Controller, one.Scenario, one.Seed, one.Actions = c.Controller, c.Scenario, c.Seed, c.Actions()
		list = append(list, one)
	}
	return list, nil
}
