package measure

import (
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Server is the life of a server that was rented for a node. Instants are since the
// start of the cell, Never if they did not occur.
type Server struct {
	Node    int
	Market  string
	Created time.Duration
	Up      time.Duration
	Warned  time.Duration
	Down    time.Duration
	// Revoked reports whether it was revoked, not returned.
	Revoked bool
	// Job is the number of the only job that ran on it; -1 when there was none, or
	// several.
	Job int
	// Roles are the roles of the parts that ran on it, each once.
	Roles []string
	jobs  int
	// Price is its price at its end in dollars per hour, Cost its total cost in dollars.
	Price, Cost float64
}

// rented holds a collector's data on servers, and on the cost of losses to jobs.
type rented struct {
	servers []Server
	now     []int           // by node, its present server; -1 without
	taken   []time.Duration // by node, when its last server was taken away; Never before
	bills   []bill          // by job; nil where no node comes and goes
	lost    map[int]*toll   // by job
}

// bill is the allotment of a job and its cost so far.
type bill struct {
	cores, gpus scheduler.CoreSet
	since       time.Duration
	cost        float64
}

// toll is the cost of losses and checkpoints to a job.
type toll struct {
	revocations                int
	lost, checkpoints, restore time.Duration
}

func newRented(s *Setup) rented {
	if s.Terms == nil {
		return rented{}
	}
	r := rented{now: make([]int, len(s.Cluster.Nodes)), bills: make([]bill, len(s.Jobs))}
	for i := range r.now {
		r.now[i] = -1
	}
	r.taken = slices.Repeat([]time.Duration{scheduler.Never}, len(r.now))
	return r
}

// Servers returns the servers of the cell in the order in which they were created.
func (c *Collector) Servers() []Server { return c.rented.servers }

// node takes the event of a node.
func (c *Collector) node(e *scheduler.Event) {
	r := &c.rented
	if r.now == nil || e.Node < 0 || e.Node >= len(r.now) {
		return
	}
	if e.Kind == scheduler.NodeRequest {
		if e.Server != nil {
			r.now[e.Node] = len(r.servers)
			r.servers = append(r.servers, Server{
				Node: e.Node, Market: e.Server.Market, Created: e.Server.Created, Up: scheduler.Never,
				Warned: scheduler.Never, Down: scheduler.Never, Job: -1,
			})
		}
		return
	}
	if r.now[e.Node] < 0 {
		return
	}
	s := &r.servers[r.now[e.Node]]
	switch e.Kind {
	case scheduler.NodeStart:
		s.Up = e.At
	case scheduler.NodeWarning:
		s.Warned = e.At
	case scheduler.NodeEnd:
		s.Down, s.Revoked = e.At, e.Revoked
		if e.Revoked {
			r.taken[e.Node] = e.At
		}
		if t := c.setup.Terms[e.Node]; t != nil {
			s.Price = t.Rate(s.Market, e.At)
			if s.Created < e.At { // else it was given back before it was created
				s.Cost = t.Bill(s.Market, s.Created, s.Up, e.At)
			}
		}
		r.now[e.Node] = -1
	}
}

// hold updates the allotment of a job from an event.
func (c *Collector) hold(e *scheduler.Event) {
	r := &c.rented
	if a := e.Attempt; a != nil {
		c.pay(e, a)
	}
	if r.bills == nil {
		return
	}
	switch e.Kind {
	case scheduler.Request, scheduler.Level, scheduler.Predict, scheduler.Arrive:
		return
	}
	b := &r.bills[e.Job]
	if e.Kind == scheduler.ResizeJob && e.Layout != nil {
		c.withoutParts(e, b)
	}
	c.eachNode(b.cores, b.gpus, func(v int, share float64) {
		if t := c.setup.Terms[v]; t != nil {
			kind, _ := t.Where()
			if i := r.now[v]; i >= 0 {
				kind = r.servers[i].Market
			}
			b.cost += share * t.Charge(kind, b.since, e.At)
		}
	})
	b.cores, b.gpus, b.since = e.Cores, e.GPUs, e.At
	if e.Kind == scheduler.Start || e.Kind == scheduler.ResizeJob && e.Layout != nil {
		c.settle(e)
	}
}

// settle notes on which servers a job is, and in which roles.
func (c *Collector) settle(e *scheduler.Event) {
	r := &c.rented
	c.eachNode(e.Cores, nil, func(v int, _ float64) {
		i := r.now[v]
		if i < 0 {
			return
		}
		s := &r.servers[i]
		if s.jobs == 0 || s.Job == e.Job {
			s.Job = e.Job
		} else {
			s.Job = -1
		}
		s.jobs++
		if e.Layout == nil {
			return
		}
		for _, p := range e.Layout.Parts {
			if p.Node == v && p.Role != "" && !slices.Contains(s.Roles, p.Role) {
				s.Roles = append(s.Roles, p.Role)
			}
		}
	})
}

// withoutParts counts the servers that a job has lost and continues without.
func (c *Collector) withoutParts(e *scheduler.Event, b *bill) {
	held := map[int]bool{}
	c.eachNode(e.Cores, e.GPUs, func(v int, _ float64) { held[v] = true })
	c.eachNode(b.cores, b.gpus, func(v int, _ float64) {
		if !held[v] && c.rented.taken[v] == e.At {
			c.toll(e.Job).revocations++
		}
	})
}

// toll returns the cost of losses to a job.
func (c *Collector) toll(job int) *toll {
	if c.rented.lost == nil {
		c.rented.lost = map[int]*toll{}
	}
	t := c.rented.lost[job]
	if t == nil {
		t = &toll{}
		c.rented.lost[job] = t
	}
	return t
}

// pay adds the cost of an attempt to a job.
func (c *Collector) pay(e *scheduler.Event, a *scheduler.Attempt) {
	t := c.toll(e.Job)
	if e.Kind == scheduler.Revoke {
		t.revocations++
		t.lost += a.Lost()
	}
	t.lost += a.Redone
	t.checkpoints += a.Checkpoints
	t.restore += a.Restore
}

// eachNode calls f with each node of a grant and the share of it that is held: of its
// GPUs, if some are, or else of its cores.
func (c *Collector) eachNode(cores, gpus scheduler.CoreSet, f func(node int, share float64)) {
	if len(cores) == 0 {
		return
	}
	core, gpu := 0, 0
	for v, n := range c.setup.Cluster.Nodes {
		share := 0.0
		if held := within(cores, core, core+n.Threads); held > 0 {
			share = float64(held) / float64(n.Threads)
			if g := within(gpus, gpu, gpu+n.GPUs); g > 0 {
				share = float64(g) / float64(n.GPUs)
			}
			f(v, share)
		}
		core, gpu = core+n.Threads, gpu+n.GPUs
	}
}

// within counts the members of a set from lo up to hi.
func within(s scheduler.CoreSet, lo, hi int) int {
	n := 0
	for _, p := range s {
		n += max(min(int(p.Hi), hi)-max(int(p.Lo), lo), 0)
	}
	return n
}

// addLosses adds the cost of losses and servers to a job's outcome.
func (c *Collector) addLosses(job int, r *Outcome) {
	r.LostWork, r.CheckpointTime, r.RestoreTime = math.NaN(), math.NaN(), math.NaN()
	if c.rented.bills != nil {
		r.LostWork = 0
	}
	if t := c.rented.lost[job]; t != nil {
		r.LostWork = t.lost.Seconds()
		r.CheckpointTime, r.RestoreTime = t.checkpoints.Seconds(), t.restore.Seconds()
	}
}

// sumOf adds up a number of all jobs; NaN when no job has it.
func sumOf(t *Totals, of func(*Outcome) float64) float64 {
	if t.collector.rented.bills == nil && t.collector.rented.lost == nil {
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

// billed returns the cost of the servers that a job held, and how often it lost one.
func (c *Collector) billed(job int) Money {
	m := Money{Cost: c.rented.bills[job].cost}
	if t := c.rented.lost[job]; t != nil {
		m.Revocations = float64(t.revocations)
	}
	return m
}

// costOfServers is the cost of all servers, whether or not a job held them.
func (c *Collector) costOfServers() float64 {
	sum := 0.0
	for i := range c.rented.servers {
		sum += c.rented.servers[i].Cost
	}
	return sum
}

// The cost of losses and checkpoints. They are unknown where there are none.
var (
	LostWork = Register(Metric{
		Rank: 320, Name: "lost_work_s", Title: "lost work", Unit: "s",
		Doc:     "work of all jobs that was done again after losses, as run time on the full request",
		Compute: func(t *Totals) float64 { return sumOf(t, func(o *Outcome) float64 { return o.LostWork }) },
	})
	CheckpointTime = Register(Metric{
		Rank: 330, Name: "checkpoint_s", Title: "time for checkpoints", Unit: "s",
		Doc:     "time that all jobs spent on writing checkpoints",
		Compute: func(t *Totals) float64 { return sumOf(t, func(o *Outcome) float64 { return o.CheckpointTime }) },
	})
)
