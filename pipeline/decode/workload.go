package decode

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// workloadArgs has no arguments: a workload consists of blocks.
//
// Jobs with their arrival times, and requests to resize them while they run.
//
//	workload "mixed" {
//	  submit {
//	    job   = job.long
//	    count = 2
//	  }
//	  submit {
//	    job          = job.short
//	    count        = 6
//	    interarrival = exponential("400ms")
//	  }
//	  resize {
//	    at      = "5s"
//	    job     = "long-1"
//	    threads = 1
//	  }
//	}
type workloadArgs struct{}

func workloadBlock() *schema.Block {
	changes := changesBlock()
	at, threads, job := changes.Args[0], changes.Args[1], changes.Args[2]
	at.Example, threads.Example, job.Required, job.DefaultDoc = `"5s"`, `1`, true, ""
	resize := &schema.Block{
		Name: "resize", Args: []schema.Arg{at, job, threads},
		Doc: "Changes the thread request of one job. A running job is resized if it is malleable; a " +
			"waiting job uses the new request when it starts.",
	}
	b := schema.BlockFor[workloadArgs](schema.Block{Name: "workload", Label: "name, read as `workload.<name>`",
		Unique: true})
	submit := language.Extended(language.Submit, schema.BlockFor[submitArgs](schema.Block{Name: "submit"}))
	b.Blocks = []*schema.Block{submit, changes, resize}
	return language.Extended(language.Workload, b)
}

// changesBlock changes the resources of jobs while they train.
func changesBlock() *schema.Block {
	return schema.BlockFor[experiment.Update](schema.Block{Name: "changes"})
}

// submitArgs are the arguments of a submit block.
//
// Submits jobs of one job block, one after another or all at once. Their names are the name of the block and a number:
// `short-1`, `short-2`, …
type submitArgs struct {
	// The job that is submitted.
	//
	//	job = job.short
	Job string `arg:"job,required" type:"job"`
	// The number of jobs.
	//
	// Default: 1, or one for each time of `at`.
	//
	//	count = 6
	Count *int `arg:"count" min:"1" max:"jobs"`
	// The time since the start of the cell at which submission begins. Without `interarrival`, all jobs arrive
	// then.
	//
	//	start = "10s"
	Start time.Duration `arg:"start" default:"0s"`
	// The time between arrivals: constant (the first job arrives at `start`), or drawn (the first job arrives one gap
	// later).
	//
	//	interarrival = exponential("400ms")
	Interarrival workload.Arrivals `arg:"interarrival" type:"gap"`
	// Arrival times since the start of the cell: one for all jobs, or one for each job. Instead of `start` and
	// `interarrival`.
	//
	//	at = ["0s", "1.5s"]
	At []time.Duration `arg:"at"`
	// The level of these jobs for the order `priority`.
	//
	// Default: the job's.
	//
	//	priority = 1
	Priority *int `arg:"priority" min:"0" max:"1000000"`
	// The time after its arrival by which each job should be finished, for the order `edf`.
	//
	// Default: the job's.
	//
	//	deadline = "30s"
	Deadline time.Duration `arg:"deadline,positive"`
	// How long each of these jobs may train.
	//
	// Default: the job's.
	//
	//	budget = "400s"
	Budget *time.Duration `arg:"budget"`
	// The owner of the jobs, for policies that are fair between users.
	//
	//	user = "ada"
	User string `arg:"user"`
}

// draft is a workload whose jobs are known by name only.
type draft struct {
	*experiment.Workload
	jobs  []string            // of Submits
	trace language.ListedJobs // nil for none
	names map[string]bool     // of all jobs, where there is a trace and they are asked for
}

// Jobs returns the names of the submitted jobs, then the names of the trace's jobs.
func (w *draft) Jobs() []string {
	if w.trace == nil {
		return w.jobs
	}
	return slices.Concat(w.jobs, w.trace.JobBlocks())
}

// With fills in the jobs.
func (w *draft) With(jobs []*experiment.Job) *experiment.Workload {
	full := *w.Workload
	if w.trace != nil {
		full.Trace = w.trace.With(jobs[len(w.jobs):])
	}
	full.Submits = slices.Clone(w.Submits)
	for i := range full.Submits {
		s := &full.Submits[i]
		s.Job = jobs[i]
		if !s.HasPriority {
			s.Priority = s.Job.Priority
		}
		s.Deadline = cmp.Or(s.Deadline, s.Job.Deadline)
		if s.Budget == nil {
			s.Budget = s.Job.Budget
		}
	}
	return &full
}

// Workload decodes a workload block.
func (d *Decoder) Workload(n *eval.Node, e *eval.Env) (*draft, bool) {
	w := &draft{Workload: &experiment.Workload{Name: n.Label, Range: eval.RangeOf(n.Header)}}
	ok := !n.Broken
	counts := map[string]int{}
	for _, sn := range n.All("submit") {
		s, job, good := d.submit(sn, e)
		ok = ok && good
		counts[job] += s.Count
		w.Submits = append(w.Submits, s)
		w.jobs = append(w.jobs, job)
	}
	if list, ln := language.JobListIn(n); list != nil && ok {
		w.trace, ok = list.Decode(d.Decoder, ln, e)
	} else if list == nil && len(w.Submits) == 0 && !n.Broken {
		d.Errorf(n.Header, "Missing block", "%s needs at least one submit block%s.", n.Title(), language.JobListBlocks())
		ok = false
	}
	for _, rn := range n.All("resize") {
		u := experiment.Update{Range: eval.RangeOf(rn.Header)}
		a := d.Decode(rn, e, &u)
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
	a := &eval.Args{Node: n, OK: ok} // the block has blocks alone
	d.DecodeInto(w.Workload, language.Workload, language.Block{Args: a, Env: e})
	return w, a.OK
}

// changes decodes a change of one job's request, or of all jobs' alike. checked says
// that the jobs of the workload are known.
func (d *Decoder) changes(n *eval.Node, e *eval.Env, w *draft, counts map[string]int, checked bool) bool {
	u := experiment.Update{Range: eval.RangeOf(n.Header)}
	a := d.Decode(n, e, &u)
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
func (d *Decoder) submit(n *eval.Node, e *eval.Env) (experiment.Submit, string, bool) {
	var v submitArgs
	a := d.Decode(n, e, &v)
	s := experiment.Submit{
		Count: 1, HasPriority: v.Priority != nil, Deadline: v.Deadline, User: v.User, Budget: v.Budget,
		Range: eval.RangeOf(n.Header),
	}
	s.Priority = schema.Or(v.Priority, s.Priority)
	d.DecodeFirst(&s, language.Submit, language.Block{Args: a, Env: e})
	switch {
	case s.Arrivals.Kind != "": // a feature has read them
	case a.IsSet("at"):
		if !a.IsWrong("at") {
			a.Excludes("{} and at both set when the jobs arrive: keep one.", "interarrival", "start")
		}
		s.Arrivals = workload.Arrivals{Kind: workload.At, Times: v.At}
		s.Count = len(v.At)
	case a.IsSet("interarrival"):
		s.Arrivals = v.Interarrival
		s.Arrivals.Start = v.Start
	default:
		s.Arrivals = workload.Arrivals{Kind: workload.At, Times: []time.Duration{v.Start}}
	}
	if v.Count != nil {
		s.Count = *v.Count
		if len(v.At) > 1 && len(v.At) != s.Count {
			a.Fail(a.At("at"), "Contradicting arguments", "at has %d times, but count is %d.", len(v.At), s.Count)
		}
	}
	d.DecodeInto(&s, language.Submit, language.Block{Args: a, Env: e})
	return s, v.Job, a.OK
}

// checkResizeBeside reports a job name that a workload with a trace does not
// have.
func (d *Decoder) checkResizeBeside(a *eval.Args, name string, w *draft) {
	if w.names == nil {
		listed := w.trace.Raw().Jobs
		w.names = make(map[string]bool, len(listed))
		for i := range listed {
			w.names[listed[i].Name] = true
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
	if !w.names[name] && len(w.trace.Raw().Skipped) == 0 {
		near := d.Nearest(name, func() []string { return slices.Sorted(maps.Keys(w.names)) })
		a.Wrong(a.Node.Attr("job").Expr.Range(), near, "Unknown job",
			"Neither the trace nor a submit block has a job %q. Submitted jobs are named by job block and "+
				"number; those of a trace as in its file.", name)
	}
}
