package experiment

import (
	"github.com/tfexp/tfexp/scheduler"
)

// Neighbour is a class of jobs, with the part of its speed that a job keeps when it shares GPUs with them.
type Neighbour struct {
	Class string
	// GPU is the type of GPU on which this is so; empty for all.
	GPU  string
	Keep float64
}

// Beside returns the part of its speed that the job keeps next to jobs of each class on a type
// of GPU; nil when the file does not give it.
func (r *Runtime) Beside(gpu string) map[string]float64 {
	if r == nil {
		return nil
	}
	var keeps map[string]float64
	for _, n := range r.Neighbours {
		if n.GPU == "" || n.GPU == gpu {
			if keeps == nil {
				keeps = map[string]float64{}
			}
			keeps[n.Class] = n.Keep
		}
	}
	return keeps
}

// RequestOn returns the job's own request as an alternative with a name, on a type of GPU.
func (j *Job) RequestOn(name, gpu string) scheduler.Alternative {
	return scheduler.Alternative{
		Name: name, Threads: j.Threads.Request, GPUs: j.GPUs, Memory: j.Memory, GPU: gpu, Beside: j.Runtime.Beside(gpu),
	}
}
