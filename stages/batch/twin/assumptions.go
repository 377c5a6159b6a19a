package twin

import (
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload/slurm"
)

// assume writes the assumptions about the jobs of the file, for the user.
func (a *accounting) assume() {
	if a.others > 0 {
		a.Assumed = append(a.Assumed, fmt.Sprintf("rows of other clusters than %s (%d, as of %s) are left out",
			a.own, a.others, a.second))
	}
	if a.numbers {
		a.Assumed = append(a.Assumed, slurm.InUTC)
	}
	constraint := strings.ReplaceAll(a.constraint, "%", "%%")
	for _, of := range []struct {
		jobs int
		text string // with a verb for the number of jobs
	}{
		{a.waited - a.running, "jobs that never started (%d) are left out"},
		{a.running, "jobs that have not ended (%d) are left out, and use no nodes"},
		{a.parts, "parts of heterogeneous jobs (%d) start independently"},
		{a.reused, "rows that repeat the number of an earlier job (%d) count as further jobs"},
		{a.unbound, "jobs for which the file has no time limit (%d) have the default"},
		{a.unsized, "jobs for which the file has no memory (%d) have the default"},
		{a.stopped, "jobs that were suspended for a time (%d) run without a pause"},
		{a.sharing, "jobs with --exclusive=user or another value (%d) share their nodes with any job"},
		{a.mixed, "jobs that ask for GPUs of several types (%d) get GPUs of any type"},
		{a.constrained, "jobs with constraints such as " + constraint + " (%d) may have any nodes"},
		{a.shards, "jobs that ask for parts of GPUs, as shard or mps (%d), get no GPU"},
	} {
		if of.jobs > 0 {
			a.Assumed = append(a.Assumed, fmt.Sprintf(of.text, of.jobs))
		}
	}
}
