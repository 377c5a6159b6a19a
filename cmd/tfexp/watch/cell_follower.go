package watch

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/ledger"
)

// cellFollower reads the files of a cell while they grow.
type cellFollower struct {
	ref                                      record.CellRef
	events, decisions, reports, gpus, vessel *fileFollower

	ledger  *ledger.Ledger
	names   []string
	number  map[string]int
	spans   []HeldSpan
	open    map[int][]int // indices of unfinished spans, by job number
	holders map[int32]int // number of jobs that hold a GPU, by GPU
	shared  int           // GPUs that several jobs hold
	cut     bool
	use     []Usage
	last    float64 // time of the last event or report, in seconds
	latest  map[string]*Job
	waits   map[string]string
	curves  []Curve
	curve   map[string]int
	devices map[int]GPUState
	heads   map[*fileFollower][]string // column names of tables
}

func followCell(dir string, ref record.CellRef, complete bool) *cellFollower {
	file := func(name string) *fileFollower {
		at := [][]string{{record.CellsDir, ref.Cell, name}}
		hidden := []string{record.CellsDir, ref.Cell, filepath.Base(table.Temporary(name))}
		if complete {
			at = append(at, hidden)
		} else { // files of an earlier run may still have the final names
			at = append([][]string{hidden}, at...)
		}
		return &fileFollower{dir: dir, name: at}
	}
	c := &cellFollower{
		ref: ref, events: file(record.EventsFile), decisions: file(record.DecisionsFile), reports: file(record.Progress.File),
		gpus: file(record.GPUs.File), vessel: file(record.Containers.File), heads: map[*fileFollower][]string{},
	}
	c.begin()
	return c
}

// begin clears the state, because the cell has started again.
func (c *cellFollower) begin() {
	c.ledger, c.names, c.number = ledger.New(0), nil, map[string]int{}
	c.spans, c.open, c.cut, c.use, c.last = nil, map[int][]int{}, false, nil, 0
	c.holders, c.shared = map[int32]int{}, 0
	c.latest, c.waits = map[string]*Job{}, map[string]string{}
	c.forgetReports()
	c.devices = map[int]GPUState{}
}

func (c *cellFollower) forgetReports() { c.curves, c.curve = nil, map[string]int{} }

// read processes the lines that were added to the files.
func (c *cellFollower) read() error {
	lines, anew, err := c.events.newLines()
	if err != nil {
		return err
	}
	if anew {
		c.begin()
	}
	for _, line := range lines {
		var e record.EventRow
		if json.Unmarshal(line, &e) == nil && !e.Event.OfNode() {
			c.event(&e)
		}
	}
	if lines, _, err = c.decisions.newLines(); err != nil {
		return err
	}
	for _, line := range lines {
		var d record.DecisionRow
		if json.Unmarshal(line, &d) == nil {
			for _, p := range d.Passed {
				if _, known := c.number[p.Job]; known {
					c.waits[p.Job] = p.Reason
				}
			}
		}
	}
	return cmp.Or(c.rows(c.reports, c.report), c.rows(c.vessel, c.contained), c.rows(c.gpus, c.device))
}

// event processes an event of a job.
func (c *cellFollower) event(e *record.EventRow) {
	number, known := c.number[e.Job]
	if !known {
		if len(c.names) == mostJobs {
			c.cut = true
			return
		}
		number = c.ledger.Add()
		c.number[e.Job], c.names = number, append(c.names, e.Job)
	}
	event := e.Of(number)
	step := c.ledger.Event(&event)
	c.last = max(c.last, e.At)
	if step.Ended {
		for _, s := range c.open[number] {
			c.spans[s].To = &e.At
			c.leave(&c.spans[s])
		}
		delete(c.open, number)
	}
	if step.Began {
		delete(c.waits, e.Job)
		c.hold(HeldSpan{Job: number, From: e.At}, e.Cores)
		c.hold(HeldSpan{Job: number, From: e.At, GPU: true, Guest: e.SharesWith != ""}, e.GPUs)
	}
	cores, gpus := c.held()
	now := Usage{At: e.At, Cores: cores, GPUs: gpus, Waiting: c.ledger.Counts().Waiting()}
	if n := len(c.use); n > 0 && c.use[n-1].At == e.At {
		c.use[n-1] = now
		return
	}
	if c.use = append(c.use, now); len(c.use) > 8*mostPoints {
		c.use = thin(c.use)
	}
}

// hold adds a span for each range of resources that a job holds from now on.
func (c *cellFollower) hold(s HeldSpan, set scheduler.CoreSet) {
	for _, part := range set {
		if len(c.spans) == mostSpans {
			c.cut = true
			return
		}
		s.Low, s.High = part.Lo, part.Hi-1
		c.open[s.Job] = append(c.open[s.Job], len(c.spans))
		c.spans = append(c.spans, s)
		for gpu := range s.devices() {
			if c.holders[gpu]++; c.holders[gpu] == 2 {
				c.shared++
			}
		}
	}
}

// devices yields the GPUs of a span; a span of cores has none.
func (s *HeldSpan) devices() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for gpu := s.Low; s.GPU && gpu <= min(s.High, mostGPUs) && yield(gpu); gpu++ {
		}
	}
}

// leave reduces by one the number of jobs that hold the GPUs of a span.
func (c *cellFollower) leave(s *HeldSpan) {
	for gpu := range s.devices() {
		if c.holders[gpu]--; c.holders[gpu] == 1 {
			c.shared--
		}
	}
}

// held returns the numbers of held cores and GPUs. A GPU that several jobs hold counts once.
func (c *cellFollower) held() (cores, gpus int) {
	cores, gpus = c.ledger.Held()
	return cores, gpus - c.shared
}

// rows calls each for every row that was added to a table.
func (c *cellFollower) rows(t *fileFollower, each func(get func(column string) string)) error {
	lines, anew, err := t.newLines()
	if err != nil || len(lines) == 0 {
		return err
	}
	in := csv.NewReader(bytes.NewReader(bytes.Join(lines, nil)))
	in.FieldsPerRecord, in.LazyQuotes = -1, true
	if anew {
		if t == c.reports {
			c.forgetReports()
		}
		if c.heads[t], err = in.Read(); err != nil {
			return nil // ignore a file that is not a table
		}
	}
	head := c.heads[t]
	for {
		fields, err := in.Read()
		if err != nil {
			return nil
		}
		each(func(column string) string {
			if i := slices.Index(head, column); i >= 0 && i < len(fields) {
				return fields[i]
			}
			return ""
		})
	}
}

// report processes a row of progress.csv.
func (c *cellFollower) report(get func(string) string) {
	p := ReportPoint{At: deref(number(get("t_s"))), Epoch: int(deref(number(get("epoch")))), Loss: number(get("loss")),
		Accuracy: number(get("accuracy"))}
	name := get("job")
	j := c.job(name)
	if j == nil {
		return
	}
	c.last = max(c.last, p.At)
	count := func(column string) int { return int(deref(number(get(column)))) }
	j.Epoch, j.Step, j.Epochs, j.Steps = p.Epoch, count("step"), count("epochs"), count("steps")
	j.Loss, j.Accuracy = cmp.Or(p.Loss, j.Loss), cmp.Or(p.Accuracy, j.Accuracy)
	i, known := c.curve[name]
	if !known {
		if len(c.curves) == mostCurves {
			return
		}
		i = len(c.curves)
		c.curve[name], c.curves = i, append(c.curves, Curve{Job: name, every: 1})
	}
	at := &c.curves[i]
	if at.seen++; at.seen%at.every == 0 {
		at.Points = append(at.Points, p)
	}
	if len(at.Points) > 2*mostPoints {
		at.Points = thin(at.Points)
		at.every *= 2
	}
}

// contained processes a row of containers.csv.
func (c *cellFollower) contained(get func(string) string) {
	if j := c.job(get("job")); j != nil {
		j.CPU = number(get("cpu_pct"))
	}
}

// device processes a row of gpus.csv.
func (c *cellFollower) device(get func(string) string) {
	d := GPUState{Utilization: number(get("utilization_pct")), Memory: number(get("memory_bytes")),
		Power: number(get("power_w"))}
	d.GPU = int(deref(number(get("gpu"))))
	if _, known := c.devices[d.GPU]; known || len(c.devices) < mostListed {
		c.devices[d.GPU] = d
	}
}

// job returns the entry for a job's reports; nil if there are already mostJobs.
func (c *cellFollower) job(name string) *Job {
	j := c.latest[name]
	if j == nil && len(c.latest) < mostJobs {
		j = &Job{Name: name}
		c.latest[name] = j
	}
	return j
}

// show returns the current state of the cell.
func (c *cellFollower) show(state string) *Cell {
	n := c.ledger.Counts()
	out := &Cell{
		CellRef: c.ref, State: state, At: c.last, Done: n.Finished, Running: n.Running, Waiting: n.Waiting(),
		Failed: n.Failed + n.Stopped, Names: append([]string{}, c.names...), Spans: append([]HeldSpan{}, c.spans...),
		Cut: c.cut,
		Use: append([]Usage{}, c.use...), // not nil: the page needs a list in JSON
	}
	out.HeldCores, out.HeldGPUs = c.held()
	if info := c.events.at; state == running && !c.ref.Simulated && info != nil && len(c.use) > 0 {
		// The events file is written at each event, so its age gives the current time. Whole seconds suffice, and avoid
		// updates that change nothing else.
		out.At = max(out.At, math.Floor(c.use[len(c.use)-1].At+time.Since(info.ModTime()).Seconds()))
	}
	behind := c.behind(n.Running)
	for number, name := range c.names {
		j := Job{Name: name}
		if known := c.latest[name]; known != nil {
			j = *known
		}
		at := c.ledger.Job(number)
		j.State, j.Cores, j.GPUs, j.Since = at.State().String(), int(at.Cores), int(at.GPUs), at.Since.Seconds()
		if at.Waits() {
			j.Waits = cmp.Or(c.waits[name], behind)
		}
		out.Jobs = append(out.Jobs, j)
	}
	slices.SortStableFunc(out.Jobs, func(a, b Job) int {
		if o := cmp.Compare(place(a.State), place(b.State)); o != 0 || place(a.State) < 2 {
			return o
		}
		return cmp.Compare(b.Since, a.Since)
	})
	if len(out.Jobs) > mostListed {
		out.More = len(out.Jobs) - mostListed
		out.Jobs = out.Jobs[:mostListed]
	}
	for _, curve := range c.curves {
		out.Curves = append(out.Curves, Curve{Job: curve.Job, Points: slices.Clone(curve.Points)})
	}
	for _, d := range c.devices {
		out.Devices = append(out.Devices, d)
	}
	slices.SortFunc(out.Devices, func(a, b GPUState) int { return cmp.Compare(a.GPU, b.GPU) })
	return out
}

// behind describes the running jobs, for waiting jobs without a reason: "long-1 and 2 more run". It is empty if no job
// runs.
func (c *cellFollower) behind(runs int) string {
	for number, name := range c.names {
		if c.ledger.Job(number).State() != scheduler.Running {
			continue
		}
		if runs > 1 {
			return fmt.Sprintf("%s and %d more run", name, runs-1)
		}
		return name + " runs"
	}
	return ""
}

// place returns the position of a job's state in the list of jobs.
func place(state string) int {
	switch state {
	case scheduler.Running.String():
		return 0
	case scheduler.Queued.String(), scheduler.Paused.String():
		return 1
	}
	return 2
}

// thin keeps every second element and the last one.
func thin[T any](all []T) []T {
	last := all[len(all)-1]
	kept := all[:0]
	for i := 0; i < len(all)-1; i += 2 {
		kept = append(kept, all[i])
	}
	return append(kept, last)
}

func number(s string) *float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v != v || v > 1e300 || v < -1e300 { // JSON has no NaN and no infinity
		return nil
	}
	return &v
}

func deref(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}
