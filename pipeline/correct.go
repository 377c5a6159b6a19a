package pipeline

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
)

// recallRuns has the estimates learn from the real cells that have finished in earlier runs, in the order in which they
// ran.
func (r *run) recallRuns() {
	type ran struct {
		cell  int
		began string
	}
	var all []ran
	for i, ref := range r.Cells {
		var c record.Cell
		if r.Work[i].Reuse && ref.Real() && record.ReadCellFile(r.folder(ref.Cell), &c) == nil {
			all = append(all, ran{i, c.Began})
		}
	}
	slices.SortStableFunc(all, func(a, b ran) int { return cmp.Compare(a.began, b.began) })
	for _, c := range all {
		r.learn(c.cell)
	}
}

// learn has the estimates of later cells learn from a real cell that is over: what its jobs took, against its
// simulation by their samples. A cell that says nothing of that (it failed, the machine slept, it kept only its
// metrics, or it cannot be simulated) changes nothing. One beside other load does: later cells may run beside it as well.
func (r *run) learn(i int) {
	c := r.cells[i]
	executes := stages.Find(stages.Writer(stages.Cells))
	var ran record.Cell
	if executes == nil || executes.Predict == nil || !c.Corrects() ||
		record.ReadCellFile(r.folder(c.Ref.Cell), &ran) != nil ||
		ran.State != record.CellFinished || ran.Paused() {
		return
	}
	seen := stages.SeenBy(&ran)
	seen.Estimated = nil
	task, _, err := c.Twin(seen)
	if err != nil {
		return
	}
	simulated, err := executes.Predict(context.Background(), task)
	if err != nil {
		return
	}
	number := map[string]int{}
	for n := range task.Setup.Jobs {
		number[task.Setup.Jobs[n].Name] = n
	}
	longer := make([]float64, len(task.Setup.Jobs))
	columns := []string{"job", "state", "service_s", "threads_requested", "threads_mean", "resizes"}
	err = (&record.Experiment{Dir: r.Dir}).EachJob(c.Ref, columns, 1, func(row *record.JobRow) bool {
		n, ok := number[row.Job]
		if ok && n < len(simulated.Jobs) && row.Whole() && simulated.Jobs[n].Service > 0 {
			longer[n] = row.Service / simulated.Jobs[n].Service.Seconds()
		}
		return true
	})
	if err == nil {
		err = c.Learn(longer)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it may have kept only its metrics
		r.Warn("correct", c.Ref.Cell, "later estimates do not learn from it: "+err.Error())
	}
}
