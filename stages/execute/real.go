package execute

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages"
)

// Machine describes where real cells run.
type Machine struct {
	// Site is the opened engine of the cell.
	Site engine.Session
	// Skip is the number of cores that are held by cells running at the same time; see stages.Cell.Beside.
	Skip int
	// GPUs is the source of GPUs; nil means the GPUs of this machine that this process may use.
	GPUs gpu.Source
	// Repeats limits how often disturbed cells run again; nil for a single cell.
	Repeats *Repeats
	// Again, if not nil, is called with the reason before a cell runs again.
	Again func(why string)
}

// Real runs a cell with real jobs and completes its folder. watch may be nil.
//
// A cell is run again if something outside the experiment disturbed it. Either tfexp could not run, because it was
// stopped or the machine slept, or other programs used the machine.
func Real(ctx context.Context, t stages.Task, on Machine, watch Watch) (record.Cell, error) {
	var before disturbance
	tries := 0
	if on.Repeats == nil {
		on.Repeats = &Repeats{}
	}
	return undisturbed(t.Dir, t.Scratch+".aside", on.Repeats, func() (cell record.Cell, by disturbance, err error) {
		if tries++; tries > 1 && on.Again != nil {
			on.Again(before.why())
		}
		cell, by, err = once(ctx, t, on, watch)
		before = by
		return cell, by, err
	})
}

// once runs a real cell once, and returns how it was disturbed.
func once(ctx context.Context, t stages.Task, on Machine, watch Watch) (
	out record.Cell, by disturbance, err error,
) {
	fail := func(err error) (record.Cell, disturbance, error) { return record.Cell{}, by, err }
	if err := folder.MkdirAll(t.Scratch, 0o755); err != nil {
		return fail(fmt.Errorf("make a folder for control files: %w", err))
	}
	defer folder.RemoveAll(t.Scratch)
	if err := folder.MkdirAll(t.Logs, 0o755); err != nil {
		return fail(fmt.Errorf("make the log folder: %w", err))
	}
	t.Setup.Began = time.Now()
	hw := t.ForEngine()
	if hw.Kind.Loses {
		t.Setup.Cluster = thatComeAndGo(t.Setup.Cluster)
	}
	beat := newPulse(watch, t)
	tables, err := openLive(t, t.Setup.Jobs, hw.Kind.Contained)
	if err != nil {
		return fail(err)
	}
	var fleet launch.Fleet
	if t.Supply != nil { // the simulation uses the same seed, so the same nodes are lost
		if fleet, err = t.Supply.Fleet(t.Setup.Cluster, t.Setup.Cell.Seed); err != nil {
			return fail(errors.Join(err, tables.close(nil)))
		}
	}
	running, err := on.Site.Engine(ctx, engine.Task{
		Fleet: fleet, Suspends: hw.Suspends, Skip: on.Skip,
		Hardware: hw, Cell: t.Setup.Cell.Cell, Jobs: t.Launches, Report: tables.report(beat), Warn: tables.warn,
		Observe: tables.observe(),
	})
	if err != nil {
		return fail(errors.Join(err, tables.close(nil)))
	}
	tables.follow(running)
	gpus := &gpuWatch{}
	if on.Site.Local(hw) {
		if gpus, err = watchGPUs(t, on.GPUs, running.Zero()); err != nil {
			return fail(errors.Join(err, running.Close(), tables.close(nil)))
		}
	}
	defer gpus.abort()
	load, lost := hardware.NewLoadSampler(), hardware.NewWatch()
	defer lost.End()
	var closed error
	out, err = runOn(ctx, t, running, hooks{pulse: beat, finals: tables.finals, finally: func(out *record.Cell) {
		gpus.finish(out)
		by = disturbance{lost.End(), hardware.UnknownLoad}
		if busy := load.Others(); hw.Kind.Here {
			by.busy = busy
		}
		closed = errors.Join(running.Close(), tables.close(out))
		by.warn(out, t.Setup.Cell.Cell)
	}})
	return out, by, errors.Join(err, closed, running.Close(), tables.close(nil))
}

// thatComeAndGo returns a cluster whose nodes may be lost and replaced.
func thatComeAndGo(c scheduler.Cluster) scheduler.Cluster {
	c.Nodes = slices.Clone(c.Nodes)
	for i := range c.Nodes {
		if c.Nodes[i].Supply == cluster.Standing {
			c.Nodes[i].Supply = cluster.Fixed
		}
	}
	return c
}

// live has the tables that are written while a real cell runs. The zero value writes none.
type live struct {
	cell     string
	jobs     []scheduler.Job
	launches []launch.Job // by job; nil if unknown
	progress *table.Live[record.ProgressRow]
	usage    *table.Live[record.ContainerRow] // nil if jobs are processes

	mu sync.Mutex // guards the fields below
	// used returns a job's service time up to an instant; nil if the engine does not report it.
	used     func(job int, at time.Duration) time.Duration
	warnings []record.Warning
	said     map[string]bool       // warnings that were reported, by job block
	reported map[int]measure.Final // the last reports, by job
}

// openLive creates the tables of a cell. The caller must close the engine first, and then the tables. A cell that
// records only metrics has none.
func openLive(task stages.Task, jobs []scheduler.Job, containers bool) (*live, error) {
	l := &live{cell: task.Setup.Cell.Cell, jobs: jobs, launches: task.Launches, said: map[string]bool{}, reported: map[int]measure.Final{}}
	if task.Records == record.MetricsOnly {
		return l, nil
	}
	var err error
	if l.progress, err = record.Progress.Live(task.Dir); err == nil && containers {
		l.usage, err = record.Containers.Live(task.Dir)
	}
	if err != nil {
		return nil, errors.Join(err, l.close(nil))
	}
	return l, nil
}

// warn reports a problem with a job's event files or parts. A problem of many jobs of a block is reported once.
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

// report returns a listener for the progress lines of the jobs. It also passes them to beat, which may be nil.
func (l *live) report(beat *pulse) launch.ProgressListener {
	return func(job int, at time.Duration, p contract.Progress) {
		beat.report(job, at, p)
		loss, accuracy := schema.OrNaN(p.Loss), schema.OrNaN(p.Accuracy)
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
		var epochs, steps int
		if job < len(l.launches) {
			if epochs = l.launches[job].Length; l.launches[job].Steps {
				epochs, steps = 0, epochs
			}
		}
		l.progress.Add(record.ProgressRow{
			At: at.Seconds(), Job: l.jobs[job].Name, Epoch: p.Epoch, Step: p.Step, Threads: p.Threads,
			Loss: loss, Accuracy: accuracy, Seconds: schema.OrNaN(p.Seconds), Used: used, Left: left,
			TimeLeft: schema.OrNaN(p.TimeLeft), Rate: schema.OrNaN(p.Rate),
			Epochs: epochs, Steps: steps,
		})
	}
}

// follow reads service times from the engine, if it reports them.
func (l *live) follow(e engine.Engine) {
	if c, ok := e.(interface {
		UsedAt(job int, at time.Duration) time.Duration
	}); ok {
		l.mu.Lock()
		l.used = c.UsedAt
		l.mu.Unlock()
	}
}

// finals returns the last reports of programs, by job.
func (l *live) finals() map[int]measure.Final {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.reported)
}

// observe returns a function that receives the samples of containers; nil if jobs are processes.
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

// diverged warns about jobs whose last loss is NaN or infinite.
func (l *live) diverged() {
	finals := l.finals()
	for _, job := range slices.Sorted(maps.Keys(finals)) {
		if math.IsInf(finals[job].Loss, 1) {
			l.say(record.Diverged, job, "its last loss is NaN or infinite: the training has diverged")
		}
	}
}

// close closes the tables. The engine must be closed before, so that no more rows arrive. The files are added to out,
// which may be nil. A second call does nothing.
func (l *live) close(out *record.Cell) error {
	var errs []error
	ended := func(f record.File, err error) {
		errs = append(errs, err)
		if out != nil && f.Name != "" {
			out.Files = append(out.Files, f)
		}
	}
	if out != nil {
		l.diverged()
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

// gpuWatch records the states of a cell's GPUs from its start to its end.
type gpuWatch struct {
	table  *table.File[record.GPURow] // nil if nothing is recorded
	source gpu.Source
	own    bool // whether close must close the source
	doubts []record.Warning
	cell   string
	done   chan struct{}
	over   sync.WaitGroup
	err    error // read after the goroutine has ended
}

// BusyGPU is the code of the warning that a GPU was in use before the cell.
const BusyGPU = "busy_gpu"

// watchGPUs begins to record the GPUs of a cell whose jobs use GPUs. GPUs that cannot be read cause only a warning,
// since jobs can still run.
func watchGPUs(task stages.Task, source gpu.Source, zero time.Time) (*gpuWatch, error) {
	w := &gpuWatch{done: make(chan struct{}), cell: task.Setup.Cell.Cell}
	if !slices.ContainsFunc(task.Setup.Jobs, func(j scheduler.Job) bool { return j.GPUs > 0 }) {
		return w, nil
	}
	if w.source = source; w.source == nil {
		w.source, w.own = gpu.Open(), true
	}
	devices, err := w.source.Devices() // a library can read only devices that it has listed
	if err == nil && source == nil {
		devices, err = hardware.GPUs()
	}
	if err != nil {
		w.doubt("gpus", "GPUs were not monitored: %v", err)
		return w, nil
	}
	devices = devices[:min(task.Setup.Cell.GPUs, len(devices))]
	before, err := w.source.Read(devices)
	if err != nil {
		w.doubt("gpus", "GPUs were not monitored: %v", err)
		return w, nil
	}
	for k, b := range before {
		if b.Utilization > hardware.BusyGPU || b.MemoryBytes > hardware.BusyGPUMemory {
			w.doubt(BusyGPU, "GPU %d was in use by other programs before the cell began: busy for %.0f%% of the time, "+
				"%.1f GiB in use",
				devices[k].Index, max(b.Utilization, 0), float64(max(b.MemoryBytes, 0))/(1<<30))
		}
	}
	if w.table, err = record.GPUs.Create(task.Dir, true, nil); err != nil {
		return nil, err
	}
	if err := w.write(devices, before, 0); err != nil {
		return nil, errors.Join(err, w.close())
	}
	w.over.Go(func() { w.watch(devices, zero) })
	return w, nil
}

// watch reads the GPUs at intervals, and once more when the cell is over.
func (w *gpuWatch) watch(devices []gpu.Device, zero time.Time) {
	tick := time.NewTicker(w.source.Period())
	defer tick.Stop()
	for last := false; !last && w.err == nil; {
		select {
		case <-tick.C:
		case <-w.done:
			last = true
		}
		var readings []gpu.Reading
		if readings, w.err = w.source.Read(devices); w.err == nil {
			w.err = w.write(devices, readings, time.Since(zero))
		}
	}
}

func (w *gpuWatch) write(devices []gpu.Device, readings []gpu.Reading, at time.Duration) error {
	for i, r := range readings {
		err := w.table.Add(&record.GPURow{
			At: at.Seconds(), GPU: i, Device: devices[i].ID,
			Utilization: r.Utilization, Memory: r.MemoryBytes, Power: r.Watts,
		}, nil)
		if err == nil {
			err = w.table.Flush() // so that others can follow the file
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finish ends the recording, and adds its file and its warnings to the cell.
func (w *gpuWatch) finish(out *record.Cell) {
	if w.table != nil {
		close(w.done)
		w.over.Wait()
		size, err := w.table.Replace()
		if err == nil {
			out.Files = append(out.Files, record.File{Name: record.GPUs.File, Size: size})
		}
		if err = errors.Join(w.err, err); err != nil {
			w.doubt("gpus", "GPUs were not monitored to the end: %v", err)
		}
		w.table = nil
	}
	out.Warnings = append(out.Warnings, w.doubts...)
}

func (w *gpuWatch) doubt(code, format string, args ...any) {
	w.doubts = append(w.doubts, record.Warning{Code: code, Cell: w.cell, Text: fmt.Sprintf(format, args...)})
}

// abort ends a recording that finish has not ended.
func (w *gpuWatch) abort() {
	if w.table != nil {
		close(w.done)
		w.over.Wait()
	}
	_ = w.close() // its data are not kept
}

func (w *gpuWatch) close() error {
	if w.table != nil {
		w.table.Abort()
		w.table = nil
	}
	if w.own {
		w.own = false
		return w.source.Close()
	}
	return nil
}
