package validate

import (
	"slices"
	"strings"

	"github.com/tfexp/tfexp/scheduler"
)

// profiling is what the trace has said of samples. The nil profiling is that of a policy that takes none.
type profiling struct {
	byClass bool
	// sampled has, by who is profiled together, the alternatives of which a sample has ended.
	sampled map[string][]int32
}

// Profiling says that jobs run as samples before they are scheduled: each on its own, or one for all of its class that
// have the same alternatives. Without it, no sample may run.
func (v *Validator) Profiling(byClass bool) {
	v.profiling = &profiling{byClass, map[string][]int32{}}
}

// together names those with which a job is profiled.
func (p *profiling) together(v *Validator, job int) string {
	j := &v.jobs[job]
	if !p.byClass {
		return j.Name
	}
	names := []string{j.Class}
	for _, a := range j.Alternatives() {
		names = append(names, a.Name)
	}
	return strings.Join(names, "\n")
}

// sample takes the end of a sample: it is the first with this alternative.
func (p *profiling) sample(v *Validator, e *scheduler.Event, t *traced) {
	if p == nil {
		v.report(e.At, e.Job, "job %q runs as a sample, and its policy takes none", v.name(e.Job))
		return
	}
	who := p.together(v, e.Job)
	if slices.Contains(p.sampled[who], t.alternative) {
		v.report(e.At, e.Job, "job %q runs as a sample of alternative %d again", v.name(e.Job), t.alternative)
	}
	p.sampled[who] = append(p.sampled[who], t.alternative)
}

// finish checks that a job which has finished was profiled before, with each alternative that the cluster can hold.
func (p *profiling) finish(v *Validator, e *scheduler.Event) {
	if p == nil {
		return
	}
	j, want := &v.jobs[e.Job], 0
	for k := range j.Alternatives() {
		if j.DemandAs(k).FitsOn(v.cluster) {
			want++
		}
	}
	if has := len(p.sampled[p.together(v, e.Job)]); has < max(want, 1) {
		v.report(e.At, e.Job, "job %q was scheduled after %d of %d samples", j.Name, has, max(want, 1))
	}
}
