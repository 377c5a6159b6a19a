package experiments

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/experiments/language"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// decoder turns the blocks of one file into a Spec. Every method that decodes
// a block returns false when the block has an error (which is reported) or
// depends on something that has.
type decoder struct {
	*reporter
	root       *node
	filename   string
	dir        string // of the file, absolute
	global     *env
	vars       []Setting
	lenient    bool
	hostMemory int64 // bytes, whole GiB, so that a reboot changes no key; 0 when it is not known
	host       HostFacts
	traces     map[string]*traceFile // by what is read and how
	shown      map[*Trace]*rawTrace  // where the traces of cells are from
}

func newDecoder(r *reporter, root *node, filename string, opts LoadOptions) *decoder {
	d := &decoder{
		reporter: r, root: root, filename: filename, dir: folder(filename),
		lenient: opts.Lenient, host: opts.Host, hostMemory: opts.Host.MemoryBytes &^ (1<<30 - 1), traces: map[string]*traceFile{}, shown: map[*Trace]*rawTrace{},
	}
	d.global, d.vars = r.globals(root, opts)
	return d
}

// ranges returns where the file sets each argument.
func (a *args) ranges() map[string]Range {
	at := make(map[string]Range, len(a.set))
	for name, rng := range a.set {
		at[name] = rangeOf(rng)
	}
	return at
}

// spec decodes the whole file.
func (d *decoder) spec() *Spec {
	s := &Spec{Variables: d.vars, Lenient: d.lenient}
	if n := d.root.first("experiment"); n != nil {
		a := d.evalArgs(n, d.global)
		s.Name, s.Range = n.label, rangeOf(n.header)
		s.Description = get[string](a, "description")
		s.Seed = int64(get[int](a, "seed"))
		s.Replicates = get[int](a, "replicates")
		s.Records = get[string](a, "records")
		s.Until = get[time.Duration](a, "until")
	}
	s.Profile, s.Estimate = d.profile(), d.estimate()
	s.Cells, s.Axes = d.cells()
	d.fitTraces(s.Cells)
	s.Compares = d.compares(s.Cells)
	s.Plots = d.plots(s.Axes)
	s.Thresholds = d.thresholds(s.Cells)
	if !d.failed() {
		d.doubts(s)
		d.sampling(s)
	}
	return s
}

// sole returns the block of that kind, or one without arguments, which has
// the defaults.
func (d *decoder) sole(kind string) *node {
	if n := d.root.first(kind); n != nil {
		return n
	}
	s := d.root.schema.Block(kind)
	return &node{schema: s, args: s.Args}
}

// metric returns the column of metrics.csv with that name, which may lack its
// "_s"; empty, having reported it, when there is none.
func (d *decoder) metric(name string, at hcl.Range) string {
	for _, m := range language.Metrics() {
		if m == name || m == name+"_s" {
			return m
		}
	}
	suggestion := nearest(name, language.Metrics())
	if !strings.HasSuffix(name, "_s") {
		suggestion = strings.TrimSuffix(nearest(name+"_s", language.Metrics()), "_s")
	}
	d.suggest(at, suggestion, fmt.Sprintf("Unknown metric %q", name), "The metrics are the columns of metrics.csv: %s.", strings.Join(language.Metrics(), ", "))
	return ""
}

func (d *decoder) compares(cells []Cell) []Compare {
	var list []Compare
	for _, n := range d.root.all("compare") {
		a := d.evalArgs(n, d.global)
		metric := d.metric(n.label, n.labelAt)
		baseline, ok := a.values["baseline"].(reference)
		if metric == "" || !ok || !a.ok {
			continue
		}
		c := Compare{Metric: metric, Baseline: baseline.name, Level: get[float64](a, "level"), Range: rangeOf(n.header)}
		if slices.ContainsFunc(list, func(o Compare) bool { return o.Metric == c.Metric && o.Baseline == c.Baseline }) {
			d.errorf(n.header, "Duplicate comparison", "%s is already compared with the policy %q.", c.Metric, c.Baseline)
			continue
		}
		if !d.failed() && !slices.ContainsFunc(cells, func(cell Cell) bool { return cell.Policy.Name == c.Baseline }) {
			d.errorf(baseline.at, "Baseline that never runs", "No cell of the matrix has the policy %q.", c.Baseline)
		}
		list = append(list, c)
	}
	return list
}

// job decodes a job block.
func (d *decoder) job(n *node, e *env) (*Job, bool) {
	a := d.evalArgs(n, e)
	j := &Job{
		Name: n.label, Range: rangeOf(n.header), At: a.ranges(),
		Command: get[[]string](a, "command"), Env: get[[]Setting](a, "env"), Flags: get[bool](a, "flags"),
		Epochs: get[int](a, "epochs"), Steps: get[int](a, "steps"),
		Threads: get[Threads](a, "threads"), Malleable: get[bool](a, "malleable"),
		GPUs: get[int](a, "gpus"), GPU: get[string](a, "gpu"), Memory: get[int64](a, "memory"), Nodes: get[int](a, "nodes"),
		Priority: get[int](a, "priority"), Limit: get[time.Duration](a, "limit"), TimeWriter: get[string](a, "time_writer"),
		Deadline: get[time.Duration](a, "deadline"), Retries: get[int](a, "retries"),
	}
	d.container(a, j)
	if a.lacks("threads") {
		j.Threads = Threads{Request: 1, Inter: 1, Intra: 1, Range: rangeOf(n.header)}
	}
	builtin := n.first("builtin")
	switch {
	case builtin != nil && a.isSet("command"):
		a.fail(builtin.header, "Both builtin and command", "A job has either a builtin block or a command.")
	case builtin == nil && a.lacks("command"):
		if !n.broken {
			a.fail(n.header, "Job without a program", "%s needs a builtin block or a command.", n.title())
		}
	case builtin != nil:
		for _, name := range []string{"dir", "env", "files", "flags", "time_writer"} {
			if a.isSet(name) {
				a.fail(a.at(name), "Argument that nothing reads", "%s is for jobs with a command; this one is built in.", name)
			}
		}
		var ok bool
		j.Builtin = builtin.label
		j.Settings, ok = d.settings(builtin, e)
		a.ok = a.ok && ok
	default:
		a.contractEnv()
		j.Dir = d.path(get[string](a, "dir"))
		for _, f := range get[[]string](a, "files") {
			j.Files = append(j.Files, d.path(f))
		}
	}
	switch {
	case a.isSet("epochs") && a.isSet("steps"):
		a.fail(a.at("steps"), "Both epochs and steps", "A job's work is given in epochs or in steps.")
	case a.lacks("epochs") && a.lacks("steps") && !n.broken:
		a.fail(n.header, "Job without work", "%s needs epochs or steps.", n.title())
	}
	if nodes := max(j.Nodes, 1); nodes > 1 && a.ok {
		switch {
		case j.Threads.Request%nodes != 0:
			a.fail(a.at("nodes"), "Contradicting arguments", "%s cannot be divided evenly over %d nodes.", plural(j.Threads.Request, "thread"), nodes)
		case j.GPUs%nodes != 0:
			a.fail(a.at("nodes"), "Contradicting arguments", "%s cannot be divided evenly over %d nodes.", plural(j.GPUs, "GPU"), nodes)
		case j.Malleable:
			a.fail(a.at("malleable"), "Contradicting arguments", "A job over several nodes keeps its request; it cannot be malleable.")
		}
	}
	if rt := n.first("runtime"); rt != nil {
		var ok bool
		j.Runtime, ok = d.runtime(rt, e)
		a.ok = a.ok && ok
	}
	d.alternatives(n, e, a, j)
	return j, a.ok
}

// path makes a path of the file absolute.
func (d *decoder) path(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(d.dir, p)
}

// settings lists all arguments of a built-in program, in the order of its schema.
func (d *decoder) settings(n *node, e *env) ([]Setting, bool) {
	a := d.evalArgs(n, e)
	list := make([]Setting, 0, len(n.args))
	for _, arg := range n.args {
		var text string
		switch v := a.values[arg.Name].(type) {
		case string:
			text = v
		case int:
			text = strconv.Itoa(v)
		case float64:
			text = strconv.FormatFloat(v, 'g', -1, 64)
		case []int:
			parts := make([]string, len(v))
			for i, n := range v {
				parts[i] = strconv.Itoa(n)
			}
			text = strings.Join(parts, ",")
		case nil:
			if arg.Name != "learning_rate" || !a.lacks(arg.Name) {
				continue // in error
			}
			// The one default that depends on another argument.
			text = "0.001"
			if get[string](a, "optimizer") == "sgd" {
				text = "0.05"
			}
		}
		list = append(list, Setting{Name: arg.Name, Value: text})
	}
	return list, a.ok
}

// rawWorkload is a workload whose jobs are known by name only.
type rawWorkload struct {
	*Workload
	jobs  []string // of Submits
	trace *rawTrace
	names map[string]bool // of all jobs, where there is a trace and they are asked for
}

// workload decodes a workload block.
func (d *decoder) workload(n *node, e *env) (*rawWorkload, bool) {
	w := &rawWorkload{Workload: &Workload{Name: n.label, Range: rangeOf(n.header)}}
	ok := !n.broken
	counts := map[string]int{}
	for _, sn := range n.all("submit") {
		s, job, good := d.submit(sn, e)
		ok = ok && good
		counts[job] += s.Count
		w.Submits = append(w.Submits, s)
		w.jobs = append(w.jobs, job)
	}
	if tn := n.first("trace"); tn != nil && ok {
		w.trace, ok = d.trace(tn, e)
	} else if tn == nil && len(w.Submits) == 0 && !n.broken {
		d.errorf(n.header, "Missing block", "%s needs at least one submit block, or a trace block.", n.title())
		ok = false
	}
	for _, rn := range n.all("resize") {
		a := d.evalArgs(rn, e)
		u := Update{At: get[time.Duration](a, "at"), Job: get[string](a, "job"), Threads: get[int](a, "threads"), Range: rangeOf(rn.header)}
		if ok && a.ok {
			if w.trace != nil {
				d.checkResizeBeside(a, u.Job, w)
			} else {
				d.checkResize(a, u.Job, w.jobs, counts)
			}
		}
		ok = ok && a.ok
		w.Resizes = append(w.Resizes, u)
	}
	return w, ok
}

// checkResize reports a job name that the workload does not have.
func (d *decoder) checkResize(a *args, name string, classes []string, counts map[string]int) {
	at := a.n.attr("job").Expr.Range()
	class, number := name, ""
	if i := strings.LastIndexByte(name, '-'); i >= 0 {
		class, number = name[:i], name[i+1:]
	}
	k, err := strconv.Atoi(number)
	switch count := counts[class]; {
	case count == 0:
		suggestion := ""
		near := nearest(class, classes)
		if slices.Contains(classes, name) {
			near, number = name, "1"
		}
		if near != "" && number != "" {
			suggestion = near + "-" + number
		}
		a.wrong(at, suggestion, "Unknown job", "The workload submits no job %q. Jobs are named by class and running number, like \"%s-1\".", name, classes[0])
	case err != nil || k < 1 || k > count || strconv.Itoa(k) != number:
		a.fail(at, "Unknown job", "The workload submits no job %q; the jobs of this class are %s-1 to %s-%d.", name, class, class, count)
	}
}

// submit decodes a submit block, and returns the name of its job.
func (d *decoder) submit(n *node, e *env) (Submit, string, bool) {
	a := d.evalArgs(n, e)
	s := Submit{
		Count: 1, Priority: get[int](a, "priority"), HasPriority: a.has("priority"),
		Deadline: get[time.Duration](a, "deadline"), User: get[string](a, "user"), Range: rangeOf(n.header),
	}
	start := get[time.Duration](a, "start")
	times, by := get[[]time.Duration](a, "at"), "at"
	if a.isSet("at_file") {
		by = "at_file"
		if a.ok {
			times, s.LeftOut = d.instants(a)
		}
	} else if a.isSet("at_column") && a.lacks("at_file") {
		a.fail(a.at("at_column"), "Argument that nothing reads", "at_column is the column of at_file, which is not set.")
	}
	switch {
	case a.isSet(by):
		for _, other := range []string{"interarrival", "start", "at"} {
			if a.isSet(other) && other != by {
				a.fail(a.at(other), "Contradicting arguments", "%s and %s both say when the jobs arrive.", other, by)
			}
		}
		s.Arrivals = workload.Arrivals{Kind: workload.At, Times: times}
		s.Count = len(times)
	case a.isSet("interarrival"):
		s.Arrivals = get[workload.Arrivals](a, "interarrival")
		s.Arrivals.Start = start
	default:
		s.Arrivals = workload.Arrivals{Kind: workload.At, Times: []time.Duration{start}}
	}
	if a.has("count") {
		s.Count = get[int](a, "count")
		if len(times) > 1 && len(times) != s.Count {
			a.fail(a.at(by), "Contradicting arguments", "%s has %d instants, but count is %d.", by, len(times), s.Count)
		}
	}
	return s, get[reference](a, "job").name, a.ok
}

// hardware decodes a hardware block.
func (d *decoder) hardware(n *node, e *env) (*Hardware, bool) {
	a := d.evalArgs(n, e)
	h := &Hardware{
		Name: n.label, Range: rangeOf(n.header), At: a.ranges(),
		Engine: get[string](a, "engine"), EngineRange: rangeOf(a.at("engine")), ThreadsRange: rangeOf(a.at("threads")),
		Noise: get[float64](a, "noise"), Lacks: get[[]string](a, "lacks"),
	}
	slices.Sort(h.Lacks)
	h.Lacks = slices.Compact(h.Lacks)
	nodes := n.all("node")
	if h.Engine == "process" || h.Engine == "docker" {
		engineOnly(a, n, h)
	}
	d.docker(a, h)
	if over := n.first("overheads"); over != nil {
		oa := d.evalArgs(over, e)
		cost := func(name string) time.Duration { return get[time.Duration](oa, name) }
		h.Overheads = &Overheads{Start: cost("start"), Pause: cost("pause"), Resume: cost("resume"), Resize: cost("resize")}
		a.ok = a.ok && oa.ok
	}
	if c := n.first("contention"); c != nil {
		var ok bool
		h.Contention, ok = d.contention(c, e)
		a.ok = a.ok && ok
	}
	if len(nodes) > 0 {
		for _, name := range []string{"threads", "memory", "gpus", "gpu"} {
			if a.isSet(name) {
				a.fail(a.at(name), "Contradicting arguments", "%s belongs in the node blocks of this hardware.", name)
			}
		}
		total := 0
		for _, nn := range nodes {
			na := d.evalArgs(nn, e)
			d.dockerNode(na, h, get[int](na, "count"))
			a.ok = a.ok && na.ok
			count, machine := get[int](na, "count"), scheduler.Node{
				Name: nn.label, Threads: get[int](na, "threads"), GPUs: get[int](na, "gpus"), Memory: get[int64](na, "memory"),
			}
			machine.GPU = na.gpuOf(machine)
			a.ok = a.ok && na.ok
			if total += count * max(machine.Threads, machine.GPUs); total > maxCores || len(h.Cluster.Nodes)+count > schema.MaxNodes {
				a.fail(nn.header, "Value out of range", "The cluster is too large: at most %d nodes and %d cores or GPUs.", schema.MaxNodes, maxCores)
				break
			}
			for i := 1; i <= count; i++ {
				m := machine
				if count > 1 {
					m.Name = fmt.Sprintf("%s-%d", machine.Name, i)
				}
				h.Cluster.Nodes = append(h.Cluster.Nodes, m)
			}
		}
		return h, a.ok
	}
	machine := scheduler.Node{Name: n.label, Threads: get[int](a, "threads"), GPUs: get[int](a, "gpus"), Memory: get[int64](a, "memory")}
	if h.Engine == "process" && a.lacks("gpus") {
		machine.GPUs = d.host.GPUs
	}
	machine.GPU = a.gpuOf(machine)
	if h.Engine == "process" && machine.GPUs > 0 && a.lacks("gpu") {
		machine.GPU = d.host.GPUType
	}
	if a.lacks("threads") {
		switch h.Engine {
		case "process", "docker":
			machine.Threads = d.hostThreads()
		case "simulated":
			a.fail(n.header, "Hardware without threads", "%s needs threads, or node blocks.", n.title())
		}
	}
	if (h.Engine == "process" || h.Engine == "docker" && a.lacks("host")) && a.lacks("memory") {
		machine.Memory = d.hostMemory
	}
	if h.Docker != nil {
		h.Docker.Hosts = []string{get[string](a, "host")}
	}
	h.Cluster.Nodes = []scheduler.Node{machine}
	return h, a.ok
}

// maxCores keeps the numbers of cores within 32 bits.
const maxCores = 1 << 30

func (d *decoder) hostThreads() int {
	host, _ := d.global.lookup("host")
	n, _ := host.GetAttr("threads").AsBigFloat().Int64()
	return int(n)
}
