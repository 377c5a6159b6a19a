package adaptation

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
)

// readCourse reads the course of one real training from its folder: the reports of its program, and the decisions.
func readCourse(dir string) (deepening.RealTraining, error) {
	out := deepening.RealTraining{Trained: math.NaN(), Step: math.NaN()}
	did, err := readTraining(dir)
	if err != nil {
		return out, err
	}
	out.Accuracy = did.accuracy
	for _, row := range did.decisions() {
		out.Decided = append(out.Decided, row.Used)
	}
	lines, err := record.Progress.ReadLive(dir)
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
	return out, readLogValues(dir, &out)
}

// readLogValues reads values of a training that only the program's log has.
func readLogValues(dir string, out *deepening.RealTraining) error {
	logs, err := filepath.Glob(filepath.Join(dir, record.LogsDir, "*.log"))
	if err != nil || len(logs) == 0 {
		return err
	}
	f, err := folder.Open(filepath.Split(logs[0])) // the first log: a training has one job
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
	out.Trained = schema.Or(report.Trained, out.Trained)
	return nil
}

// all reads the courses of an adaptation's finished trainings: by sequences of the table, and with controllers.
func (t *trainer) all() ([]deepening.RealTraining, error) {
	var list []deepening.RealTraining
	for k, sc := range t.Real.Scenarios {
		for i := range t.Real.Sequences() {
			if !t.Real.Exhaustive {
				break
			}
			task, key, err := t.task(k, t.sequence(i))
			if err != nil || !complete(task.Dir, key) {
				continue
			}
			one, err := readCourse(task.Dir)
			if err != nil {
				return nil, err
			}
			one.Scenario = sc.Name
			sequence := (&deepening.OutcomeTable{Decisions: t.Real.Decisions, Actions: t.Real.Blocks + 1}).Sequence(i)
			one.Sequence = deepening.FormatSequence(sequence)
			list = append(list, one)
		}
	}
	for i := range t.Study.Chosen {
		c := &t.Study.Chosen[i]
		one, err := readCourse(c.Dir)
		if err != nil {
			return nil, err
		}
		one.Controller, one.Scenario, one.Seed = c.Controller.Name, c.Scenario, c.Seed
		one.Sequence = deepening.FormatSequence(c.Actions())
		list = append(list, one)
	}
	for i := range list {
		list[i].Adaptation, list[i].Budget = t.Name, t.Real.Budget.Seconds()
	}
	return list, nil
}
