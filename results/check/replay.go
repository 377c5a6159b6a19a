package check

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/results/folder"
)

// event is a line of events.jsonl, and of decisions.jsonl.
type event struct {
	At       float64 `json:"t_s"`
	Kind     string  `json:"event"`
	Decision string  `json:"decision"`
	Job      string  `json:"job"`
	Cores    string  `json:"cores"`
	GPUs     string  `json:"gpus"`
	Beside   string  `json:"beside"`
	Resource string  `json:"resource"`
	Migrated bool    `json:"migrated"`
}

// life is the state of a job by its events; times are in microseconds.
type life struct {
	state                    string // "" before its arrival
	arrival, first, since    int64
	end, service             int64
	coreTime, gpuTime        int64
	cores, gpus              []int // held
	shares                   bool  // its GPUs are another's as well
	pauses, resizes, retries int
	revokes                  int
	sizes                    []int // how many cores it was given
	split                    bool  // its service is not from one run with one setting
	resource                 string
}

func (l *life) over() bool {
	return l.state == "finished" || l.state == "failed" || l.state == "stopped"
}

// step is a row of occupancy.csv.
type step struct {
	at                             int64
	cores, running, queued, paused int
}

// replay is the state computed from the events of a cell.
type replay struct {
	lives              map[string]*life
	order              []*life
	cores, gpus        map[int][]*life // who holds each core and GPU
	steps              []step
	now                step  // resources in use
	first, last, ended int64 // the first arrival, the last event, the last end; -1 without
	pauses, resizes    int
	migrations         int
	reconfigured       int
	profiled           int64
	sharedTime         int64 // GPU time that two jobs held
	shared             int
	sharedSince        int64
	said               map[uint64]int // how often each event occurred, by key
	failed             []string
	arrives            bool // the instant of the last arrival, arrived, is not over
	arrived            int64
	waiting            int // after the last arrival
	broken             func(format string, args ...any)
}

// lines calls visit for each line of a file of JSON lines.
func lines(dir string, visit func(line int, raw []byte) error, name ...string) error {
	f, err := folder.Open(dir, name...)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	for n := 1; ; n++ {
		raw, err := folder.ReadLine(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = visit(n, raw)
		}
		if err != nil {
			return fmt.Errorf("read %s, line %d: %w", strings.Join(name, "/"), n, err)
		}
	}
}

// numbers reads a set of cores: "0-3,7". Without an end it is empty.
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

func micros(seconds float64) int64 { return int64(math.Round(seconds * 1e6)) }

func newReplay() *replay {
	return &replay{lives: map[string]*life{}, cores: map[int][]*life{}, gpus: map[int][]*life{}, said: map[uint64]int{},
		first: -1, ended: -1}
}

func (r *replay) read(raw []byte) error {
	var e event
	if err := json.Unmarshal(raw, &e); err != nil {
		return err
	}
	at := micros(e.At)
	if at < r.last {
		r.broken("it is earlier than the line before")
	}
	if strings.HasPrefix(e.Kind, "node_") {
		r.last = max(r.last, at)
		return nil
	}
	if len(r.steps) > 0 && r.steps[len(r.steps)-1].at != at || len(r.steps) == 0 {
		r.steps = append(r.steps, step{at: at})
	}
	if r.arrives && at > r.arrived { // who waits when the instant of an arrival is over
		r.waiting, r.arrives = r.now.queued+r.now.paused, false
	}
	r.last = at
	r.event(&e, at)
	now := r.now
	now.at = at
	r.steps[len(r.steps)-1] = now
	return nil
}

func (r *replay) event(e *event, at int64) {
	l := r.lives[e.Job]
	if l == nil {
		l = &life{first: -1, end: -1, arrival: -1}
		r.lives[e.Job], r.order = l, append(r.order, l)
	}
	if l.over() || l.state == "" && e.Kind != "arrive" && e.Kind != "stop" && e.Kind != "request" {
		r.broken("job %s is %s", e.Job, orEmpty(l.state))
		return
	}
	r.said[hash(key(e.Kind, e))]++
	legal := map[string]string{"start": "queued", "resume": "paused", "pause": "running", "resize": "running",
		"retry": "running", "revoke": "running", "profiled": "running"}
	if from := legal[e.Kind]; from != "" && l.state != from {
		r.broken("job %s is %s at its %s", e.Job, l.state, e.Kind)
	}
	if e.Kind == "finish" && l.state == "queued" { // a program may end while it is being paused
		r.broken("job %s finishes without having started", e.Job)
	}
	switch e.Kind {
	case "arrive":
		l.arrival = at
		if r.first < 0 {
			r.first = at
		}
		r.waiting, r.arrives, r.arrived = 0, true, at
		r.move(l, "queued", at)
	case "start", "resume":
		r.move(l, "running", at)
		r.hold(l, e, at)
		if l.first < 0 {
			l.first = at
		}
		if l.resource = e.Resource; e.Migrated {
			r.migrations++
		}
	case "resize":
		r.move(l, "running", at)
		r.hold(l, e, at)
		l.resizes++
		r.resizes++
	case "pause":
		l.pauses++
		r.pauses++
		r.move(l, "paused", at)
	case "retry":
		l.retries++
		l.split = true
		r.move(l, "queued", at)
	case "revoke", "move", "profiled":
		l.split = true
		if e.Kind == "revoke" {
			l.revokes++
		}
		if e.Kind == "profiled" {
			r.profiled += at - l.since
		}
		r.move(l, "queued", at)
	case "reconfigure":
		if l.split = true; l.state == "running" {
			r.reconfigured++
		}
		if l.state != "queued" {
			r.move(l, "queued", at)
		}
	case "finish", "fail", "stop":
		to := map[string]string{"finish": "finished", "fail": "failed", "stop": "stopped"}[e.Kind]
		l.end = at
		r.ended = max(r.ended, at)
		if r.move(l, to, at); to != "finished" {
			r.failed = append(r.failed, e.Job)
		}
	}
}

// key names an event and the decision for it.
func key(kind string, e *event) string {
	return kind + " " + printed(e.At) + " " + e.Job + " " + e.Cores
}

var seed = maphash.MakeSeed()

// hash replaces a key, to save memory: a cell may have millions.
func hash(key string) uint64 { return maphash.String(seed, key) }

// move ends the job's allotment, and puts it into another state.
func (r *replay) move(l *life, to string, at int64) {
	if l.state == "running" {
		span := at - l.since
		l.service += span
		l.coreTime += span * int64(len(l.cores))
		l.gpuTime += span * int64(len(l.gpus))
		r.share(at)
		for _, c := range l.cores {
			r.cores[c] = without(r.cores[c], l)
		}
		for _, g := range l.gpus {
			if r.gpus[g] = without(r.gpus[g], l); len(r.gpus[g]) == 1 {
				r.shared--
			}
		}
		r.now.cores -= len(l.cores)
		l.cores, l.gpus = nil, nil
	}
	r.count(l.state, -1)
	r.count(to, 1)
	l.state, l.since = to, at
}

func without(list []*life, l *life) []*life {
	return slices.DeleteFunc(list, func(o *life) bool { return o == l })
}

func (r *replay) count(state string, n int) {
	switch state {
	case "running":
		r.now.running += n
	case "queued":
		r.now.queued += n
	case "paused":
		r.now.paused += n
	}
}

// hold gives a job the cores and GPUs of its event.
func (r *replay) hold(l *life, e *event, at int64) {
	l.cores, l.gpus, l.shares = numbers(e.Cores), numbers(e.GPUs), e.Beside != ""
	if len(l.cores) == 0 {
		r.broken("job %s runs without cores", e.Job)
	}
	r.share(at)
	for _, c := range l.cores {
		if r.cores[c] = append(r.cores[c], l); len(r.cores[c]) > 1 {
			r.broken("core %d is held by two jobs", c)
		}
	}
	for _, g := range l.gpus {
		held := append(r.gpus[g], l)
		if len(held) > 2 || len(held) == 2 && !held[0].shares && !held[1].shares {
			r.broken("GPU %d is held by %d jobs", g, len(held))
		}
		if r.gpus[g] = held; len(held) == 2 {
			r.shared++
		}
	}
	l.sizes = append(l.sizes, len(l.cores))
	r.now.cores += len(l.cores)
}

// share adds up the time in which two jobs held a GPU.
func (r *replay) share(at int64) {
	r.sharedTime += int64(r.shared) * (at - r.sharedSince)
	r.sharedSince = at
}
