package execute

import (
	"errors"
	"github.com/tfexp/tfexp/stages"
	"math"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/progress"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
)

// live are the tables of a real cell that are written while it runs. The zero
// value writes none.
type live struct {
	jobs     []scheduler.Job
	progress *table.Live[record.ProgressRow]
	usage    *table.Live[record.ContainerRow] // nil for processes
}

// openLive begins the tables of a cell; the caller closes them, after its
// engine. A cell that records its metrics alone has none.
func openLive(task stages.Task, jobs []scheduler.Job, containers bool) (*live, error) {
	l := &live{jobs: jobs}
	if task.Records == record.MetricsOnly {
		return l, nil
	}
	var err error
	if l.progress, err = record.NewProgressWriter(task.Dir); err == nil && containers {
		l.usage, err = record.NewContainerWriter(task.Dir)
	}
	if err != nil {
		return nil, errors.Join(err, l.close(nil))
	}
	return l, nil
}

// report returns what takes the progress lines of the jobs, or nil.
func (l *live) report() progress.Listener {
	if l.progress == nil {
		return nil
	}
	value := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	return func(job int, at time.Duration, p contract.Progress) {
		l.progress.Add(record.ProgressRow{
			At: at.Seconds(), Job: l.jobs[job].Name, Epoch: p.Epoch, Step: p.Step, Threads: p.Threads,
			Loss: value(p.Loss), Accuracy: value(p.Accuracy), Seconds: value(p.Seconds),
		})
	}
}

// observe returns what takes the samples of the containers, or nil.
func (l *live) observe() func(engine.Sample) {
	if l.usage == nil {
		return nil
	}
	return func(s engine.Sample) {
		row := record.ContainerRow{At: s.At.Seconds(), Job: l.jobs[s.Job].Name, CPU: s.CPU, Memory: float64(s.Memory),
			Cores: s.Cores}
		if s.Limit > 0 {
			row.MemoryPct = 100 * float64(s.Memory) / float64(s.Limit)
		}
		l.usage.Add(row)
	}
}

// close ends the tables; their engine is closed, so that no rows come any more.
// out, which may be nil, is told their files. What is closed already stays so.
func (l *live) close(out *record.Cell) error {
	var errs []error
	ended := func(f record.File, err error) {
		errs = append(errs, err)
		if out != nil && f.Name != "" {
			out.Files = append(out.Files, f)
		}
	}
	if l.progress != nil {
		ended(l.progress.Close())
	}
	if l.usage != nil {
		ended(l.usage.Close())
	}
	return errors.Join(errs...)
}
