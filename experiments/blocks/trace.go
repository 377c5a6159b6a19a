package blocks

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/files"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/words"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// rawTrace is a trace whose job blocks are known by name only.
type rawTrace struct {
	*experiments.Trace
	files.File
	jobs  []string // job blocks that are used
	block []int32  // of each job: an index of jobs, or -1
	// speeds are those of jobs without a block, by the type of device; nil without a table.
	speeds *workload.Throughputs
}

// traceFile is what was read from a file in one shape.
type traceFile struct {
	trace  workload.Trace
	digest string
	ok     bool
}

// trace decodes a trace block.
func (d *Decoder) trace(n *eval.Node, e *eval.Env) (*rawTrace, bool) {
	a := d.EvalArgs(n, e)
	if !a.OK {
		return nil, false
	}
	from := d.Find(eval.Get[string](a, "file"))
	t := &rawTrace{File: from, Trace: &experiments.Trace{
		File: from.Path, Format: traceFormat(a), Range: eval.RangeOf(n.Attr("file").Expr.Range()),
	}}
	if t.Format == nil {
		return nil, false
	}
	unread := unreadBy(t.Format)
	for _, arg := range n.Args {
		if !a.IsSet(arg.Name) {
			continue
		}
		if unread[arg.Name] {
			a.Fail(a.At(arg.Name), "Argument that nothing reads", "%s has no meaning for the format %q.", arg.Name,
				t.Format)
		}
		v, ok := a.Values[arg.Name]
		if ok && arg.Type.ReferenceKind() == "" && arg.Type != schema.JobMap && arg.Name != "file" && arg.Name != "format" {
			t.Settings = append(t.Settings, experiments.Setting{Name: arg.Name, Value: fmt.Sprint(v)})
		}
	}
	if !a.OK {
		return nil, false
	}
	file := d.readTrace(t, a)
	if !file.ok {
		return nil, false
	}
	t.Trace.Trace, t.Digest = file.trace, file.digest
	if !d.readSpeeds(t, a) {
		return nil, false
	}
	return t, d.mapJobs(t, a)
}

// traceFormat returns the format that the block names, or else that of the
// file's name.
func traceFormat(a *eval.Args) *formats.Format {
	if name := eval.Get[string](a, "format"); name != "" {
		return formats.Find(name)
	}
	if a.IsSet(formats.ColumnsArg.Name) {
		return formats.Find("table")
	}
	f := formats.Of(eval.Get[string](a, "file"))
	if f == nil {
		a.Fail(a.Node.Attr("file").Expr.Range(), "Unknown format",
			"The file name does not show the format: add format = %s. A log of your cluster may be recognised by "+
				"its content: tfexp init --from FILE.", words.OneOf(formats.Names(formats.All())))
	}
	return f
}

// unreadBy returns the arguments of a trace block that have no meaning for a
// format.
func unreadBy(f *formats.Format) map[string]bool {
	unread := map[string]bool{"min_runtime": f.Holds&(formats.RunTimes|formats.RequestedTimes) == 0}
	for _, arg := range formats.Args() {
		unread[arg.Name] = !slices.Contains(arg.Formats, f)
	}
	return unread
}

// readTrace reads a file and shapes it, once for all blocks that want the same.
func (d *Decoder) readTrace(t *rawTrace, a *eval.Args) *traceFile {
	key := fmt.Sprintf("%q %s %q", t.File, t.Format, t.Settings)
	if f, ok := d.traces[key]; ok {
		return f
	}
	f := &traceFile{}
	d.traces[key] = f
	options := formats.Options{Lenient: d.lenient, Args: formatValues(a.Values)}
	var err error
	if f.trace, f.digest, err = readTraceFile(t, options); err != nil {
		at, about := a.Node.Attr("file").Expr.Range(), (*formats.ArgError)(nil)
		if errors.As(err, &about) {
			if a.IsSet(about.Arg) {
				at = a.At(about.Arg)
			}
			d.Errorf(at, "Argument that does not fit the file", "%s: %v.", t.Shown, about)
			return f
		}
		d.TraceErrors(t.File, at, err)
		return f
	}
	shape := workload.Shape{
		Limit: eval.Get[int](a, "limit"), Scale: eval.Get[float64](a, "time_scale"),
		Resolution: eval.Get[time.Duration](a, "resolution"),
		Start:      eval.Get[time.Duration](a, "start"), Shifted: a.IsSet("start"),
		MinRunTime:          eval.Get[time.Duration](a, "min_runtime"),
		ThreadsPerProcessor: eval.Get[int](a, "threads_per_processor"),
	}
	if err := shape.Apply(&f.trace); err != nil {
		d.Errorf(a.Node.Attr("file").Expr.Range(), "Trace out of range", "%s: %v.", t.Shown, err)
		return f
	}
	switch n := len(f.trace.Jobs); {
	case n == 0:
		left := ""
		if skipped := f.trace.Skipped; len(skipped) > 0 {
			left = ", but " + experiments.Malformed(skipped)
		}
		d.Errorf(a.Node.Attr("file").Expr.Range(), "Trace without jobs", "There is no job in %s%s.", t.Shown, left)
	case n > schema.MaxJobs:
		d.Errorf(a.Node.Attr("file").Expr.Range(), "Trace too large",
			"%s has %d jobs; the most is %d. Use limit to take only the first.", t.Shown, n, schema.MaxJobs)
	default:
		f.ok = true
	}
	return f
}

// formatValues returns the values of arguments in the types that formats know.
func formatValues(values map[string]any) map[string]any {
	values = maps.Clone(values)
	for name, v := range values {
		settings, ok := v.([]experiments.Setting)
		if !ok {
			continue
		}
		columns := make([]workload.Column, len(settings))
		for i, s := range settings {
			columns[i] = workload.Column{Name: s.Name, Text: s.Value}
		}
		values[name] = columns
	}
	return values
}

func readTraceFile(t *rawTrace, o formats.Options) (trace workload.Trace, digest string, err error) {
	digest, err = files.ReadAll(t.File, func(text io.Reader) (err error) {
		trace, err = t.Format.Read(t.Shown, text, o)
		return err
	})
	return trace, digest, err
}

// jobBlocks finds the job block of each job of a trace: by the name of the job,
// then by its class, in the argument jobs; then the argument job; then the block
// with the name of the class.
type jobBlocks struct {
	d       *Decoder
	t       *rawTrace
	named   map[string]string // the argument jobs
	used    map[string]bool   // keys of it that stand for some job
	others  string            // the argument job
	index   map[string]int32  // of the blocks in t.jobs
	classes map[string]int32  // the block of each class, or -1
}

func (d *Decoder) jobBlocks(t *rawTrace, a *eval.Args) *jobBlocks {
	b := &jobBlocks{
		d: d, t: t, others: eval.Get[eval.Reference](a, "job").Name,
		named: map[string]string{}, used: map[string]bool{}, index: map[string]int32{}, classes: map[string]int32{},
	}
	for _, entry := range eval.Get[[]eval.JobName](a, "jobs") {
		b.named[entry.Key] = entry.Job
	}
	return b
}

// use returns the index of a block in t.jobs, adding it if it is new.
func (b *jobBlocks) use(block string) int32 {
	i, ok := b.index[block]
	if !ok {
		i = int32(len(b.t.jobs))
		b.index[block] = i
		b.t.jobs = append(b.t.jobs, block)
	}
	return i
}

// of returns the block of a job, or -1.
func (b *jobBlocks) of(j *scheduler.Job) int32 {
	block, ok := b.classes[j.Class]
	if !ok {
		block = b.ofClass(j.Class)
		b.classes[j.Class] = block
	}
	if len(b.named) > 0 {
		if own, ok := b.named[j.Name]; ok {
			b.used[j.Name] = true
			return b.use(own)
		}
	}
	return block
}

func (b *jobBlocks) ofClass(class string) int32 {
	if block, ok := b.named[class]; ok {
		b.used[class] = true
		return b.use(block)
	}
	switch {
	case b.others != "":
		return b.use(b.others)
	case b.d.root.Find("job", class) != nil:
		return b.use(class)
	}
	return -1
}

// mapJobs finds the job block of each job. It returns false when a job needs one
// and has none, or when a name in the argument jobs stands for nothing.
func (d *Decoder) mapJobs(t *rawTrace, a *eval.Args) bool {
	blocks := d.jobBlocks(t, a)
	missing := 0
	t.block = make([]int32, len(t.Jobs))
	for i := range t.Jobs {
		j := &t.Jobs[i]
		t.block[i] = blocks.of(j)
		if t.block[i] >= 0 || t.Timed(i) {
			continue
		}
		if missing++; missing <= workload.MaxErrors {
			d.LineError(t.File, int(t.Lines[i]), "Job without a block", fmt.Sprintf(
				"The trace has no run time for %q, and no job block stands for it: name one in jobs = { %q = job.<name> }.",
				j.Name, j.Class))
		}
	}
	good := missing == 0
	if len(t.Skipped) > 0 || a.IsSet("limit") { // the names may be in the rest of the file
		return good
	}
	for _, entry := range eval.Get[[]eval.JobName](a, "jobs") {
		if !blocks.used[entry.Key] {
			near := d.Nearest(entry.Key, func() []string { return slices.Sorted(maps.Keys(blocks.classes)) })
			d.Suggest(a.At("jobs"), near, fmt.Sprintf("Unknown job %q", entry.Key),
				"The trace %s has no job and no class of jobs with the name %q.", t.Shown, entry.Key)
			good = false
		}
	}
	return good
}

// traceWith fills in what the file lacks from the job blocks, which are those
// of raw.jobs.
func traceWith(raw *rawTrace, blocks []*experiments.Job) *experiments.Trace {
	t := *raw.Trace
	t.Block = make([]int32, len(t.Jobs))
	complete := t.Format.Complete()
	if !complete && len(blocks) > 0 {
		t.Jobs = slices.Clone(t.Jobs)
	}
	type kind struct {
		block   int32
		threads int
		timed   bool
		among   string // its alternatives
	}
	kinds := map[kind]int32{}
	own := measuredBlocks{raw: raw, index: map[measuredAs]int32{}}
	if raw.speeds != nil {
		t.Jobs = slices.Clone(t.Jobs)
	}
	for i := range t.Jobs {
		j := &t.Jobs[i]
		b := raw.block[i]
		if all := t.AlternativesOf(i); len(all) > 0 {
			id := kind{b, j.Threads, t.Timed(i), amongText(j, all)}
			k, ok := kinds[id]
			if !ok {
				k = int32(len(t.Blocks))
				kinds[id] = k
				var block *experiments.Job
				if b >= 0 {
					block = blocks[b]
				}
				t.Blocks = append(t.Blocks, experiments.TraceBlock{
					Job: blockAmong(&t, j, block, all), Timed: id.timed, Chosen: true,
				})
			}
			t.Block[i] = k
			if b >= 0 && !complete {
				own := *j
				*j = workload.Template(own, blocks[b].Template())
				j.GPUs, j.Memory, j.MinThreads, j.MaxThreads, j.Malleable = own.GPUs, own.Memory, 0, 0, false
			}
			j.Priority = max(j.Priority, 0)
			continue
		}
		if b < 0 && raw.speeds != nil {
			t.Block[i] = own.of(&t, j)
			j.Priority = max(j.Priority, 0)
			continue
		}
		if b < 0 {
			t.Block[i] = -1
			j.Priority = max(j.Priority, 0) // not told is the best
			continue
		}
		id := kind{b, j.Threads, t.Timed(i), ""}
		k, ok := kinds[id]
		if !ok {
			k = int32(len(t.Blocks))
			kinds[id] = k
			t.Blocks = append(t.Blocks, experiments.TraceBlock{Job: blocks[b].WithThreads(j.Threads), Timed: id.timed})
		}
		t.Block[i] = k
		if !complete {
			*j = workload.Template(*j, blocks[b].Template())
		}
	}
	return &t
}
