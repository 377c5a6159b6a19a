package experiment

import (
	"github.com/tfexp/tfexp/scheduler"
)

// Neighbour is a class of jobs that can share GPUs with a job. Keep is the part of its speed that the job keeps
// meanwhile.
type Neighbour struct {
	Class string
	// GPU is the type of GPU to which Keep applies; empty means all types.
	GPU  string
	Keep float64
}

// Beside returns by class of neighbor the part of its speed that the job keeps when they share a type of GPU. It
// returns nil if the file gives none.
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

// RequestOn returns the job's own request as an alternative with the given name, for a type of GPU.
func (j *Job) RequestOn(name, gpu string) scheduler.Alternative {
	return scheduler.Alternative{
		Name: name, Threads: j.Threads.Request, GPUs: j.GPUs, Memory: j.Memory, GPU: gpu, Beside: j.Runtime.Beside(gpu),
	}
}
