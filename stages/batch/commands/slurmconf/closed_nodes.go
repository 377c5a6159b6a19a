package slurmconf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
	"github.com/tfexp/tfexp/scheduler/workload/slurm"
)

// nodeClosure is a set of nodes that are reserved or down for some time, by the wall clock of the cluster.
type nodeClosure struct {
	name       string
	nodes      []string // names of nodes in the experiment
	start, end time.Duration
	down       bool
	dated      bool // whether the times were dates
	at         setting
}

// readReservations reads the output of scontrol show reservation.
func (t *Twin) readReservations(path string) error {
	var fields map[string]string
	at := setting{file: path}
	take := func() {
		if fields != nil {
			t.reservation(at, fields)
		}
	}
	err := eachLine(path, func(n int, text string) {
		text = strings.TrimSpace(text)
		switch {
		case strings.HasPrefix(text, "ReservationName="):
			take()
			fields, at.line = map[string]string{}, n
		case fields == nil: // a line before the first reservation
			return
		}
		fieldsOf(text, fields)
	})
	take()
	return err
}

// reservation adds a reservation from its fields, and notes the parts that are not modeled.
func (t *Twin) reservation(at setting, f map[string]string) {
	t.judgeShown("scontrol show reservation", at, f)
	c := nodeClosure{name: f["ReservationName"], at: at, dated: logs.IsDate(f["StartTime"])}
	var err error
	if c.start, err = logs.ParseInstant(f["StartTime"], time.Second); err == nil {
		c.end, err = logs.ParseInstant(f["EndTime"], time.Second)
	}
	if err != nil {
		t.problem(at, "the reservation %s: %v", c.name, err)
		return
	}
	if c.nodes = t.known(at, f["Nodes"]); len(c.nodes) == 0 {
		t.unmodeled(at, fmt.Sprintf("the reservation %s has no nodes of its own: tfexp ignores it", c.name))
		return
	}
	if f["CoreIDs"] != "" {
		t.unmodeled(at, fmt.Sprintf("the reservation %s has cores of its nodes (CoreIDs): here it has whole nodes", c.name))
	}
	for flag := range strings.SplitSeq(f["Flags"], ",") {
		flag, _, _ := strings.Cut(flag, "=")
		switch flag {
		case "DAILY", "WEEKLY", "HOURLY", "WEEKDAY", "WEEKEND":
			t.unmodeled(at, fmt.Sprintf("the reservation %s is repeated (%s): only this time of it counts", c.name, flag))
		case "PURGE_COMP":
			t.unmodeled(at, fmt.Sprintf("the reservation %s has the flag %s: it stays when it is empty", c.name, flag))
		case "FLEX", "MAGNETIC", "REPLACE", "REPLACE_DOWN", "ANY_NODES":
			t.unmodeled(at, fmt.Sprintf("the reservation %s has the flag %s: its nodes stay the same, and jobs have to "+
				"name it", c.name, flag))
		}
	}
	t.closures = append(t.closures, c)
}

// known returns the names that nodes have in the experiment; nil if the configuration lacks one of the nodes.
func (m *clusterModel) known(at setting, text string) (nodes []string) {
	if text == "" || text == "(null)" {
		return nil
	}
	if strings.EqualFold(text, "ALL") {
		for i := range m.groups {
			nodes = append(nodes, m.groups[i].names()...)
		}
		return nodes
	}
	for _, host := range m.hosts(at, text) {
		name := m.name[host]
		if m.absent[host] {
			continue
		}
		if name == "" {
			m.problem(at, "no line NodeName= describes the node %s: use the slurm.conf of the time of the log", host)
			return nil
		}
		nodes = append(nodes, name)
	}
	return nodes
}

// event reads a row of sacctmgr show event: the time during which a node was down.
func (t *sacctmgrTable) event(fields []string) {
	host, state := t.get(fields, "NodeName", "Node Name"), t.get(fields, "State")
	if t.foreign(fields, "an event") || host == "" { // without a host, the event is about the number of processors of the cluster
		return
	}
	described := func(host string) bool { return t.name[host] != "" || t.absent[host] }
	if !strings.EqualFold(host, "ALL") && !slices.ContainsFunc(t.hosts(t.at, host), described) { // it has left the cluster
		t.unmodeledOf(t.at, fmt.Sprintf("an event of the node %s, which slurm.conf does not have", host),
			"an event of a node that is not there", "such events are left out")
		return
	}
	c := nodeClosure{nodes: t.known(t.at, host), at: t.at, down: true, end: scheduler.Never}
	begin := t.get(fields, "TimeStart", "Time Start", "Start")
	c.dated = logs.IsDate(begin)
	start, err := logs.ParseInstant(begin, time.Second)
	if end := t.get(fields, "TimeEnd", "Time End", "End"); err == nil && end != "Unknown" && end != "" {
		c.end, err = logs.ParseInstant(end, time.Second)
	}
	if err != nil {
		t.problem(t.at, "the event of the node %s: %v", host, err)
		return
	}
	away, unknown := closed(cmp.Or(state, "DOWN"))
	switch {
	case unknown != "":
		t.problem(t.at, "the event of the node %s: %q is no state of a node, such as DOWN or DRAIN", host, unknown)
	case away && len(c.nodes) > 0 && !strings.HasPrefix(state, "MAINT"):
		c.start = start
		t.closures = append(t.closures, c)
	}
}

// checkClocks finds reservations and events with dates beside a log that counts seconds, and the reverse: how far the
// clocks are apart is not known.
func (t *Twin) checkClocks() {
	numbers := slices.Contains(t.trace.Assumed, slurm.InUTC)
	if numbers {
		t.unmodeled(setting{file: t.log, line: 1}, "the log: "+slurm.InUTC)
	}
	for _, c := range t.closures {
		if t.log != "" && c.dated == numbers {
			form := []string{"dates", "seconds since 1970"}
			if numbers {
				slices.Reverse(form)
			}
			t.problem(c.at, "its times are %s, and those of the log %s are %s: print the log by  sacct --parsable2, and "+
				"both with the same SLURM_TIME_FORMAT", form[1], t.log, form[0])
		}
	}
}

// closureBlocks returns blocks for the nodes that were reserved or down during the log. Nodes with the same times share
// a block.
func (t *Twin) closureBlocks() (blocks []block) {
	if len(t.closures) > 0 && t.log == "" {
		t.unmodeled(t.closures[0].at,
			"reservations and nodes that were down: without a log of sacct their times have no place")
		return nil
	}
	slices.SortStableFunc(t.closures, func(a, b nodeClosure) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end), cmp.Compare(a.name, b.name))
	})
	last := time.Duration(0)
	for i := range t.trace.Jobs {
		last = max(last, t.trace.Jobs[i].Arrival+max(t.trace.Waits[i], 0)+t.trace.RunTimes[i])
	}
	for i := 0; i < len(t.closures); {
		c := t.closures[i]
		together := func(o nodeClosure) bool { return c.down && o.down && o.start == c.start && o.end == c.end }
		for i++; i < len(t.closures) && together(t.closures[i]); i++ {
			c.nodes = append(c.nodes, t.closures[i].nodes...)
		}
		from, until := max(c.start-t.trace.Origin, 0), min(c.end-t.trace.Origin, max(last, 1)+24*time.Hour)
		if until <= from {
			continue
		}
		name := c.name
		if c.down {
			name = fmt.Sprintf("down_%d", len(blocks)+1)
		}
		b := newBlock("reservation", name)
		b.Args = append(b.Args, pair{"nodes", list(ranges(c.nodes))}, pair{"from", duration(from)},
			pair{"until", duration(until)})
		if c.down {
			b.Args = append(b.Args, pair{"sudden", "true"})
		}
		blocks = append(blocks, b)
	}
	return blocks
}
