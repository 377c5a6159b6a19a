package blocks

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/files"
	"github.com/tfexp/tfexp/experiments/matrix"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/words"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// rawWorkload is a workload whose jobs are known by name only.
type draft struct {
	*experiments.Workload
	d     *Decoder
	jobs  []string // of Submits
	trace *rawTrace
	names map[string]bool // of all jobs, where there is a trace and they are asked for
}

// Jobs returns the names of the jobs that are submitted, then those of the trace.
func (w *draft) Jobs() []string {
	if w.trace == nil {
		return w.jobs
	}
	return slices.Concat(w.jobs, w.trace.jobs)
}

// With fills in the jobs.
func (w *draft) With(jobs []*experiments.Job) *experiments.Workload {
	full := *w.Workload
	if w.trace != nil {
		full.Trace = traceWith(w.trace, jobs[len(w.jobs):])
		w.d.shown[full.Trace] = w.trace
	}
	full.Submits = slices.Clone(w.Submits)
	for i := range full.Submits {
		s := &full.Submits[i]
		s.Job = jobs[i]
		if !s.HasPriority {
			s.Priority = s.Job.Priority
		}
		if s.Deadline == 0 {
			s.Deadline = s.Job.Deadline
		}
		if s.Budget == nil {
			s.Budget = s.Job.Budget
		}
	}
	return &full
}

// Workload decodes a workload block.
func (d *Decoder) Workload(n *eval.Node, e *eval.Env) (matrix.Draft, bool) {
	w := &draft{d: d, Workload: &experiments.Workload{Name: n.Label, Range: eval.RangeOf(n.Header)}}
	ok := !n.Broken
	counts := map[string]int{}
	for _, sn := range n.All("submit") {
		s, job, good := d.submit(sn, e)
		ok = ok && good
		counts[job] += s.Count
		w.Submits = append(w.Submits, s)
		w.jobs = append(w.jobs, job)
	}
	if tn := n.First("trace"); tn != nil && ok {
		w.trace, ok = d.trace(tn, e)
	} else if tn == nil && len(w.Submits) == 0 && !n.Broken {
		d.Errorf(n.Header, "Missing block", "%s needs at least one submit block, or a trace block.", n.Title())
		ok = false
	}
	for _, rn := range n.All("resize") {
		a := d.EvalArgs(rn, e)
		u := experiments.Update{
			At: eval.Get[time.Duration](a, "at"), Job: eval.Get[string](a, "job"), Threads: eval.Get[int](a, "threads"),
			Range: eval.RangeOf(rn.Header),
		}
		if ok && a.OK {
			if w.trace != nil {
				d.checkResizeBeside(a, u.Job, w)
			} else {
				d.checkResize(a, u.Job, w.jobs, counts)
			}
		}
		ok = ok && a.OK
		w.Resizes = append(w.Resizes, u)
	}
	for _, cn := range n.All("changes") {
		ok = d.changes(cn, e, w, counts, ok) && ok
	}
	return w, ok
}

// changes decodes a change of one job's request, or of all jobs' alike. checked says
// that the jobs of the workload are known.
func (d *Decoder) changes(n *eval.Node, e *eval.Env, w *draft, counts map[string]int, checked bool) bool {
	a := d.EvalArgs(n, e)
	u := experiments.Update{
		At: eval.Get[time.Duration](a, "at"), Job: eval.Get[string](a, "job"), Threads: eval.Get[int](a, "threads"),
		Range: eval.RangeOf(n.Header),
	}
	switch {
	case !checked || !a.OK:
		return a.OK
	case u.Job != "" && w.trace != nil:
		d.checkResizeBeside(a, u.Job, w)
	case u.Job != "":
		d.checkResize(a, u.Job, w.jobs, counts)
	case w.trace != nil:
		a.Fail(n.Header, "Missing argument", "%s needs job: the workload has a trace.", n.Title())
	default:
		for i, class := range w.jobs {
			if slices.Index(w.jobs, class) != i {
				continue // another submit block of the same jobs
			}
			for k := range counts[class] {
				one := u
				one.Job = fmt.Sprintf("%s-%d", class, k+1)
				w.Resizes = append(w.Resizes, one)
			}
		}
		return a.OK
	}
	w.Resizes = append(w.Resizes, u)
	return a.OK
}

// checkResize reports a job name that the workload does not have.
func (d *Decoder) checkResize(a *eval.Args, name string, classes []string, counts map[string]int) {
	at := a.Node.Attr("job").Expr.Range()
	class, number := name, ""
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		class, number = name[:i], name[i+1:]
	}
	k, err := strconv.Atoi(number)
	switch count := counts[class]; {
	case count == 0:
		suggestion := ""
		near := d.Nearest(class, func() []string { return classes })
		if slices.Contains(classes, name) {
			near, number = name, "1"
		}
		if near != "" && number != "" {
			suggestion = near + "-" + number
		}
		a.Wrong(at, suggestion, "Unknown job",
			"The workload submits no job %q. Jobs are named by job block and number, like \"%s-1\".", name,
			classes[0])
	case err != nil || k < 1 || k > count || strconv.Itoa(k) != number:
		a.Fail(at, "Unknown job", "The workload submits no job %q; its jobs of that block are %s-1 to %s-%d.", name,
			class, class, count)
	}
}

// submit decodes a submit block, and returns the name of its job.
func (d *Decoder) submit(n *eval.Node, e *eval.Env) (experiments.Submit, string, bool) {
	a := d.EvalArgs(n, e)
	s := experiments.Submit{
		Count: 1, Priority: eval.Get[int](a, "priority"), HasPriority: a.Has("priority"),
		Deadline: eval.Get[time.Duration](a, "deadline"), User: eval.Get[string](a, "user"), Range: eval.RangeOf(n.Header),
	}
	s.Budget = budget(a)
	start := eval.Get[time.Duration](a, "start")
	times, by := eval.Get[[]time.Duration](a, "at"), "at"
	if a.IsSet("at_file") {
		by = "at_file"
		if a.OK {
			times, s.LeftOut = d.instants(a)
		}
	} else if a.IsSet("at_column") && a.Lacks("at_file") {
		a.Fail(a.At("at_column"), "Argument that nothing reads",
			"at_column is the column of at_file, which is not set.")
	}
	switch {
	case a.IsSet(by):
		for _, other := range []string{"interarrival", "start", "at"} {
			if a.IsSet(other) && other != by {
				a.Fail(a.At(other), "Contradicting arguments", "%s and %s both say when the jobs arrive.", other, by)
			}
		}
		s.Arrivals = workload.Arrivals{Kind: workload.At, Times: times}
		s.Count = len(times)
	case a.IsSet("interarrival"):
		s.Arrivals = eval.Get[workload.Arrivals](a, "interarrival")
		s.Arrivals.Start = start
	default:
		s.Arrivals = workload.Arrivals{Kind: workload.At, Times: []time.Duration{start}}
	}
	if a.Has("count") {
		s.Count = eval.Get[int](a, "count")
		if len(times) > 1 && len(times) != s.Count {
			a.Fail(a.At(by), "Contradicting arguments", "%s has %d times, but count is %d.", by, len(times), s.Count)
		}
	}
	return s, eval.Get[eval.Reference](a, "job").Name, a.OK
}

// checkResizeBeside reports a job name that a workload with a trace does not
// have.
func (d *Decoder) checkResizeBeside(a *eval.Args, name string, w *draft) {
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
		near := d.Nearest(name, func() []string { return slices.Sorted(maps.Keys(w.names)) })
		a.Wrong(a.Node.Attr("job").Expr.Range(), near, "Unknown job",
			"Neither the trace nor a submit block has a job %q. Submitted jobs are named by job block and "+
				"number; those of a trace as in its file.", name)
	}
}

// instants reads the arrivals of a submit block from a column of a file.
func (d *Decoder) instants(a *eval.Args) (instants []time.Duration, leftOut string) {
	from, at := d.Find(eval.Get[string](a, "at_file")), a.Node.Attr("at_file").Expr.Range()
	var skipped []error
	_, err := files.ReadAll(from, func(text io.Reader) (err error) {
		instants, skipped, err = workload.ReadInstants(from.Shown, text, eval.Get[string](a, "at_column"), d.lenient)
		return err
	})
	switch {
	case err != nil:
		a.OK = false
		d.FileErrors(from, at, err)
	case len(instants) == 0 || len(instants) > schema.MaxJobs:
		a.Fail(at, "Value out of range", "%s has %s; there must be from 1 to %d.", from.Shown,
			words.Plural(len(instants), "instant"), schema.MaxJobs)
	case len(skipped) > 0:
		leftOut = fmt.Sprintf("%s has %s, left out", filepath.Base(from.Path), experiments.Malformed(skipped))
	}
	return instants, leftOut
}
