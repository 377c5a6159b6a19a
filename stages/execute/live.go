package execute

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// live are the tables of a real cell that are written while it runs. The zero
// value writes none.
type live struct {
	cell     string
	jobs     []scheduler.Job
	progress *table.Live[record.ProgressRow]
	usage    *table.Live[record.ContainerRow] // nil for processes

	mu sync.Mutex // guards what follows
	// used is the service time up to an instant; nil where the engine does not know it.
	used     func(job int, at time.Duration) time.Duration
	warnings []record.Warning
	said     map[string]bool       // what was reported, by job class
	reported map[int]measure.Final // by job
}

// openLive begins the tables of a cell; the caller closes them, after its
// engine. A cell that records its metrics alone has none.
func openLive(task stages.Task, jobs []scheduler.Job, containers bool) (*live, error) {
	l := &live{cell: task.Setup.Cell.Cell, jobs: jobs, said: map[string]bool{}, reported: map[int]measure.Final{}}
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

// warn takes what is wrong with the event files of jobs, or with their parts. What is wrong with many
// jobs of a block in the same way is said once.
func (l *live) warn(job int, code, text string) { l.say(code, job, text) }

func (l *live) say(code string, job int, text string) {
	w := record.Warning{Code: code, Cell: l.cell, Text: "job " + l.jobs[job].Name + ": " + text}
	l.mu.Lock()
	defer l.mu.Unlock()
	if key := l.jobs[job].Class + text; !l.said[key] {
		l.said[key] = true
		l.warnings = append(l.warnings, w)
	}
}

// report returns what takes the progress lines of the jobs, and hands them on to beat, which may be nil.
func (l *live) report(beat *pulse) launch.ProgressListener {
	value := func(v *float64) float64 {
		if v == nil {
			return math.NaN()
		}
		return *v
	}
	return func(job int, at time.Duration, p contract.Progress) {
		beat.report(job, p)
		loss, accuracy := value(p.Loss), value(p.Accuracy)
		switch {
		case p.FinalAccuracy != nil:
			accuracy = *p.FinalAccuracy
		case p.Refused != "":
			l.say(record.Refused, job, fmt.Sprintf("its program does not follow %q: %s", p.Refused, p.Reason))
			return
		case p.News():
			return
		}
		l.mu.Lock()
		f, ok := l.reported[job]
		if !ok {
			f = measure.Unreported
		}
		l.reported[job] = f.Then(loss, accuracy)
		used, left := math.NaN(), math.NaN()
		if l.used != nil {
			used = l.used(job, at).Seconds()
		}
		if b := l.jobs[job].Budget(); b != nil {
			left = max(b.Seconds()-used, 0)
		}
		l.mu.Unlock()
		if l.progress == nil || p.News() {
			return
		}
		l.progress.Add(record.ProgressRow{
			At: at.Seconds(), Job: l.jobs[job].Name, Epoch: p.Epoch, Step: p.Step, Threads: p.Threads,
			Loss: loss, Accuracy: accuracy, Seconds: value(p.Seconds), Used: used, Left: left, TimeLeft: value(p.TimeLeft),
			Rate: value(p.Rate),
		})
	}
}

// follow lets the tables have the service times of jobs on an engine that knows them.
func (l *live) follow(e engine.Engine) {
	if c, ok := e.(interface {
		UsedAt(job int, at time.Duration) time.Duration
	}); ok {
		l.mu.Lock()
		l.used = c.UsedAt
		l.mu.Unlock()
	}
}

// finals are what the programs reported last, by job.
func (l *live) finals() map[int]measure.Final {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.reported)
}

// observe returns what takes the samples of the containers, or nil.
func (l *live) observe() func(engine.Sample) {
	if l.usage == nil {
		return nil
	}
	return func(s engine.Sample) {
		row := record.ContainerRow{At: s.At.Seconds(), Job: l.jobs[s.Job].Name, CPU: s.CPU, Memory: float64(s.Memory),
			Cores: s.Cores, Part: s.Part}
		if s.Limit > 0 {
			row.MemoryPct = 100 * float64(s.Memory) / float64(s.Limit)
		}
		l.usage.Add(row)
	}
}

// close ends the tables; their engine is closed, so that no rows come any more.
// out, which may be nil, gets their files. What is closed already stays so.
func (l *live) close(out *record.Cell) error {
	var errs []error
	ended := func(f record.File, err error) {
		errs = append(errs, err)
		if out != nil && f.Name != "" {
			out.Files = append(out.Files, f)
		}
	}
	if out != nil {
		l.mu.Lock()
		out.Warnings = append(out.Warnings, l.warnings...)
		l.warnings = nil
		l.mu.Unlock()
	}
	if l.progress != nil {
		ended(l.progress.Close())
	}
	if l.usage != nil {
		ended(l.usage.Close())
	}
	return errors.Join(errs...)
}
