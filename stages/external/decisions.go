package external

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// decisionList is a program's answer with its decisions.
type decisionList struct {
	Type string        `json:"type"`
	Do   []jobDecision `json:"do"`
	// CallAt is the time of the next message if no event comes earlier; nil means that only events cause messages.
	CallAt *int64 `json:"call_at_ns"`
	// Waits has reasons why jobs wait, by job name.
	Waits map[string]string `json:"waits"`
}

// jobDecision is one decision. One of the first fields has the name of the job.
type jobDecision struct {
	Start   string `json:"start"`
	Resume  string `json:"resume"`
	Pause   string `json:"pause"`
	Resize  string `json:"resize"`
	Migrate string `json:"migrate"`
	// Cores is the number of cores for the job; 0 means its request.
	Cores int32 `json:"cores"`
	// Nodes are the names of nodes, and On are cores such as "0-3,7". If both are empty, the first nodes with room are
	// used.
	Nodes       []string `json:"nodes"`
	On          string   `json:"on"`
	Alternative string   `json:"alternative"`
	Why         string   `json:"why"`
}

// applyDecisions applies the decisions of an answer. An error names the job and the rule that was broken.
func (d *programAdmitter) applyDecisions(line []byte) error {
	var a decisionList
	if err := decodeAnswer(line, &a); err != nil {
		return d.process.withStderr(err.Error())
	}
	if a.Type != "" && a.Type != "answer" {
		return fmt.Errorf("its answer has the type %q, but must have the type \"answer\"", a.Type)
	}
	d.waits = a.Waits
	for job, why := range a.Waits {
		if _, known := d.number[job]; !known {
			return fmt.Errorf("waits: there is no job %q", job)
		}
		a.Waits[job] = schema.Shortened(why, maxReason)
	}
	for i := range a.Do {
		verb, name, err := a.Do[i].verbAndJob()
		if err == nil {
			err = d.applyDecision(verb, name, &a.Do[i])
		}
		switch {
		case err != nil && name != "":
			return fmt.Errorf("%s of job %q: %w", verb, name, err)
		case err != nil:
			return err
		}
	}
	if a.CallAt != nil {
		if at := time.Duration(*a.CallAt); at <= d.Now() {
			return fmt.Errorf("call_at_ns is %d, but must be later than the current time, "+
				"%d", *a.CallAt, int64(d.Now()))
		}
		d.wakes = time.Duration(*a.CallAt)
	}
	return nil
}

// verbAndJob returns the verb of a decision and the name of its job.
func (o *jobDecision) verbAndJob() (verb, job string, err error) {
	for _, v := range []struct{ verb, job string }{
		{"start", o.Start}, {"resume", o.Resume}, {"pause", o.Pause}, {"resize", o.Resize}, {"migrate", o.Migrate},
	} {
		switch {
		case v.job == "":
		case job != "":
			return "", "", fmt.Errorf("a decision is both %s of %q and %s of %q", verb, job, v.verb, v.job)
		default:
			verb, job = v.verb, v.job
		}
	}
	if job == "" {
		return "", "", errors.New("a decision names no job: give start, resume, pause, resize or migrate the " +
			"name of a job")
	}
	return verb, job, nil
}

// Errors for decisions that the state of a job does not allow.
var (
	errWaiting = errors.New("only waiting jobs can start")
	errSizes   = errors.New(`a program that sizes jobs must say "sizes": true in its first answer`)
	errRunning = errors.New("only running jobs can be paused, resized or migrated")
)

func (d *programAdmitter) applyDecision(verb, name string, o *jobDecision) error {
	job, known := d.number[name]
	if !known {
		return errors.New("there is no such job")
	}
	j := d.Job(job)
	state := j.State()
	waits := state == scheduler.Queued || state == scheduler.Paused
	switch verb {
	case "start", "resume":
		switch {
		case !waits && state == scheduler.Pending:
			return fmt.Errorf("the job has not arrived: %w", errWaiting)
		case !waits:
			return fmt.Errorf("the job is %s: %w", state, errWaiting)
		case verb == "resume" && state != scheduler.Paused:
			return fmt.Errorf("the job is %s: only paused jobs can resume", state)
		}
		return d.startJob(j, o)
	}
	if state != scheduler.Running {
		return fmt.Errorf("the job is %s: %w", state, errRunning)
	}
	switch verb {
	case "pause":
		if !d.can.Pause {
			return errors.New("the engine cannot pause jobs (capabilities.pause)")
		}
		return d.Actions.Pause(job, d.reasonOf(o, "the policy paused it"))
	case "resize":
		return d.resizeJob(j, o)
	}
	switch {
	case !d.can.Pause || !d.migrates:
		return errors.New("the engine cannot migrate jobs (capabilities.migrate)")
	case len(o.Nodes) == 0 && o.On == "":
		return errors.New("the decision must name nodes, or cores (on)")
	}
	if err := d.Actions.Pause(job, d.reasonOf(o, "the policy migrates it")); err != nil {
		return err
	}
	return d.startJob(d.Job(job), o)
}

// reasonOf returns the program's reason for a decision, or usual if it gave none.
func (d *programAdmitter) reasonOf(o *jobDecision, usual string) string {
	if o.Why != "" {
		return schema.Shortened(o.Why, maxReason)
	}
	return usual
}

// startJob starts or resumes a waiting job.
func (d *programAdmitter) startJob(j scheduler.JobView, o *jobDecision) error {
	choices := j.Choices()
	if o.Alternative != "" {
		as := j.Job().Alternatives()
		k := slices.IndexFunc(as, func(a scheduler.Alternative) bool { return a.Name == o.Alternative })
		switch {
		case k < 0:
			return fmt.Errorf("the job has no alternative %q", o.Alternative)
		case !slices.Contains(choices, int32(k)) && !slices.Contains(j.ChoicesAnew(), int32(k)):
			return fmt.Errorf("the job cannot continue with the alternative %q", o.Alternative)
		}
		choices = []int32{int32(k)}
	}
	var err error
	for _, k := range slices.Clone(choices) { // the first alternative that has room
		d.Choose(j.Number(), k)
		var cores int32
		if cores, err = d.coresFor(j, o); err != nil {
			return err
		}
		var nodes []int32
		var g scheduler.Grant
		if nodes, g, err = d.findPlace(j, cores, o); err != nil {
			continue
		}
		why := d.reasonOf(o, "the policy started it")
		if o.On != "" {
			return d.StartOn(j.Number(), g, why)
		}
		return d.Start(j.Number(), cores, nodes, why)
	}
	return err
}

// coresFor returns the number of cores with which a job starts.
func (d *programAdmitter) coresFor(j scheduler.JobView, o *jobDecision) (int32, error) {
	cores := o.Cores
	if cores == 0 || cores == j.Request() {
		return j.Request(), nil
	}
	if !d.ready.Sizes {
		return 0, fmt.Errorf("the job asks for %d cores, not %d: %w", j.Request(), cores, errSizes)
	}
	if j.Sized() {
		return 0, fmt.Errorf("the job keeps its %d cores: it is a gang, has parts, or is rigid and has started", j.Request())
	}
	return cores, checkCores(j, cores)
}

// checkCores returns an error if a job may not have this number of cores.
func checkCores(j scheduler.JobView, cores int32) error {
	job := j.Job()
	least, most := int32(max(job.MinThreads, 1)), max(int32(job.MaxThreads), j.Request())
	if cores < least || cores > most {
		return fmt.Errorf("the job must have %d to %d cores, not %d", least, most, cores)
	}
	return nil
}

// findPlace returns where a job with these cores starts: on the nodes or cores of the decision, or else on the first
// nodes with room.
func (d *programAdmitter) findPlace(j scheduler.JobView, cores int32, o *jobDecision) (nodes []int32,
	g scheduler.Grant, err error) {
	need, count := j.Needs(cores)
	switch {
	case o.On != "":
		var on scheduler.CoreSet
		if err := on.UnmarshalText([]byte(o.On)); err != nil {
			return nil, g, fmt.Errorf("on %q: %w", o.On, err)
		}
		last := int(on[len(on)-1].Hi) - 1
		node, ok := int32(0), false
		if last < d.cores {
			g, node, ok = d.Machine().On(on, need)
		}
		switch nodes = []int32{node}; {
		case last >= d.cores:
			return nil, g, fmt.Errorf("there is no core %d: the cluster has cores 0 to %d", last, d.cores-1)
		case count != 1 || need.Parts != nil:
			return nil, g, errors.New("only jobs of one node can start on chosen cores: leave out on")
		case int32(on.Count()) != cores:
			return nil, g, fmt.Errorf("on must name %d cores, but %q has %d", cores, o.On, on.Count())
		case !ok:
			return nil, g, fmt.Errorf("the cores %q must all be free and on one node", o.On)
		}
	case len(o.Nodes) > 0:
		for _, name := range o.Nodes {
			i := slices.IndexFunc(d.run.Cluster.Nodes, func(n scheduler.Node) bool { return n.Name == name })
			if i < 0 {
				return nil, g, fmt.Errorf("there is no node %q", name)
			}
			nodes = append(nodes, int32(i))
		}
		if slices.Sort(nodes); len(nodes) != count {
			return nil, g, fmt.Errorf("the job must have %d nodes, not %d (%s)", count, len(nodes), strings.Join(o.Nodes, ", "))
		}
		if need.Parts == nil && !j.Job().Divided && len(slices.Compact(slices.Clone(nodes))) < count {
			return nil, g, errors.New("the nodes of the job must differ")
		}
	default:
		var ok bool
		if nodes, ok = j.Fits(cores); ok {
			return nodes, g, nil
		}
		lack, some := cluster.LackOf(need, cluster.MaxFree(d.Machine().Free(), need, j.Home()))
		if some && len(d.run.Cluster.Nodes) > 1 {
			lack.Where = cluster.Where(len(d.run.Cluster.Nodes), count, false, j.Job().Divided)
		}
		if some {
			return nil, g, fmt.Errorf("there is no room: the job %s", lack)
		}
		return nil, g, errors.New("there is no room: no node has all free resources that the job needs")
	}
	if home := j.Home(); home != nil && !d.migrates && !slices.Equal(home, nodes) {
		return nil, g, fmt.Errorf("the job must resume on %s: the engine cannot migrate jobs (capabilities.migrate)",
			d.nodeNames(home))
	}
	if !j.HeldBy(d.Machine().Free(), cores, nodes) {
		free := cluster.MaxFree(d.Machine().Free(), cluster.Room{}, nodes)
		if lack, some := cluster.LackOf(need, free); some {
			return nil, g, fmt.Errorf("there is no room on %s: the job %s", d.nodeNames(nodes), lack)
		}
		return nil, g, fmt.Errorf("there is no room on %s for the job", d.nodeNames(nodes))
	}
	return nodes, g, nil
}

func (d *programAdmitter) nodeNames(nodes []int32) string {
	names := schema.Each(nodes, func(v int32) string { return d.run.Cluster.Nodes[v].Name })
	return strings.Join(names, ", ")
}

// resizeJob changes the number of cores of a running job.
func (d *programAdmitter) resizeJob(j scheduler.JobView, o *jobDecision) error {
	held := int32(j.Held().Cores.Count())
	switch {
	case !d.can.Resize:
		return errors.New("the engine cannot resize jobs (capabilities.resize)")
	case !d.ready.Sizes:
		return errSizes
	case !j.Job().Malleable || j.Job().Nodes > 1:
		return errors.New("the job is rigid: it keeps the cores of its start")
	case o.Cores == 0:
		return errors.New("the decision must have a number of cores")
	}
	if err := checkCores(j, o.Cores); err != nil {
		return err
	}
	if free := d.Machine().Free()[j.Home()[0]].Cores; o.Cores-held > free {
		return fmt.Errorf("there is no room: the job needs %d cores more on its node, %d are free", o.Cores-held, free)
	}
	return d.Actions.Resize(j.Number(), o.Cores, d.reasonOf(o, "the policy resized it"))
}
