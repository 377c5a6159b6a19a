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

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/ledger"
)

// Limits on the data kept for one cell: views draw it, and the folder may come
// from somebody else.
const (
	mostJobs   = 5000  // with known states
	mostSpans  = 20000 // in which cores or GPUs were held
	mostListed = 400   // jobs in a list
	mostCurves = 64    // jobs with curves
	mostPoints = 256   // of a curve, and of the usage
	mostGPUs   = 10000 // whose sharing by jobs is known
)

// Cell is the state of a cell so far.
type Cell struct {
	record.CellRef
	State string `json:"state"` // waiting, running, finished, failed
	// Nodes are the nodes of its hardware, in the order in which cores are numbered; empty for a single node.
	Nodes []record.NodeRef `json:"nodes,omitempty"`
	// At is now, or the last event of a cell that has ended, in seconds from its start.
	At float64 `json:"t_s"`
	// HeldCores and HeldGPUs are held by running jobs.
	HeldCores int `json:"held_cores"`
	HeldGPUs  int `json:"held_gpus"`
	// Total is how many jobs the cell has; 0 where that is not known.
	Total int `json:"jobs_total,omitempty"`
	// The jobs by state.
	Done    int `json:"jobs_done"`
	Running int `json:"jobs_running"`
	Waiting int `json:"jobs_waiting"`
	Failed  int `json:"jobs_failed"`
	// Jobs are the jobs that have arrived: the running ones, the waiting ones, then the last ones to
	// end. More counts the jobs that are not listed.
	Jobs []Job `json:"jobs"`
	More int   `json:"more,omitempty"`
	// Names are the names that spans speak of by number.
	Names []string    `json:"names"`
	Spans []WatchSpan `json:"spans"`
	// Cut is set when the cell has more spans than are kept.
	Cut bool `json:"cut,omitempty"`
	// Use is the usage over time: a point for each change, at most a few hundred.
	Use    []Use   `json:"use"`
	Curves []Curve `json:"curves,omitempty"`
	// Devices are the GPUs of the machine, as they were seen last.
	Devices []Device `json:"devices,omitempty"`
}

// Job is a job that has arrived.
type Job struct {
	Name  string `json:"name"`
	State string `json:"state"` // queued, running, paused, finished, failed, stopped
	Cores int    `json:"cores,omitempty"`
	GPUs  int    `json:"gpus,omitempty"`
	// Since is when it entered its state, in seconds.
	Since float64 `json:"since_s"`
	// Epoch, Step, Loss and Accuracy are the last values that its program reported; nil is unknown.
	Epoch    int      `json:"epoch,omitempty"`
	Step     int      `json:"step,omitempty"`
	Loss     *float64 `json:"loss,omitempty"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	// CPU is how much of a core its container used last, in percent; nil is unknown.
	CPU *float64 `json:"cpu_pct,omitempty"`
	// Waits is the reason that it waits, by the scheduler's last decision; without a reason, the running jobs.
	Waits string `json:"waits,omitempty"`
}

// WatchSpan is a time in which a job held the cores (or GPUs) from Low to High.
type WatchSpan struct {
	Job  int     `json:"job"` // its place in Names
	From float64 `json:"from"`
	// To is nil while it lasts.
	To   *float64 `json:"to"`
	Low  int32    `json:"low"`
	High int32    `json:"high"` // the last one
	GPU  bool     `json:"gpu,omitempty"`
	// Guest reports whether it shared the GPUs with another job when it began.
	Guest bool `json:"guest,omitempty"`
}

// Use is the total that the jobs hold from an instant on.
type Use struct {
	At      float64 `json:"t"`
	Cores   int     `json:"cores"`
	GPUs    int     `json:"gpus"`
	Waiting int     `json:"waiting"`
}

// Curve is the series of losses that one job's program reported; NaN is nil.
type Curve struct {
	Job    string  `json:"job"`
	Points []Point `json:"points"`
	every  int     // one report in every is kept
	seen   int
}

// Point is one report.
type Point struct {
	At       float64  `json:"t"`
	Epoch    int      `json:"epoch"`
	Loss     *float64 `json:"loss"`
	Accuracy *float64 `json:"accuracy"`
}

// Device is the state of one GPU.
type Device struct {
	GPU         int      `json:"gpu"`
	Utilization *float64 `json:"utilization_pct"`
	Memory      *float64 `json:"memory_bytes"`
	Power       *float64 `json:"power_w"`
}

// following is a cell whose files are read as they grow.
type following struct {
	ref                                      record.CellRef
	events, decisions, reports, gpus, vessel *tail

	ledger  *ledger.Ledger
	names   []string
	number  map[string]int
	spans   []WatchSpan
	open    map[int][]int // by job: its spans that last
	holders map[int32]int // of each GPU
	shared  int           // GPUs that several jobs hold
	cut     bool
	use     []Use
	last    float64 // the last event or report
	latest  map[string]*Job
	waits   map[string]string
	curves  []Curve
	curve   map[string]int
	devices map[int]Device
	heads   map[*tail][]string // the columns of tables
}

func follow(dir string, ref record.CellRef, complete bool) *following {
	file := func(name string) *tail {
		at := [][]string{{record.CellsDir, ref.Cell, name}}
		hidden := []string{record.CellsDir, ref.Cell, filepath.Base(table.Temporary(name))}
		if complete {
			at = append(at, hidden)
		} else { // the files of an earlier run still have the name
			at = append([][]string{hidden}, at...)
		}
		return &tail{dir: dir, name: at}
	}
	c := &following{
		ref: ref, events: file(record.EventsFile), decisions: file(record.DecisionsFile), reports: file(record.Progress.File),
		gpus: file(record.GPUs.File), vessel: file(record.Containers.File), heads: map[*tail][]string{},
	}
	c.begin()
	return c
}

// begin forgets all: the cell runs again.
func (c *following) begin() {
	c.ledger, c.names, c.number = ledger.New(0), nil, map[string]int{}
	c.spans, c.open, c.cut, c.use, c.last = nil, map[int][]int{}, false, nil, 0
	c.holders, c.shared = map[int32]int{}, 0
	c.latest, c.waits = map[string]*Job{}, map[string]string{}
	c.forgetReports()
	c.devices = map[int]Device{}
}

func (c *following) forgetReports() { c.curves, c.curve = nil, map[string]int{} }

// read reads the lines added to the files.
func (c *following) read() error {
	lines, anew, err := c.events.more()
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
	if lines, _, err = c.decisions.more(); err != nil {
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

// event takes an event of a job.
func (c *following) event(e *record.EventRow) {
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
		c.hold(WatchSpan{Job: number, From: e.At}, e.Cores)
		c.hold(WatchSpan{Job: number, From: e.At, GPU: true, Guest: e.Beside != ""}, e.GPUs)
	}
	cores, gpus := c.held()
	now := Use{At: e.At, Cores: cores, GPUs: gpus, Waiting: c.ledger.Counts().Waiting()}
	if n := len(c.use); n > 0 && c.use[n-1].At == e.At {
		c.use[n-1] = now
		return
	}
	if c.use = append(c.use, now); len(c.use) > 8*mostPoints {
		c.use = thin(c.use)
	}
}

// hold adds the spans of the resources that a job holds from now on.
func (c *following) hold(s WatchSpan, set scheduler.CoreSet) {
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

// devices are the GPUs of a span; a span of cores has none.
func (s *WatchSpan) devices() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for gpu := s.Low; s.GPU && gpu <= min(s.High, mostGPUs) && yield(gpu); gpu++ {
		}
	}
}

// leave notes that the GPUs of a span are held by one job less.
func (c *following) leave(s *WatchSpan) {
	for gpu := range s.devices() {
		if c.holders[gpu]--; c.holders[gpu] == 1 {
			c.shared--
		}
	}
}

// held is how many cores and GPUs are held; a GPU that jobs share counts once.
func (c *following) held() (cores, gpus int) {
	cores, gpus = c.ledger.Held()
	return cores, gpus - c.shared
}

// rows takes the rows that were added to a table.
func (c *following) rows(t *tail, each func(get func(column string) string)) error {
	lines, anew, err := t.more()
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
			return nil // no table: nothing is known
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

// report takes a row of progress.csv.
func (c *following) report(get func(string) string) {
	p := Point{At: deref(number(get("t_s"))), Epoch: int(deref(number(get("epoch")))), Loss: number(get("loss")),
		Accuracy: number(get("accuracy"))}
	name := get("job")
	j := c.job(name)
	if j == nil {
		return
	}
	c.last = max(c.last, p.At)
	j.Epoch, j.Step = p.Epoch, int(deref(number(get("step"))))
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

// contained takes a row of containers.csv.
func (c *following) contained(get func(string) string) {
	if j := c.job(get("job")); j != nil {
		j.CPU = number(get("cpu_pct"))
	}
}

// device takes a row of gpus.csv.
func (c *following) device(get func(string) string) {
	d := Device{Utilization: number(get("utilization_pct")), Memory: number(get("memory_bytes")),
		Power: number(get("power_w"))}
	d.GPU = int(deref(number(get("gpu"))))
	if _, known := c.devices[d.GPU]; known || len(c.devices) < mostListed {
		c.devices[d.GPU] = d
	}
}

// job is the job's own reports; nil when there are too many.
func (c *following) job(name string) *Job {
	j := c.latest[name]
	if j == nil && len(c.latest) < mostJobs {
		j = &Job{Name: name}
		c.latest[name] = j
	}
	return j
}

// show returns the cell in its present state.
func (c *following) show(state string) *Cell {
	n := c.ledger.Counts()
	out := &Cell{
		CellRef: c.ref, State: state, At: c.last, Done: n.Finished, Running: n.Running, Waiting: n.Waiting(),
		Failed: n.Failed + n.Stopped, Names: append([]string{}, c.names...), Spans: append([]WatchSpan{}, c.spans...), Cut: c.cut,
		Use: append([]Use{}, c.use...), // the page reads lists, empty ones too
	}
	out.HeldCores, out.HeldGPUs = c.held()
	if info := c.events.at; state == running && !c.ref.Simulated && info != nil && len(c.use) > 0 {
		// It is written with each event. Whole seconds do: who has seen the rest sees no change.
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
	slices.SortFunc(out.Devices, func(a, b Device) int { return cmp.Compare(a.GPU, b.GPU) })
	return out
}

// behind returns the first running job that holds resources which the given job waits for; empty when there is
// none.
func (c *following) behind(runs int) string {
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

// place is the position of jobs of a state in a list.
func place(state string) int {
	switch state {
	case scheduler.Running.String():
		return 0
	case scheduler.Queued.String(), scheduler.Paused.String():
		return 1
	}
	return 2
}

// thin keeps every second element, and the last.
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

// Log is a part of a log.
type Log struct {
	Text []byte
	From int64 // where Text begins in the file, in bytes
	Size int64 // of the file now
}

// mostLog is how much of a log is read at once.
const mostLog = 256 << 10

// readLog reads a log from a byte on, or its end, if from is negative.
func readLog(dir string, from int64, name ...string) (Log, error) {
	f, err := folder.Open(dir, name...)
	if err != nil {
		return Log{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Log{}, err
	}
	l := Log{Size: info.Size(), From: from}
	if from < 0 {
		l.From = max(0, l.Size-mostLog)
	}
	l.Text = make([]byte, min(mostLog, max(0, l.Size-l.From)))
	n, _ := f.ReadAt(l.Text, l.From) // fewer where the file has become shorter
	l.Text = l.Text[:n]
	return l, nil
}
