package measure

import "github.com/tfexp/tfexp/scheduler"

// threads returns the threads that a job requests in one of its alternatives.
func (s *Setup) threads(job, alternative int) int {
	j := s.Job(job)
	if all := j.Alternatives(); alternative < len(all) {
		return all[alternative].Threads
	}
	return j.Threads
}

// typedNode returns the number (from 1) of the node of a set of GPUs if these have a type; otherwise 0.
func (s *Setup) typedNode(gpus scheduler.CoreSet) int32 {
	if len(gpus) == 0 {
		return 0
	}
	end := 0
	for v, n := range s.Cluster.Nodes {
		if end += n.GPUs; int(gpus[0].Lo) < end {
			if n.GPU == "" {
				return 0
			}
			return int32(v) + 1
		}
	}
	return 0
}

// resource returns the name of the resource that a job ran on: its alternative, or "cpu" or "gpu", with the type of
// GPU if there is one.
func (c *Collector) resource(job int, a *account) string {
	j := c.setup.Job(job)
	name, gpu := "cpu", ""
	if j.GPUs > 0 {
		name = "gpu"
	}
	if len(j.Alternatives()) > 0 {
		name, gpu = j.Alternatives()[c.account(job).Alternative].Name, j.Alternatives()[c.account(job).Alternative].GPU
	}
	if a.typed > 0 && !hasType(name, gpu) {
		name += ":" + c.setup.Cluster.Nodes[a.typed-1].GPU
	}
	return name
}

// hasType reports whether the name of an alternative already contains the type of GPU.
func hasType(name, gpu string) bool {
	return gpu != "" && len(name) > len(gpu) && name[len(name)-len(gpu)-1:] == ":"+gpu
}
