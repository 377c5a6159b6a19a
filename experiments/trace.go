package experiments

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// Trace is a workload that was read from a file, in its final shape: all that
// the trace block says is applied, and all that the file lacks is filled in
// from job blocks.
type Trace struct {
	workload.Trace
	// File is absolute; Digest is the SHA-256 of its content, in hex.
	File   string
	Format *formats.Format
	Digest string
	// Settings are the block's other arguments, in the order of the schema.
	Settings []Setting
	// Kinds are the job blocks that the jobs are made from, each once for every
	// number of threads that the file asks for. Kind has the index of each job's
	// own, or -1 for a job that the file alone describes.
	Kinds []Kind
	Kind  []int32
	// TooLarge counts the jobs that a lenient reader left out because no
	// hardware of their cells holds them.
	TooLarge int
	Range    Range
}

// Kind is a job block with the threads that a trace asks for.
type Kind struct {
	*Job
	// Timed kinds have jobs whose run times the file tells: nothing else is
	// needed to simulate them.
	Timed bool
}

// LeftOut says what a lenient reader left out; empty if nothing.
func (t *Trace) LeftOut() string {
	var parts []string
	if len(t.Skipped) > 0 {
		parts = append(parts, malformed(t.Skipped))
	}
	if t.TooLarge > 0 {
		parts = append(parts, plural(t.TooLarge, "job")+" larger than the hardware")
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("%s has %s, left out", filepath.Base(t.File), strings.Join(parts, " and "))
}

// jobName is an entry of a map of job references.
type jobName struct {
	key string
	job string
}

// source is a file that an experiment reads.
type source struct {
	path  string // absolute
	shown string // in messages
}

// source finds a file by its name in the experiment.
func (d *decoder) source(name string) source {
	if filepath.IsAbs(name) {
		return source{path: filepath.Clean(name), shown: name}
	}
	return source{path: d.path(name), shown: filepath.Join(filepath.Dir(d.filename), name)}
}

// rawTrace is a trace whose job blocks are known by name only.
type rawTrace struct {
	*Trace
	source
	jobs  []string // job blocks that are used
	block []int32  // of each job: an index of jobs, or -1
}

// traceFile is what was read from a file in one shape.
type traceFile struct {
	trace  workload.Trace
	digest string
	ok     bool
}

// trace decodes a trace block.
func (d *decoder) trace(n *node, e *env) (*rawTrace, bool) {
	a := d.evalArgs(n, e)
	if !a.ok {
		return nil, false
	}
	from := d.source(get[string](a, "file"))
	t := &rawTrace{source: from, Trace: &Trace{File: from.path, Format: a.traceFormat(), Range: rangeOf(n.attr("file").Expr.Range())}}
	if t.Format == nil {
		return nil, false
	}
	unread := unreadBy(t.Format)
	for _, arg := range n.args {
		if !a.isSet(arg.Name) {
			continue
		}
		if unread[arg.Name] {
			a.fail(a.at(arg.Name), "Argument that nothing reads", "%s has no meaning for the format %q.", arg.Name, t.Format)
		}
		v, ok := a.values[arg.Name]
		if ok && arg.Type.ReferenceKind() == "" && arg.Type != schema.JobMap && arg.Name != "file" && arg.Name != "format" {
			t.Settings = append(t.Settings, Setting{Name: arg.Name, Value: fmt.Sprint(v)})
		}
	}
	if !a.ok {
		return nil, false
	}
	file := d.readTrace(t, a)
	if !file.ok {
		return nil, false
	}
	t.Trace.Trace, t.Digest = file.trace, file.digest
	return t, d.mapJobs(t, a)
}

// traceFormat returns the format that the block names, or else that of the
// file's name.
func (a *args) traceFormat() *formats.Format {
	if name := get[string](a, "format"); name != "" {
		return formats.Find(name)
	}
	f := formats.Of(get[string](a, "file"))
	if f == nil {
		a.fail(a.n.attr("file").Expr.Range(), "Unknown format", "The file name does not show the format: add format = %s.", oneOf(formats.Names(formats.All())))
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
func (d *decoder) readTrace(t *rawTrace, a *args) *traceFile {
	key := fmt.Sprintf("%q %s %q", t.File, t.Format, t.Settings)
	if f, ok := d.traces[key]; ok {
		return f
	}
	f := &traceFile{}
	d.traces[key] = f
	options := formats.Options{Lenient: d.lenient, Args: a.values}
	var err error
	if f.trace, f.digest, err = readTraceFile(t, options); err != nil {
		d.traceErrors(t.source, a.n.attr("file").Expr.Range(), err)
		return f
	}
	shape := workload.Shape{
		Limit: get[int](a, "limit"), Scale: get[float64](a, "time_scale"), Resolution: get[time.Duration](a, "resolution"),
		Start: get[time.Duration](a, "start"), Shifted: a.isSet("start"), MinRunTime: get[time.Duration](a, "min_runtime"),
		ThreadsPerProcessor: get[int](a, "threads_per_processor"),
	}
	if err := shape.Apply(&f.trace); err != nil {
		d.errorf(a.n.attr("file").Expr.Range(), "Trace out of range", "%s: %v.", t.shown, err)
		return f
	}
	switch n := len(f.trace.Jobs); {
	case n == 0:
		d.errorf(a.n.attr("file").Expr.Range(), "Trace without jobs", "There is no job in %s.", t.shown)
	case n > schema.MaxJobs:
		d.errorf(a.n.attr("file").Expr.Range(), "Trace too large", "%s has %d jobs; the most is %d. limit takes the first of them.", t.shown, n, schema.MaxJobs)
	default:
		f.ok = true
	}
	return f
}

func readTraceFile(t *rawTrace, o formats.Options) (trace workload.Trace, digest string, err error) {
	digest, err = readAll(t.source, func(text io.Reader) (err error) {
		trace, err = t.Format.Read(t.shown, text, o)
		return err
	})
	return trace, digest, err
}

// readAll has a file read, unpacked, and returns the digest of its content.
func readAll(s source, read func(io.Reader) error) (digest string, err error) {
	f, err := os.Open(s.path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	all := io.TeeReader(f, hash)
	text, err := unpack(s.path, all)
	if err != nil {
		return "", err
	}
	if err := read(text); err != nil {
		return "", err
	}
	if _, err := io.Copy(io.Discard, all); err != nil { // what the reader left
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// unpack reads through gzip where the file's name says so.
func unpack(name string, r io.Reader) (io.Reader, error) {
	if filepath.Ext(name) != ".gz" {
		return r, nil
	}
	return gzip.NewReader(r)
}

// traceErrors reports what is wrong with a file: each malformed line at its
// place in it.
func (d *decoder) traceErrors(t source, at hcl.Range, err error) {
	lines := lineErrors(err)
	for i, l := range lines {
		detail := sentence(l.Err.Error())
		if i == workload.MaxErrors-1 {
			detail += " Reading stopped here; there may be more."
		}
		d.atLine(t, l.Line, "Malformed line", detail)
	}
	switch {
	case len(lines) > 0:
	case errors.Is(err, fs.ErrNotExist):
		d.errorf(at, "Cannot read the file", "There is no file %s.", t.shown)
	default:
		d.errorf(at, "Cannot read the file", "%v.", err)
	}
}

// lineErrors finds all errors of lines within an error.
func lineErrors(err error) []*workload.LineError {
	if at, ok := err.(*workload.LineError); ok {
		return []*workload.LineError{at}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return lineErrors(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*workload.LineError
		for _, one := range e.Unwrap() {
			all = append(all, lineErrors(one)...)
		}
		return all
	}
	return nil
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// atLine reports an error at a line of a file, which is read again to show it.
func (d *decoder) atLine(t source, line int, summary, detail string) {
	if d.files[t.shown] == nil {
		d.files[t.shown] = &hcl.File{Bytes: wholeFile(t.path)}
	}
	text, from := d.files[t.shown].Bytes, 0
	for range line - 1 {
		i := bytes.IndexByte(text[from:], '\n')
		if i < 0 {
			break
		}
		from += i + 1
	}
	length := bytes.IndexByte(text[from:], '\n')
	if length < 0 {
		length = len(text) - from
	}
	length = len(bytes.TrimRight(text[from:from+length], "\r"))
	d.add(Diagnostic{Severity: SeverityError, Summary: summary, Detail: detail, Range: Range{
		File: t.shown, Start: Pos{Line: line, Column: 1, Byte: from}, End: Pos{Line: line, Column: 1 + length, Byte: from + length},
	}})
}

// wholeFile returns a file's text; empty when it can no longer be read, which
// costs a message its snippet alone.
func wholeFile(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	r, err := unpack(path, f)
	if err != nil {
		return nil
	}
	text, _ := io.ReadAll(r) // as far as it goes
	return text
}

// mapJobs finds the job block of each job: by the job's own name, then by its
// class, in the argument jobs; then the argument job; then the block that is
// named as the class.
func (d *decoder) mapJobs(t *rawTrace, a *args) bool {
	index := map[string]int32{}
	use := func(block string) int32 {
		i, ok := index[block]
		if !ok {
			i = int32(len(t.jobs))
			index[block] = i
			t.jobs = append(t.jobs, block)
		}
		return i
	}
	named, used := map[string]string{}, map[string]bool{}
	for _, entry := range get[[]jobName](a, "jobs") {
		named[entry.key] = entry.job
	}
	classes := map[string]int32{} // what a class comes to
	ofClass := func(class string) int32 {
		block, ok := named[class]
		used[class] = used[class] || ok
		switch {
		case ok:
		case a.isSet("job"):
			block = get[reference](a, "job").name
		case d.root.find("job", class) != nil:
			block = class
		default:
			return -1
		}
		return use(block)
	}
	good, missing := true, 0
	t.block = make([]int32, len(t.Jobs))
	for i := range t.Jobs {
		j := &t.Jobs[i]
		block, ok := classes[j.Class]
		if !ok {
			block = ofClass(j.Class)
			classes[j.Class] = block
		}
		if len(named) > 0 {
			if own, ok := named[j.Name]; ok {
				used[j.Name] = true
				block = use(own)
			}
		}
		t.block[i] = block
		if block < 0 && !t.Timed(i) {
			if missing++; missing <= workload.MaxErrors {
				d.atLine(t.source, int(t.Lines[i]), "Job without a block", fmt.Sprintf("The trace does not tell how long %q runs, and no job block stands for it: name one in jobs = { %q = job.<name> }.", j.Name, j.Class))
			}
			good = false
		}
	}
	partial := len(t.Skipped) > 0 || a.isSet("limit") // the name may be in the rest
	for _, entry := range get[[]jobName](a, "jobs") {
		if !used[entry.key] && !partial {
			near := nearest(entry.key, slices.Sorted(maps.Keys(classes)))
			d.suggest(a.at("jobs"), near, fmt.Sprintf("Unknown job %q", entry.key), "The trace %s has no job and no class of jobs with the name %q.", t.shown, entry.key)
			good = false
		}
	}
	return good
}

// jobMap reads a map from names to jobs.
func (a *args) jobMap(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	if t := v.Type(); v.IsNull() || !t.IsObjectType() && !t.IsMapType() || t.Equals(refType) {
		return a.wrongType(arg, at, v, "a map of references to jobs")
	}
	var entries []jobName
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element() // in the order of the keys
		one := schema.Arg{Name: fmt.Sprintf("%s[%q]", arg.Name, k.AsString())}
		ref, ok := a.reference(&one, at, e, "job")
		if !ok {
			return nil, false
		}
		entries = append(entries, jobName{k.AsString(), ref.(reference).name})
	}
	return entries, true
}

// traceWith fills in what the file lacks from the job blocks, which are those
// of raw.jobs.
func traceWith(raw *rawTrace, blocks []*Job) *Trace {
	t := *raw.Trace
	t.Kind = make([]int32, len(t.Jobs))
	complete := t.Format.Complete()
	if !complete && len(blocks) > 0 {
		t.Jobs = slices.Clone(t.Jobs)
	}
	type kind struct {
		block   int32
		threads int
		timed   bool
	}
	kinds := map[kind]int32{}
	for i := range t.Jobs {
		j := &t.Jobs[i]
		b := raw.block[i]
		if b < 0 {
			t.Kind[i] = -1
			j.Priority = max(j.Priority, 0) // not told is the best
			continue
		}
		id := kind{b, j.Threads, t.Timed(i)}
		k, ok := kinds[id]
		if !ok {
			k = int32(len(t.Kinds))
			kinds[id] = k
			t.Kinds = append(t.Kinds, Kind{blocks[b].withThreads(j.Threads), id.timed})
		}
		t.Kind[i] = k
		if !complete {
			*j = workload.Template(*j, blocks[b].Template())
		}
	}
	return &t
}

// withThreads is the job with another request.
func (j *Job) withThreads(n int) *Job {
	if n == j.Threads.Request {
		return j
	}
	other := *j
	other.Threads.Request, other.Threads.Inter, other.Threads.Intra = n, 1, n
	other.Threads.Min = min(other.Threads.Min, n)
	if other.Threads.Max > 0 {
		other.Threads.Max = max(other.Threads.Max, n)
	}
	other.Variant = strconv.Itoa(n) + "t"
	return &other
}

// Template is what the scheduler knows of a job that is made from the block,
// with its deadline relative to the arrival.
func (j *Job) Template() scheduler.Job {
	return scheduler.Job{
		Class: j.Name, Threads: j.Threads.Request, MinThreads: j.Threads.Min, MaxThreads: j.Threads.Max,
		GPUs: j.GPUs, Memory: j.Memory, Nodes: j.Nodes, Malleable: j.Malleable, Priority: j.Priority,
		Deadline: j.Deadline, Retries: j.Retries,
	}
}

// checkResizeBeside reports a job name that a workload with a trace does not
// have.
func (d *decoder) checkResizeBeside(a *args, name string, w *rawWorkload) {
	if w.names == nil {
		w.names = make(map[string]bool, len(w.trace.Jobs))
		for i := range w.trace.Jobs {
			w.names[w.trace.Jobs[i].Name] = true
		}
		var own []string
		count := map[string]int{}
		for i, s := range w.Submits {
			for range s.Count {
				own = append(own, workload.NextName(w.jobs[i], count, w.names))
			}
		}
		for _, name := range own {
			w.names[name] = true
		}
	}
	if !w.names[name] && len(w.trace.Skipped) == 0 {
		a.wrong(a.n.attr("job").Expr.Range(), nearest(name, slices.Sorted(maps.Keys(w.names))), "Unknown job", "Neither the trace nor a submit block has a job %q. Submitted jobs are named by class and running number, those of a trace as in its file.", name)
	}
}

// instants reads the arrivals of a submit block from a column of a file.
func (d *decoder) instants(a *args) (instants []time.Duration, leftOut string) {
	from, at := d.source(get[string](a, "at_file")), a.n.attr("at_file").Expr.Range()
	var skipped []error
	_, err := readAll(from, func(text io.Reader) (err error) {
		instants, skipped, err = workload.ReadInstants(from.shown, text, get[string](a, "at_column"), d.lenient)
		return err
	})
	switch {
	case err != nil:
		a.ok = false
		d.traceErrors(from, at, err)
	case len(instants) == 0 || len(instants) > schema.MaxJobs:
		a.fail(at, "Value out of range", "%s has %s; there must be from 1 to %d.", from.shown, plural(len(instants), "instant"), schema.MaxJobs)
	case len(skipped) > 0:
		leftOut = fmt.Sprintf("%s has %s, left out", filepath.Base(from.path), malformed(skipped))
	}
	return instants, leftOut
}

// malformed counts lines that were left out, and tells of the first. It names
// no folder: the text is the same wherever the file is.
func malformed(skipped []error) string {
	text := plural(len(skipped), "malformed line")
	if lines := lineErrors(skipped[0]); len(lines) > 0 {
		text += fmt.Sprintf(" (the first is line %d: %v)", lines[0].Line, lines[0].Err)
	}
	return text
}
