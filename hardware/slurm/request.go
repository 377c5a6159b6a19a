package slurm

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Request is a request for resources to the cluster. Empty fields mean the default of the site.
type Request struct {
	Name                                string
	Partition, Account, QOS, Constraint string
	GRES                                string
	Nodes, Threads                      int // Threads: cores of each node, or of each task
	Memory                              int64
	Time                                time.Duration
	Whole                               bool // whether nodes are not shared with other jobs
	More                                map[string]string
}

// Args returns the arguments for sbatch and salloc. The arguments of More come last and override others. A name of More
// with an empty value is a flag.
func (r Request) Args() []string {
	var args []string
	add := func(name, value string) {
		if value != "" {
			args = append(args, "--"+name+"="+value)
		}
	}
	add("job-name", r.Name)
	add("partition", r.Partition)
	add("account", r.Account)
	add("qos", r.QOS)
	add("constraint", r.Constraint)
	add("gres", r.GRES)
	if r.Nodes > 0 {
		add("nodes", strconv.Itoa(r.Nodes))
		add("ntasks", strconv.Itoa(r.Nodes))
		add("ntasks-per-node", "1")
	} else {
		add("nodes", "1")
		add("ntasks", "1")
	}
	if r.Threads > 0 {
		add("cpus-per-task", strconv.Itoa(r.Threads))
	}
	if r.Memory > 0 {
		add("mem", fmt.Sprintf("%dM", (r.Memory+1<<20-1)>>20))
	}
	if r.Time > 0 {
		add("time", FormatTimeLimit(r.Time))
	}
	if r.Whole {
		args = append(args, "--exclusive")
	}
	for _, name := range slices.Sorted(maps.Keys(r.More)) {
		if value := r.More[name]; value != "" {
			add(name, value)
		} else {
			args = append(args, "--"+name)
		}
	}
	return args
}
