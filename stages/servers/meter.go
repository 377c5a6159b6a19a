package servers

import (
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/servers/market"
)

// server is a server that was rented for a node. Times are from the start of the cell; Never if the event did not
// occur.
type server struct {
	Node    int
	Market  string
	Created time.Duration
	Up      time.Duration
	Warned  time.Duration
	Down    time.Duration
	// Revoked reports whether the provider revoked the server; otherwise it was returned.
	Revoked bool
	// Job is the number of the only job that ran on the server; −1 for no job, or several.
	Job int
	// Roles are the roles of the jobs' parts that ran on it, each once.
	Roles []string
	jobs  int
	// Price is the price at the server's end in dollars per hour. Cost is its total cost in dollars.
	Price, Cost float64
}

// meter measures the lives and costs of a cell's servers. It implements record.ServerMeter.
type meter struct {
	setup   *measure.Setup
	terms   []*market.Terms // by node; nil for a permanent node
	servers []server
	now     []int           // by node: the index of its present server; −1 without a server
	taken   []time.Duration // by node: when its last server was revoked; Never if none was
	bills   []bill          // by job
}

// bill has the present allocation of a job, and its cost so far.
type bill struct {
	cores, gpus scheduler.CoreSet
	since       time.Duration
	cost        float64
}

func newMeter(s *measure.Setup, terms []*market.Terms) *meter {
	r := &meter{setup: s, terms: terms, now: make([]int, len(s.Cluster.Nodes)), bills: make([]bill, len(s.Jobs))}
	for i := range r.now {
		r.now[i] = -1
	}
	r.taken = slices.Repeat([]time.Duration{scheduler.Never}, len(r.now))
	return r
}

// Event implements measure.NodeMeter.
func (r *meter) Event(e *scheduler.Event) (lost int) {
	if e.Kind.OfNode() {
		r.node(e)
		return 0
	}
	return r.hold(e)
}

// JobCost implements measure.NodeMeter.
func (r *meter) JobCost(job int) float64 { return r.bills[job].cost }

// Cost implements measure.NodeMeter.
func (r *meter) Cost() float64 {
	sum := 0.0
	for i := range r.servers {
		sum += r.servers[i].Cost
	}
	return sum
}

// Servers implements record.ServerMeter.
func (r *meter) Servers() []record.ServerRow {
	rows := make([]record.ServerRow, len(r.servers))
	for i := range r.servers {
		rows[i] = r.row(&r.servers[i])
	}
	return rows
}

// node handles an event of a node.
func (r *meter) node(e *scheduler.Event) {
	if e.Node < 0 || e.Node >= len(r.now) {
		return
	}
	if e.Kind == scheduler.NodeRequest {
		if e.Server != nil {
			r.now[e.Node] = len(r.servers)
			r.servers = append(r.servers, server{
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
		if t := r.terms[e.Node]; t != nil {
			s.Price = t.Rate(s.Market, e.At)
			if s.Created < e.At { // otherwise it was returned before it was created
				s.Cost = t.Bill(s.Market, s.Created, s.Up, e.At)
			}
		}
		r.now[e.Node] = -1
	}
}

// hold updates the allocation of a job after an event. It returns the number of servers that the job lost while it
// continued to run on others.
func (r *meter) hold(e *scheduler.Event) (lost int) {
	switch e.Kind {
	case scheduler.Request, scheduler.Level, scheduler.Predict, scheduler.Arrive:
		return 0
	}
	b := &r.bills[e.Job]
	if e.Kind == scheduler.ResizeJob && e.Layout != nil {
		lost = r.withoutParts(e, b)
	}
	r.eachNode(b.cores, b.gpus, func(v int, share float64) {
		if t := r.terms[v]; t != nil {
			kind := t.Market
			if i := r.now[v]; i >= 0 {
				kind = r.servers[i].Market
			}
			b.cost += share * t.Charge(kind, b.since, e.At)
		}
	})
	b.cores, b.gpus, b.since = e.Cores, e.GPUs, e.At
	if e.Kind == scheduler.Start || e.Kind == scheduler.ResizeJob && e.Layout != nil {
		r.settle(e)
	}
	return lost
}

// settle records on which servers a job runs, and in which roles.
func (r *meter) settle(e *scheduler.Event) {
	r.eachNode(e.Cores, nil, func(v int, _ float64) {
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

// withoutParts returns the number of servers that a job lost while it continued to run on its others.
func (r *meter) withoutParts(e *scheduler.Event, b *bill) (lost int) {
	held := map[int]bool{}
	r.eachNode(e.Cores, e.GPUs, func(v int, _ float64) { held[v] = true })
	r.eachNode(b.cores, b.gpus, func(v int, _ float64) {
		if !held[v] && r.taken[v] == e.At {
			lost++
		}
	})
	return lost
}

// eachNode calls f with each node of an allocation, and the held share of the node: of its GPUs if any are held, else
// of its cores.
func (r *meter) eachNode(cores, gpus scheduler.CoreSet, f func(node int, share float64)) {
	if len(cores) == 0 {
		return
	}
	core, gpu := 0, 0
	for v, n := range r.setup.Cluster.Nodes {
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

// within returns the number of members of a set from lo to below hi.
func within(s scheduler.CoreSet, lo, hi int) int {
	n := 0
	for _, p := range s {
		n += max(min(int(p.Hi), hi)-max(int(p.Lo), lo), 0)
	}
	return n
}

// row returns a server's row of servers.csv, without the cell and the server's number.
func (r *meter) row(s *server) record.ServerRow {
	at := func(t time.Duration) float64 {
		if t == scheduler.Never {
			return -1
		}
		return table.ToMicros(t).Seconds()
	}
	node := r.setup.Cluster.Nodes[s.Node]
	row := record.ServerRow{
		Node: node.Name, Region: r.terms[s.Node].Region, Device: node.GPU, Market: s.Market,
		Created: at(s.Created), Up: at(s.Up), Warned: at(s.Warned), Down: at(s.Down),
		PricePerHour: s.Price, Cost: s.Cost,
	}
	first := int32(0)
	for _, n := range r.setup.Cluster.Nodes[:s.Node] {
		first += int32(n.Threads)
	}
	row.Cores = scheduler.CoreSet{{Lo: first, Hi: first + int32(node.Threads)}}.String()
	row.Role = strings.Join(s.Roles, "+")
	if s.Job >= 0 {
		row.Job = r.setup.Jobs[s.Job].Name
	}
	if s.Revoked {
		row.Revoked = 1
	}
	return row
}
