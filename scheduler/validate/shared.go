package validate

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler"
)

// holdGPUs is hold for the GPUs of a grant, which may be those of another job.
func (v *Validator) holdGPUs(e *scheduler.Event) []int {
	if e.Beside == nil {
		return v.hold(&v.gpus, e, e.GPUs)
	}
	h := &v.gpus
	h.clear()
	with := e.Beside.Job
	if with < 0 || with >= len(v.jobs) || with == e.Job {
		v.report(e.At, e.Job, "job %q shares GPUs with job number %d, which is none", v.name(e.Job), with)
		return h.byNode
	}
	other := v.life(with)
	switch {
	case other.state != scheduler.Running || !slices.Equal(other.gpus, e.GPUs) || len(e.GPUs) == 0:
		v.report(e.At, e.Job, "job %q shares GPUs %s with %q, which does not hold just these", v.name(e.Job), e.GPUs,
			v.name(with))
	case !v.knows(e.Job, with) || !v.knows(with, e.Job):
		v.report(e.At, e.Job, "job %q shares GPUs with %q, and is not known to run beside it", v.name(e.Job), v.name(with))
	}
	if h.second == nil {
		h.second = slices.Repeat([]int32{-1}, len(h.job))
	}
	e.GPUs.Each(func(c int) {
		switch {
		case c >= len(h.job):
			v.report(e.At, e.Job, "job %q is given %s %d of %d", v.name(e.Job), h.what, c, len(h.job))
			return
		case h.second[c] >= 0:
			v.report(e.At, e.Job, "%s %d is held by three jobs: %q, %q and %q", h.what, c, v.name(int(h.job[c])),
				v.name(int(h.second[c])), v.name(e.Job))
		}
		h.second[c] = int32(e.Job)
		h.count(c)
	})
	return h.byNode
}

// knows reports whether it is known how fast a job is beside another one.
func (v *Validator) knows(job, with int) bool {
	ways, way := v.jobs[job].Alternatives(), int(v.life(job).alternative)
	return way < len(ways) && ways[way].Beside[v.jobs[with].Class] > 0
}

// leave takes a core or GPU from a job; the one that shares it has it alone then.
func (h *holders) leave(c int, job int32) {
	alone := int32(-1)
	switch {
	case h.second == nil:
	case h.second[c] == job:
		h.second[c] = -1
		return
	case h.job[c] == job:
		alone, h.second[c] = h.second[c], -1
	}
	if h.job[c] == job {
		h.job[c] = alone
	}
}
