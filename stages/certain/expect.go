package certain

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/execute"
)

// Expected predicts when an experiment will be decided, from simulations of the experiment.
type Expected struct {
	Simulated   int                  `json:"simulated"`
	Unknown     string               `json:"unknown,omitempty"` // the reason, if there is no prediction
	Comparisons []ExpectedComparison `json:"comparisons,omitempty"`
}

// ExpectedComparison predicts when a comparison is decided. It has the share of simulations that decide it. Replicates
// and seconds are medians over these simulations, with the range of replicates of the middle 80%. If no simulation
// decides it, they are over all simulations.
type ExpectedComparison struct {
	Metric     string  `json:"metric"`
	Workload   string  `json:"workload"`
	Hardware   string  `json:"hardware"`
	Candidate  string  `json:"candidate"`
	Baseline   string  `json:"baseline"`
	Decided    float64 `json:"decided"`
	Replicates float64 `json:"replicates"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Seconds    float64 `json:"seconds"`
}

// The number of simulations of experiments with real cells, and the time limit for simulating any experiment.
const (
	mostSimulated = 40
	simulateFor   = 4 * time.Second
)

// Expect implements stages.ExpectPart.
func (c certain) Expect(ctx context.Context, known stages.Known) stages.Expectation {
	ctx, cancel := context.WithTimeout(ctx, simulateFor)
	defer cancel()
	most := 1 // one simulation suffices if cells are simulated: the run has the same results
	if slices.ContainsFunc(known.Refs, record.CellRef.Real) {
		most = mostSimulated
	}
	var said stages.Expectation
	var all []simulation
	for len(all) < most && (len(all) == 0 || ctx.Err() == nil) {
		e, err := c.simulate(ctx, known, len(all))
		switch {
		case err != nil && len(all) == 0:
			return stages.Expectation{Value: Expected{Unknown: why(err)},
				Lines: []stages.ExpectedLine{{Text: "\nReplicates until decided: unknown, since " + why(err)}}}
		case err == nil && len(e.ran) == 0:
			return stages.Expectation{} // nothing is left to run
		case err == nil:
			all = append(all, e)
		}
	}
	title := "\nReplicates until decided, by simulation:"
	switch {
	case len(all) < most:
		title = fmt.Sprintf("\nReplicates until decided, in %s (more would take longer than %s):",
			schema.Plural(len(all), "simulated experiment"), simulateFor)
	case most > 1:
		title = fmt.Sprintf("\nReplicates until decided, in %d simulated experiments:", most)
	}
	said.Lines = append(said.Lines, stages.ExpectedLine{Text: title})
	v := Expected{Simulated: len(all)}
	for n := range all[0].rows {
		one := c.expected(all, n)
		v.Comparisons = append(v.Comparisons, one)
		switch {
		case n < mostRows:
			said.Lines = append(said.Lines, one.line(most > 1, c.looks[len(c.looks)-1]))
		case n == mostRows:
			said.Lines = append(said.Lines, stages.ExpectedLine{Text: fmt.Sprintf("  and %d more, which --json lists",
				len(all[0].rows)-n)})
		}
	}
	said.Value = v
	return said
}

// why returns the reason why there is no prediction.
func why(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("one simulation of the experiment takes longer than %s", simulateFor)
	case errors.Is(err, stages.ErrNoEstimate):
		return "the jobs have no samples yet; a run takes them first, and plan uses them afterwards"
	}
	return err.Error()
}

// expected summarizes the n-th comparison over all simulations.
func (c certain) expected(all []simulation, n int) ExpectedComparison {
	var replicates, seconds [2][]float64 // index 0: undecided, 1: decided simulations
	for _, e := range all {
		k := min(1, int(c.decision(&e.rows[n])))
		took := 0.0
		for _, cell := range e.ran {
			if cell.Real() && cell.Replicate <= e.rows[n].Pairs {
				took += cell.Seconds
			}
		}
		replicates[k], seconds[k] = append(replicates[k], float64(e.rows[n].Pairs)), append(seconds[k], took)
	}
	r, k := &all[0].rows[n], min(1, len(replicates[1]))
	return ExpectedComparison{Metric: r.Metric, Workload: r.Workload, Hardware: r.Hardware, Candidate: r.Candidate,
		Baseline: r.Baseline,
		Decided:  float64(len(replicates[1])) / float64(len(all)), Replicates: stats.QuantileOf(replicates[k], 0.5),
		Low: stats.QuantileOf(replicates[k], 0.1), High: stats.QuantileOf(replicates[k], 0.9),
		Seconds: stats.QuantileOf(seconds[k], 0.5)}
}

// line describes the prediction in words; most is the largest number of replicates.
func (e ExpectedComparison) line(varies bool, most int) stages.ExpectedLine {
	m, _ := measure.MetricByName(e.Metric)
	text := fmt.Sprintf("  %s against %s in %s: ", e.Candidate, e.Baseline, m.Title)
	if varies {
		text += "probably "
	}
	after := fmt.Sprintf("after %.0f", e.Low)
	if e.High > e.Low {
		after += fmt.Sprintf(" to %.0f (median %.0f)", e.High, e.Replicates)
	}
	switch {
	case e.Decided == 0:
		text += "undecided with " + schema.Plural(int(e.Replicates), "replicate")
	case e.Decided < 1:
		text += fmt.Sprintf("%s in %s of them, undecided in the others", after, table.Share(e.Decided))
	default:
		text += fmt.Sprintf("%s of at most %d", after, most)
	}
	return stages.ExpectedLine{Text: text, Took: time.Duration(e.Seconds * float64(time.Second))}
}

// simulation is a simulated experiment: its comparisons, and the cells that were simulated.
type simulation struct {
	rows []record.ComparisonRow
	ran  []record.Cell
}

// simulate simulates the experiment until the rule ends it, as in a run.
func (c certain) simulate(ctx context.Context, known stages.Known, number int) (e simulation, err error) {
	s := c.selection(known.Refs)
	over := map[string]record.Cell{}
	var next []int
	for i := range known.Refs {
		if !s.Holds(i) {
			next = append(next, i)
		}
	}
	for len(next) > 0 {
		cells, here := make([]record.Cell, len(next)), make([]bool, len(next))
		var work errgroup.Group
		work.SetLimit(runtime.GOMAXPROCS(0))
		for n, i := range next {
			if cells[n], here[n] = known.Over(known.Refs[i].Cell); !here[n] {
				work.Go(func() (err error) {
					cells[n], err = c.simulateCell(ctx, known.Cells[i], known.Refs[i], number)
					return err
				})
			}
		}
		if err := work.Wait(); err != nil {
			return e, err
		}
		for n, i := range next {
			if over[known.Refs[i].Cell] = cells[n]; !here[n] {
				e.ran = append(e.ran, cells[n])
			}
		}
		next = s.Next(func(cell string) (record.Cell, bool) {
			one, ok := over[cell]
			return one, ok
		})
	}
	e.rows = s.rows
	return e, nil
}

// simulateCell simulates a cell without recording it. Run times of real cells' jobs vary around their estimates, as
// much as the estimates' intervals say.
func (c certain) simulateCell(ctx context.Context, cell stages.Cell, ref record.CellRef, number int) (record.Cell, error) {
	seen := stages.Seen{Estimated: cell.Estimated()}
	find := cell.Task
	if ref.Real() {
		find = func(stages.Folders) (stages.Task, error) {
			task, _, err := cell.Twin(seen)
			return task, err
		}
	}
	task, err := find(stages.Folders{})
	if err != nil {
		return record.Cell{}, err
	}
	if task.Base != "" {
		return record.Cell{}, fmt.Errorf("the policy %s is a program, which plans do not start", ref.Policy)
	}
	if ref.Real() {
		o := &task.Simulation.Options
		o.Noise, o.Seed = estimator.PriorPaceSD, workload.Stream(ref.Seed, "expect", ref.Cell, strconv.Itoa(number)).Int64()
		for _, e := range seen.Estimated {
			o.Noise = max(o.Noise, estimator.Prediction{Seconds: e.Predicted, Low: e.Low, High: e.High}.LogSD(c.level))
		}
	}
	task.Records, task.Folders = record.MetricsOnly, stages.Folders{}
	out, err := execute.Simulate(ctx, task, nil)
	if out.CellRef = ref; ref.Real() {
		out.Seconds = measure.Makespan.Of(&out.Metrics)
	}
	return out, err
}
