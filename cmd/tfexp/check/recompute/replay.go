package recompute

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/results/record"
)

// event is a line of events.jsonl or decisions.jsonl.
type event struct {
	At       float64 `json:"t_s"`
	Kind     string  `json:"event"`
	Job      string  `json:"job"`
	Cores    string  `json:"cores"`
	GPUs     string  `json:"gpus"`
	Beside   string  `json:"beside"`
	Migrated bool    `json:"migrated"`
}

// job is the state of a job after the events so far. Times are in microseconds; -1 is unknown.
type job struct {
	state                    string // "" before its arrival
	arrival, first, since    int64
	end, service             int64
	coreTime                 int64
	units                    []unit // units that the job holds
	cores, least, most       int    // number of cores: now, least and most so far
	shares                   bool   // whether its GPUs are shared with another job
	split                    bool   // whether its service has several runs or settings
	pauses, resizes, retries int
}

func newJob() *job { return &job{first: -1, end: -1, arrival: -1, least: math.MaxInt} }

// unit is one core or one GPU.
type unit struct {
	kind string
	n    int
}

// replay is the state of a cell after the events so far. Times are in microseconds.
type replay struct {
	broken             func(format string, args ...any)
	jobs               map[string]*job
	holders            map[unit][]*job
	busy, capacity     map[string]int // number of held units and of all units, by kind
	coreTime, gpuTime  int64          // held units × time
	in                 map[string]int // number of jobs, by state
	first, last, ended int64          // the first arrival, the last event, the last end; -1 if none
	migrations         int
	reconfigurations   int
	profiled           int64
	arrived, due       int64 // the last arrival in the events, and in jobs.csv
	waiting            int   // waiting jobs at the end of the instant of the last arrival; 0 if no event follows
}

// replay reads the events of a cell, and compares occupancy.csv with them after each instant. It returns nil if the
// events cannot be read.
func (c *checker) replay(k *cell, at string) *replay {
	r := &replay{jobs: map[string]*job{}, holders: map[unit][]*job{}, busy: map[string]int{},
		capacity: map[string]int{"core": k.Cores, "GPU": k.GPUs}, in: map[string]int{}, first: -1, ended: -1, arrived: -1}
	r.broken = func(format string, args ...any) {
		c.differs("schedule", fmt.Sprintf(format, args...), "a valid schedule")
	}
	occupancy, instant := c.open(at+"occupancy.csv"), int64(-1)
	defer occupancy.close()
	whole := c.lines(func(line int, raw []byte) error {
		var e event
		if err := json.Unmarshal(raw, &e); err != nil {
			return err
		}
		now := int64(math.Round(e.At * 1e6))
		if !strings.HasPrefix(e.Kind, "node_") {
			if instant >= 0 && now != instant {
				if c.occupancy(occupancy, r, instant); instant == r.arrived {
					r.waiting = r.in["queued"] + r.in["paused"]
				}
			}
			instant = now
		}
		c.in(at+record.EventsFile, fmt.Sprintf("line %d", line))
		c.Values++
		r.read(&e, now)
		return nil
	}, at+record.EventsFile)
	if !whole {
		return nil
	}
	if instant >= 0 {
		c.occupancy(occupancy, r, instant)
	}
	if nextHeld(occupancy) {
		occupancy.fail("a row", "the end")
	}
	return r
}

// occupancy compares the row of an instant in occupancy.csv.
func (c *checker) occupancy(t *table, r *replay, at int64) {
	if !nextHeld(t) {
		t.fail("the end", fmt.Sprintf("a row at %.6f", seconds(at)))
		return
	}
	t.in("")
	c.number("t_s", t.get("t_s"), seconds(at), 0)
	c.text("cores_held", t.get("cores_held"), strconv.Itoa(r.busy["core"]))
	for _, state := range []string{"running", "queued", "paused"} {
		c.text(state, t.get(state), strconv.Itoa(r.in[state]))
	}
}

// nextHeld reads the next row of occupancy.csv about held cores, and skips rows about the usage of containers.
func nextHeld(t *table) bool {
	for t.next() {
		if t.get("cores_held") != "" {
			return true
		}
	}
	return false
}

// numbers parses a set of cores such as "0-3,7". A range without an end is empty.
func numbers(s string) (set []int) {
	for part := range strings.SplitSeq(s, ",") {
		low, high, span := strings.Cut(part, "-")
		a, err := strconv.Atoi(low)
		if err != nil {
			continue
		}
		b := a
		if span {
			b, _ = strconv.Atoi(high)
		}
		for ; a <= b && len(set) < 1<<20; a++ {
			set = append(set, a)
		}
	}
	return set
}

// read processes an event.
func (r *replay) read(e *event, at int64) {
	if at < r.last {
		r.broken("it is earlier than the line before")
	}
	r.coreTime += int64(r.busy["core"]) * (at - r.last)
	r.gpuTime += int64(r.busy["GPU"]) * (at - r.last)
	r.last = max(r.last, at)
	if strings.HasPrefix(e.Kind, "node_") {
		return
	}
	j := r.jobs[e.Job]
	if j == nil {
		j = newJob()
		r.jobs[e.Job] = j
	}
	if j.end >= 0 || j.state == "" && e.Kind != "arrive" && e.Kind != "stop" && e.Kind != "request" {
		r.broken("job %s is %s", e.Job, cmp.Or(j.state, "not here yet"))
		return
	}
	if from := before[e.Kind]; from != "" && j.state != from {
		r.broken("job %s is %s at its %s", e.Job, j.state, e.Kind)
	}
	if e.Kind == "finish" && j.state == "queued" { // a program may end while tfexp pauses it
		r.broken("job %s finishes without having started", e.Job)
	}
	r.event(e, j, at)
}

var (
	// after is the state of a job after an event. before is the state that the event requires; events that are allowed
	// in several states are not in it.
	after = map[string]string{"arrive": "queued", "start": "running", "resume": "running", "resize": "running",
		"pause": "paused", "retry": "queued", "revoke": "queued", "move": "queued", "profiled": "queued",
		"reconfigure": "queued", "finish": "finished", "fail": "failed", "stop": "stopped"}
	before = map[string]string{"start": "queued", "resume": "paused", "pause": "running", "resize": "running",
		"retry": "running", "revoke": "running", "profiled": "running"}
)

func (r *replay) event(e *event, j *job, at int64) {
	to := after[e.Kind]
	switch e.Kind {
	case "arrive":
		j.arrival, r.arrived, r.waiting = at, at, 0
		if r.first < 0 {
			r.first = at
		}
	case "start", "resume":
		if e.Migrated {
			r.migrations++
		}
	case "resize":
		j.resizes++
	case "pause":
		j.pauses++
	case "retry":
		j.retries++
	case "profiled":
		r.profiled += at - j.since
	case "reconfigure":
		if j.state == "running" {
			r.reconfigurations++
		}
	case "finish", "fail", "stop":
		j.end = at
		r.ended = max(r.ended, at)
	}
	j.split = j.split || to == "queued" && e.Kind != "arrive"
	if to == "" || to == "queued" && j.state == "queued" {
		return
	}
	if r.move(j, to, at); to == "running" {
		r.hold(j, e)
		if j.first < 0 {
			j.first = at
		}
	}
}

// move changes the state of a job, and releases the units that it held.
func (r *replay) move(j *job, to string, at int64) {
	if j.state == "running" {
		j.service += at - j.since
		j.coreTime += (at - j.since) * int64(j.cores)
		for _, u := range j.units {
			r.holders[u] = slices.DeleteFunc(r.holders[u], func(o *job) bool { return o == j })
			if len(r.holders[u]) == 0 {
				r.busy[u.kind]--
			}
		}
	}
	r.in[j.state]--
	r.in[to]++
	j.state, j.since, j.units = to, at, j.units[:0]
}

// hold assigns to a job the cores and GPUs of its event.
func (r *replay) hold(j *job, e *event) {
	cores := numbers(e.Cores)
	if j.cores, j.shares = len(cores), e.Beside != ""; j.cores == 0 {
		r.broken("job %s runs without cores", e.Job)
	}
	r.claim(j, "core", cores)
	r.claim(j, "GPU", numbers(e.GPUs))
	j.least, j.most = min(j.least, j.cores), max(j.most, j.cores)
}

func (r *replay) claim(j *job, kind string, set []int) {
	for _, n := range set {
		u := unit{kind, n}
		held := append(r.holders[u], j)
		if shared := kind == "GPU" && len(held) == 2 && (held[0].shares || j.shares); len(held) > 1 && !shared {
			r.broken("%s %d is held by %d jobs", kind, n, len(held))
		}
		if most := r.capacity[kind]; n >= most && most > 0 {
			r.broken("%s %d of %d is held", kind, n, most)
		}
		if r.holders[u] = held; len(held) == 1 {
			r.busy[kind]++
		}
		j.units = append(j.units, u)
	}
}
