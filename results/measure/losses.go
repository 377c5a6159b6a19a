package measure

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// NodeMeter computes from the events of a trace, in dollars, what jobs pay for nodes that come and go.
type NodeMeter interface {
	// Event handles an event of a node, or of a job that is not over. It returns the number of nodes that the job has
	// lost and continues without.
	Event(*scheduler.Event) (lost int)
	// JobCost returns the cost of a job so far. Cost returns the cost of all nodes, including nodes that no job held.
	JobCost(job int) float64
	Cost() float64
}

// Meter returns the meter of the cell's nodes; nil if the nodes stay.
func (c *Collector) Meter() NodeMeter { return c.meter }

// toll holds the cost of losses and checkpoints to a job.
type toll struct {
	revocations                int
	lost, checkpoints, restore time.Duration
}

// toll returns the toll of a job.
func (c *Collector) toll(job int) *toll {
	if c.lost == nil {
		c.lost = map[int]*toll{}
	}
	t := c.lost[job]
	if t == nil {
		t = &toll{}
		c.lost[job] = t
	}
	return t
}

// lose adds to a job's toll the cost of an attempt that has ended, and the node that it has lost.
func (c *Collector) lose(e *scheduler.Event) {
	if a := e.Attempt; a != nil {
		t := c.toll(e.Job)
		if e.Kind == scheduler.Revoke {
			t.revocations++
			t.lost += a.Lost()
		}
		t.lost += a.Redone
		t.checkpoints += a.Checkpoints
		t.restore += a.Restore
	}
	if c.meter != nil {
		if n := c.meter.Event(e); n > 0 {
			c.toll(e.Job).revocations += n
		}
	}
}

// addLosses adds the job's toll to its outcome.
func (c *Collector) addLosses(job int, r *Outcome) {
	r.LostWork, r.CheckpointTime, r.RestoreTime = math.NaN(), math.NaN(), math.NaN()
	if c.meter != nil {
		r.LostWork = 0
	}
	if t := c.lost[job]; t != nil {
		r.LostWork = t.lost.Seconds()
		r.CheckpointTime, r.RestoreTime = t.checkpoints.Seconds(), t.restore.Seconds()
	}
}

// sumOf returns the sum of a number over all jobs; NaN if no job has it.
func sumOf(t *Totals, of func(*Outcome) float64) float64 {
	if t.collector.meter == nil && t.collector.lost == nil {
		return math.NaN()
	}
	sum, known := 0.0, false
	for i := range t.Jobs {
		var o Outcome
		t.collector.addLosses(i, &o)
		if v := of(&o); !math.IsNaN(v) {
			sum, known = sum+v, true
		}
	}
	if !known {
		return math.NaN()
	}
	return sum
}

// Metrics of losses and checkpoints; unknown without any.
var (
	LostWork = Register(Metric{
		Rank: 320, Name: "lost_work_s", Title: "lost work", Unit: "s",
		Doc:     "work of all jobs that was repeated after losses, in run time on the full request",
		Compute: func(t *Totals) float64 { return sumOf(t, func(o *Outcome) float64 { return o.LostWork }) },
	})
	CheckpointTime = Register(Metric{
		Rank: 330, Name: "checkpoint_s", Title: "time for checkpoints", Unit: "s",
		Doc:     "time that all jobs spent on writing checkpoints",
		Compute: func(t *Totals) float64 { return sumOf(t, func(o *Outcome) float64 { return o.CheckpointTime }) },
	})
)
