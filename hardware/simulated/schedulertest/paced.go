package schedulertest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler"
)

// Paced runs jobs in the simulation, and also as programs on a real engine. The program of job N ends when the job
// ends in the simulation, because it waits for the file end-N in a folder.
type Paced struct {
	scheduler.Engine // the simulation
	Real             scheduler.Engine
	Dir              string
}

// Start, Pause, Resume and Resize implement scheduler.Engine.
func (p *Paced) Start(job int, g scheduler.Grant) error {
	return errors.Join(p.Engine.Start(job, g), p.Real.Start(job, g))
}

func (p *Paced) Pause(job int) error { return errors.Join(p.Engine.Pause(job), p.Real.Pause(job)) }

func (p *Paced) Resume(job int, g scheduler.Grant) error {
	return errors.Join(p.Engine.Resume(job, g), p.Real.Resume(job, g))
}

func (p *Paced) Resize(job int, g scheduler.Grant) error {
	return errors.Join(p.Engine.Resize(job, g), p.Real.Resize(job, g))
}

// Next implements scheduler.Engine. It returns an error if the real engine reports other ends than the simulation.
func (p *Paced) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	now, news, err := p.Engine.Next(ctx, until)
	for _, n := range news {
		err = errors.Join(err, folder.Write(filepath.Join(p.Dir, fmt.Sprint("end-", n.Job)), nil, 0o644))
		var real []scheduler.Notice
		for err == nil && len(real) == 0 {
			_, real, err = p.Real.Next(ctx, scheduler.Never)
		}
		for _, r := range real {
			if r.Kind != n.Kind || r.State != n.State || r.Job != n.Job {
				err = fmt.Errorf("the real engine gives notice of %+v", r)
			}
		}
	}
	return now, news, err
}

// Choices records the decisions of a run, and its events except events of nodes. It is a scheduler.Recorder.
type Choices struct {
	Events    []scheduler.Event
	Decisions []scheduler.Decision
}

// Event implements scheduler.Recorder.
func (c *Choices) Event(e *scheduler.Event) {
	if !e.Kind.OfNode() {
		c.Events = append(c.Events, *e)
	}
}

// Decision implements scheduler.Recorder.
func (c *Choices) Decision(d *scheduler.Decision) { c.Decisions = append(c.Decisions, *d) }
