package scheduler

import "time"

// Special is what few jobs have: apart from the others, of which there may be millions.
type Special struct {
	// Batch is how many samples a step its user asked for; 0 leaves it to the program.
	Batch int `json:",omitempty"`
	// Roles are the parts of a job that has several, each a program on a node of
	// its own or not; Threads and GPUs are their sums. Such a job is rigid, and starts
	// whole.
	Roles []Role
	// Budget is how long the job may train, in service time over all of its attempts;
	// nil means that its work alone ends it.
	Budget *time.Duration
	// Retries is how often a job that failed while it ran is put back into the
	// queue, to be started anew.
	Retries int
	// Changeover is what it costs the job to start on another server, before its work
	// goes on, for policies that choose where servers come from.
	Changeover time.Duration
	// Units is the work of the job in epochs or steps, for policies that compare the speeds of
	// jobs; 0 counts as 1.
	Units float64
	// Weight is the job's part of a fair division, relative to others; 0 counts as 1.
	Weight float64

	// Alternatives are the requests with which a job can run, when there are several
	// or the type of GPU matters: it starts with one of them, and keeps it. The
	// first is the request of the job, so that a job with alternatives has at least
	// one. Such a job is rigid.
	Alternatives []Alternative
}

// special returns what a job has of its own, or what a job without anything special has.
func (j *Job) special() *Special {
	if j.Special == nil {
		return &ordinary
	}
	return j.Special
}

var ordinary Special

// Own returns what is special of a job, to change it: no other job shares it.
func (j *Job) Own() *Special {
	s := *j.special()
	j.Special = &s
	return j.Special
}

// Batch returns Special.Batch.
func (j *Job) Batch() int { return j.special().Batch }

// Roles returns Special.Roles.
func (j *Job) Roles() []Role { return j.special().Roles }

// Budget returns Special.Budget.
func (j *Job) Budget() *time.Duration { return j.special().Budget }

// Retries returns Special.Retries.
func (j *Job) Retries() int { return j.special().Retries }

// Changeover returns Special.Changeover.
func (j *Job) Changeover() time.Duration { return j.special().Changeover }

// Units returns Special.Units.
func (j *Job) Units() float64 { return j.special().Units }

// Weight returns Special.Weight.
func (j *Job) Weight() float64 { return j.special().Weight }

// Alternatives returns Special.Alternatives.
func (j *Job) Alternatives() []Alternative { return j.special().Alternatives }
