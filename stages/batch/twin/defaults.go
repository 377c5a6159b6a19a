package twin

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// defaultMemory is the memory of jobs that ask for none.
type defaultMemory struct {
	bytes int64
	each  string // thread, gpu or node
}

// parseDefaults reads the argument default_memory.
func parseDefaults(list []schema.Setting) (map[string]defaultMemory, error) {
	all := map[string]defaultMemory{}
	for _, s := range list {
		size, each, ok := strings.Cut(s.Value, " per ")
		bytes, err := schema.ParseSize(size)
		if err != nil || !ok || !slices.Contains([]string{"thread", "gpu", "node"}, each) {
			return nil, &formats.ArgError{Arg: "default_memory", Err: fmt.Errorf("%q is no amount such as \"2GiB per thread\", per gpu or per node",
				s.Value)}
		}
		all[s.Name] = defaultMemory{bytes, each}
	}
	return all, nil
}

// parseLimits reads the argument default_limit.
func parseLimits(list []schema.Setting) (map[string]time.Duration, error) {
	all := map[string]time.Duration{}
	for _, s := range list {
		d, err := schema.ParseDuration(s.Value)
		if err != nil || d <= 0 {
			return nil, &formats.ArgError{Arg: "default_limit", Err: fmt.Errorf("%q is no time such as \"1h\"", s.Value)}
		}
		all[s.Name] = d
	}
	return all, nil
}

// usual returns the memory of a job for which the file has none.
func (a *accounting) usual(j *scheduler.Job, fields []string) (int64, error) {
	d, ok := a.defaults[a.text(fields, "Partition")]
	if !ok {
		d = a.defaults["*"]
	}
	n := j.Threads
	switch d.each {
	case "gpu":
		n = j.GPUs
	case "node":
		nodes, err := a.number(fields, "NNodes", "ReqNodes")
		if err != nil {
			return 0, err
		}
		n = max(nodes, 1)
	}
	if d.bytes > 0 && n > 0 {
		a.unsized++
	}
	return d.bytes * int64(n), nil
}
