// Package trace adds the block `trace` to workloads: jobs and their arrivals from a file. Package
// scheduler/workload/formats reads the file.
package trace

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/scheduler/workload/throughput"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"
)

// traceArgs are the arguments of a trace block that every format has.
//
// Jobs and their arrivals, read from a file. Jobs of `submit` blocks next to it are merged with them by arrival; each
// replicate draws these again, and their running numbers skip names that the file has. A line that is malformed, or
// requests more than the hardware has, is an error, with the file's name and line; `--lenient` leaves such lines out
// and counts them. The lines need not be in the order of arrivals. All replicates have the same jobs of the file:
// without `submit` blocks they differ only by the `noise` of simulated hardware, and without it one is run.
// The file may be compressed with gzip, bzip2, xz or zstd.
//
// {formats}
//
// In simulation a job takes the run time in the file on its full request, and proportionally longer on fewer
// threads; a trace without run times uses the run times of the job block. Estimates are these run times, or the
// times that users requested under `estimates = "requested"`. Properties that the file lacks (such as memory,
// GPUs, nodes, whether a job is malleable) come from the job block. To run for real, every job needs a job
// block: its program runs with the threads of the file.
//
//	workload "recorded" {
//	  trace {
//	    file       = "cluster.swf"
//	    time_scale = 0.5
//	    limit      = 1000
//	  }
//	}
type traceArgs struct {
	// The file, relative to the folder of the experiment file. When it changes, the cells run again.
	//
	//	file = "cluster.swf.gz"
	File string `arg:"file,required"`
	// The format of the file.
	//
	// Default: by the file name: {endings}.
	//
	//	format = "requests"
	Format string `arg:"format"`
	// The job block of each job, by the name of the job or of its class. A job's name is the instance of a request; its
	// class is the image of a request, or the profile of Batsim.
	//
	// Default: the job block with the name of the job's class, if there is one.
	//
	//	jobs = { "tensorflow:mlp" = job.deep }
	Jobs []eval.JobName `arg:"jobs" type:"jobs"`
	// The job block of all jobs that `jobs` does not name.
	//
	//	job = job.deep
	Job string `arg:"job" type:"job"`
	// The factor by which arrival times and updates are multiplied: with 0.5, jobs arrive twice as fast.
	//
	//	time_scale = 0.5
	TimeScale float64 `arg:"time_scale" default:"1" min:"1e-09" max:"epochs"`
	// The time to whose multiples scaled times are rounded down.
	//
	// Default: none.
	//
	//	resolution = "1s"
	Resolution time.Duration `arg:"resolution,positive"`
	// The time of the first arrival; all other arrivals shift equally.
	//
	// Default: as in the file.
	//
	//	start = "0s"
	Start time.Duration `arg:"start"`
	// The factor by which run times and requested times in the file are multiplied. Only for formats with run times,
	// and with `throughputs`.
	//
	//	runtime_scale = 1.2
	RuntimeScale float64 `arg:"runtime_scale" default:"1" min:"1e-09" max:"epochs"`
	// The shortest run time and estimate: shorter ones in the file are raised to it. Only for formats with run times.
	//
	//	min_runtime = "1s"
	MinRuntime time.Duration `arg:"min_runtime" default:"0s"`
	// The number of jobs to read, from the start of the file.
	//
	// Default: all.
	//
	//	limit = 1000
	Limit int `arg:"limit" min:"1" max:"jobs"`
	// A file with the speed of each class of jobs on each type of device, in steps per second: CSV, or Gavel's JSON. A
	// CSV file has the columns `job_type`, `device`, `workers` and `steps_per_s`. Jobs without a job block run on each
	// type of GPU that the table and the hardware have; the policy can choose the type at each start. For formats whose
	// jobs have a number of steps.
	//
	// Default: none.
	//
	//	throughputs = "throughputs.json.gz"
	Throughputs string `arg:"throughputs"`
	// The number of cores that a job gets for each processor in the file.
	//
	//	threads_per_processor = 2
	ThreadsPerProcessor int `arg:"threads_per_processor" default:"1" min:"1" max:"1024"`
}

//go:embed block.go
var documented embed.FS

var _ = schema.Document("trace", documented)

func init() {
	language.Extend("trace", language.File, language.Extension[experiment.Spec]{CheckCells: capacity})
	language.RegisterJobList(language.JobList{Name: "trace", Block: traceBlock,
		Decode: func(d *language.Decoder, n *eval.Node, e *eval.Env) (language.ListedJobs, bool) {
			if t, ok := (decoder{d}).trace(n, e); ok {
				return t, true
			}
			return nil, false
		},
	})
}

// decoder decodes trace blocks.
type decoder struct{ *language.Decoder }

func traceBlock() *schema.Block {
	b := schema.BlockFor[traceArgs](schema.Block{Name: "trace", Single: true, Args: formatArgs()})
	names := schema.Find(b.Args, "format")
	for _, f := range formats.All() {
		names.Allowed = append(names.Allowed, f.Name)
		names.Meanings += fmt.Sprintf("- `%s`: %s\n", f.Name, strings.ReplaceAll(f.Doc, "\n", " "))
	}
	return b.ReplaceWords("{formats}", strings.TrimSuffix(formatList(), "\n"), "{endings}", fileNames())
}

// formatList describes the trace formats, with one line for each.
func formatList() string {
	var b strings.Builder
	for _, f := range formats.All() {
		fmt.Fprintf(&b, "- `%s`: %s", f, f.Doc)
		switch names := f.Holds.Names(); {
		case f.Complete(): // its documentation says so
		case len(names) == 0:
			b.WriteString(" A file holds arrivals and threads only.")
		default:
			fmt.Fprintf(&b, " A file holds %s.", strings.Join(names, ", "))
		}
		if f.Writer == nil {
			b.WriteString(" The format can be read, but not written.")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// fileNames lists the endings of file names by which formats are recognized.
func fileNames() string {
	var parts []string
	for _, f := range formats.All() {
		for _, ending := range f.Endings {
			text := "`" + ending + "`"
			if ending != "."+f.Name {
				text += " (" + f.Name + ")"
			}
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// formatArgs returns the arguments that only some formats read.
func formatArgs() []schema.Arg {
	var args []schema.Arg
	for _, a := range formats.Args() {
		if len(a.Formats) < len(formats.All()) {
			a.Doc += " Only for `" + strings.Join(formats.Names(a.Formats), "`, `") + "`."
		}
		args = append(args, a.Arg)
	}
	return args
}

// rawTrace is a trace whose job blocks are known only by name.
type rawTrace struct {
	*experiment.Trace
	language.Input
	format *formats.Format
	jobs   []string // names of the job blocks that are used
	block  []int32  // index into jobs for each job, or -1
	// speeds has the speeds of jobs without a block, by device type; nil without a table.
	speeds *throughput.Table
}

// Raw implements language.ListedJobs.
func (t *rawTrace) Raw() *experiment.Trace { return t.Trace }

// JobBlocks implements language.ListedJobs.
func (t *rawTrace) JobBlocks() []string { return t.jobs }

// With implements language.ListedJobs.
func (t *rawTrace) With(blocks []*experiment.Job) *experiment.Trace { return traceWith(t, blocks) }

// traceKey identifies a file and the settings with which it is read.
type traceKey string

// traceFile is the content of a file, read with certain settings.
type traceFile struct {
	trace  workload.Trace
	digest string
	ok     bool
}

// trace decodes a trace block.
func (d decoder) trace(n *eval.Node, e *eval.Env) (*rawTrace, bool) {
	var v traceArgs
	a := d.Decode(n, e, &v)
	if !a.OK {
		return nil, false
	}
	from := d.Find(v.File)
	format := traceFormat(a, &v)
	if format == nil {
		return nil, false
	}
	t := &rawTrace{Input: from, format: format, Trace: &experiment.Trace{
		File: from.Path, Shown: from.Shown, Format: format, Range: eval.RangeOf(n.Attr("file").Expr.Range()),
	}}
	unread := unreadBy(format)
	unread["runtime_scale"] = unread["runtime_scale"] && !a.IsSet("throughputs")
	for _, arg := range n.Args {
		if !a.IsSet(arg.Name) {
			continue
		}
		if unread[arg.Name] {
			a.Unread(fmt.Sprintf("{} has no meaning for the format %q.", t.Format), arg.Name)
		}
		v, ok := a.Values[arg.Name]
		if ok && arg.Type.ReferenceKind() == "" && arg.Type != schema.JobMap && arg.Name != "file" && arg.Name != "format" {
			t.Settings = append(t.Settings, schema.Setting{Name: arg.Name, Value: fmt.Sprint(v)})
		}
	}
	if !a.OK {
		return nil, false
	}
	file := d.readTrace(t, a, &v)
	if !file.ok {
		return nil, false
	}
	t.Trace.Trace, t.Digest = file.trace, file.digest
	blocks := d.jobBlocks(t, &v)
	t.block = make([]int32, len(t.Jobs))
	for i := range t.Jobs {
		t.block[i] = blocks.of(&t.Jobs[i])
	}
	if !d.readSpeeds(t, a, &v) {
		return nil, false
	}
	good := d.checkBlocks(t, a, &v, blocks)
	return t, good && a.OK
}

// traceFormat returns the format that the block names, or the format of the file's ending.
func traceFormat(a *eval.Args, v *traceArgs) *formats.Format {
	if v.Format != "" {
		return formats.Find(v.Format)
	}
	if a.IsSet("columns") {
		return formats.Find("table")
	}
	f := formats.Of(v.File)
	if f == nil {
		a.Fail(a.Node.Attr("file").Expr.Range(), "Unknown format",
			"The file name does not show the format: add format = %s. A log of your cluster may be recognized by "+
				"its content: tfexp init --from FILE.", schema.OneOf(formats.Names(formats.All())))
	}
	return f
}

// unreadBy returns the arguments of a trace block that a format does not use.
func unreadBy(f *formats.Format) map[string]bool {
	untimed := f.Holds&(formats.RunTimes|formats.RequestedTimes) == 0
	unread := map[string]bool{"min_runtime": untimed, "runtime_scale": untimed}
	for _, arg := range formats.Args() {
		unread[arg.Name] = !slices.Contains(arg.Formats, f)
	}
	return unread
}

// readTrace reads a file and applies the block's settings. It does so once for all blocks with the same settings.
func (d decoder) readTrace(t *rawTrace, a *eval.Args, v *traceArgs) *traceFile {
	key := fmt.Sprintf("%q %s %q", t.File, t.format, t.Settings)
	return language.Once(d.Decoder, traceKey(key), func() *traceFile { return d.readFile(t, a, v) })
}

func (d decoder) readFile(t *rawTrace, a *eval.Args, v *traceArgs) *traceFile {
	f := &traceFile{}
	options := formats.Options{Lenient: d.Lenient, Args: a.Values}
	var err error
	if f.digest, err = datafile.ReadFile(t.Input, func(text io.Reader) (err error) {
		f.trace, err = t.format.Read(t.Input.Shown, text, options)
		return err
	}); err != nil {
		at, about := a.Node.Attr("file").Expr.Range(), (*formats.ArgError)(nil)
		if errors.As(err, &about) {
			if a.IsSet(about.Arg) {
				at = a.At(about.Arg)
			}
			d.Errorf(at, "Argument that does not fit the file", "%s: %v.", t.Input.Shown, about)
			return f
		}
		datafile.TraceErrors(d.Finder, t.Input, at, err)
		return f
	}
	shape := formats.Shape{
		Limit: v.Limit, Scale: v.TimeScale, Resolution: v.Resolution, Start: v.Start, Shifted: a.IsSet("start"),
		RunTimeScale: v.RuntimeScale, MinRunTime: v.MinRuntime, ThreadsPerProcessor: v.ThreadsPerProcessor,
	}
	if err := shape.Apply(&f.trace); err != nil {
		d.Errorf(a.Node.Attr("file").Expr.Range(), "Trace out of range", "%s: %v.", t.Input.Shown, err)
		return f
	}
	switch n := len(f.trace.Jobs); {
	case n == 0:
		left := ""
		if skipped := f.trace.Skipped; len(skipped) > 0 {
			left = ", but " + datafile.Malformed(skipped)
		}
		d.Errorf(a.Node.Attr("file").Expr.Range(), "Trace without jobs", "There is no job in %s%s.", t.Input.Shown, left)
	case n > workload.MaxJobs:
		d.Errorf(a.Node.Attr("file").Expr.Range(), "Trace too large",
			"%s has %d jobs; the most is %d. Use limit to take only the first.", t.Input.Shown, n, workload.MaxJobs)
	default:
		f.ok = true
	}
	return f
}

// jobBlocks finds the job block of each job of a trace. It looks up the job's name and then its class in the argument
// jobs, then uses the argument job, then the block with the name of the class.
type jobBlocks struct {
	d       decoder
	t       *rawTrace
	named   map[string]string // the argument jobs
	used    map[string]bool   // keys of named that match a job
	others  string            // the argument job
	index   map[string]int32  // index of each block in t.jobs
	classes map[string]int32  // index of each class's block, or -1
}

func (d decoder) jobBlocks(t *rawTrace, v *traceArgs) *jobBlocks {
	b := &jobBlocks{
		d: d, t: t, others: v.Job,
		named: map[string]string{}, used: map[string]bool{}, index: map[string]int32{}, classes: map[string]int32{},
	}
	for _, entry := range v.Jobs {
		b.named[entry.Key] = entry.Job
	}
	return b
}

// use returns the index of a block in t.jobs, and adds the block if it is new.
func (b *jobBlocks) use(block string) int32 {
	i, ok := b.index[block]
	if !ok {
		i = int32(len(b.t.jobs))
		b.index[block] = i
		b.t.jobs = append(b.t.jobs, block)
	}
	return i
}

// of returns the index of a job's block, or -1.
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
	case b.d.Root.Find("job", class) != nil:
		return b.use(class)
	}
	return -1
}

// checkBlocks returns false if a job needs a job block and has none, or if a name in the argument jobs matches no job.
func (d decoder) checkBlocks(t *rawTrace, a *eval.Args, v *traceArgs, blocks *jobBlocks) bool {
	missing := 0
	for i := range t.Jobs {
		j := &t.Jobs[i]
		if t.block[i] >= 0 || t.Timed(i) {
			continue
		}
		if missing++; missing <= textfile.MaxErrors {
			datafile.LineError(d.Finder, t.Input, int(t.Lines[i]), "Job without a block", fmt.Sprintf(
				"The trace has no run time for %q, and no job block represents it: name one in jobs = { %q = job.<name> }.",
				j.Name, j.Class))
		}
	}
	good := missing == 0
	if len(t.Skipped) > 0 || a.IsSet("limit") { // the names may belong to lines that were not read
		return good
	}
	for _, entry := range v.Jobs {
		if !blocks.used[entry.Key] {
			near := d.Nearest(entry.Key, func() []string { return slices.Sorted(maps.Keys(blocks.classes)) })
			d.Suggest(a.At("jobs"), near, fmt.Sprintf("Unknown job %q", entry.Key),
				"The trace %s has no job and no class of jobs with the name %q.", t.Input.Shown, entry.Key)
			good = false
		}
	}
	return good
}

// traceWith sets values that the file lacks from the job blocks. The blocks are in the order of raw.jobs.
func traceWith(raw *rawTrace, blocks []*experiment.Job) *experiment.Trace {
	t := *raw.Trace
	t.Block = make([]int32, len(t.Jobs))
	complete := raw.format.Complete()
	if !complete && len(blocks) > 0 {
		t.Jobs = slices.Clone(t.Jobs)
	}
	// kind has the common values of jobs from which one block is made.
	type kind struct {
		block         int32
		threads, gpus int
		timed         bool
		class, among  string // of jobs without a block, and of jobs with alternatives
		rule          string // rule and steps of jobs whose batch size changes
		steps         float64
	}
	kinds := map[kind]int32{}
	if raw.speeds != nil {
		t.Jobs = slices.Clone(t.Jobs)
	}
	for i := range t.Jobs {
		j, b := &t.Jobs[i], raw.block[i]
		id, all := kind{block: b, threads: j.Threads, timed: t.Timed(i)}, t.AlternativesOf(i)
		switch {
		case len(all) > 0:
			id.among = amongText(j, all)
		case b < 0 && raw.speeds != nil:
			id = kind{block: -1, threads: j.Threads, gpus: j.GPUs, class: j.Class}
			if j.BatchRule() != "" {
				id.rule, id.steps = j.BatchRule(), j.Units()
			}
		case b < 0:
			t.Block[i], j.Priority = -1, max(j.Priority, 0) // an unset priority becomes the best one
			continue
		}
		k, ok := kinds[id]
		if !ok {
			k = int32(len(t.Blocks))
			kinds[id] = k
			var block *experiment.Job
			if b >= 0 {
				block = blocks[b]
			}
			made := experiment.TraceBlock{Timed: id.timed, Chosen: len(all) > 0}
			switch {
			case made.Chosen:
				made.Job = blockAmong(&t, j, block, all)
			case block == nil:
				made.Job, made.Timed = measuredBlock(raw.speeds, &t, j), true
			default:
				made.Job = block.WithThreads(j.Threads)
			}
			t.Blocks = append(t.Blocks, made)
		}
		t.Block[i] = k
		if b >= 0 && !complete {
			own := *j
			*j = formats.Template(own, blocks[b].Template())
			if len(all) > 0 {
				j.GPUs, j.Memory, j.MinThreads, j.MaxThreads, j.Malleable = own.GPUs, own.Memory, 0, 0, false
			}
		}
		if b < 0 || len(all) > 0 {
			j.Priority = max(j.Priority, 0)
		}
	}
	return &t
}
