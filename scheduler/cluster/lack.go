package cluster

import "fmt"

// Lack is a resource of a node that a job needs and that is not free.
type Lack struct {
	Alternative int
	What        string // "cores", "GPUs" or "bytes of memory"
	Where       string // text such as "on one node"; empty if there is only one node
	Need, Free  int64
}

// String returns a text such as "needs 4 cores on one node, 1 are free".
func (x Lack) String() string {
	return fmt.Sprintf("needs %d %s%s, %d are free", x.Need, x.What, before(x.Where), x.Free)
}

// before returns a phrase with a space before it; empty for an empty phrase.
func before(phrase string) string {
	if phrase == "" {
		return ""
	}
	return " " + phrase
}

// LackOf returns a resource that free has too little of for need: GPUs first, then cores, then memory. GPUs come
// first because a job that waits for GPUs usually lacks their cores too. ok is false if no resource is short.
func LackOf(need, free Room) (l Lack, ok bool) {
	switch {
	case need.GPUs > free.GPUs:
		l.What, l.Need, l.Free = "GPUs", int64(need.GPUs), int64(free.GPUs)
	case need.Cores > free.Cores:
		l.What, l.Need, l.Free = "cores", int64(need.Cores), int64(free.Cores)
	case need.Memory > free.Memory:
		l.What, l.Need, l.Free = "bytes of memory", need.Memory, free.Memory
	default:
		return l, false
	}
	return l, true
}

// Where returns a phrase that says where a job on count nodes needs room. bound says that a paused job must stay on
// its nodes; divided says that the policy divides the job.
func Where(nodes, count int, bound, divided bool) string {
	switch {
	case nodes <= 1:
		return ""
	case bound:
		return "where it was paused"
	case divided:
		return "where the policy places it"
	case count > 1:
		return fmt.Sprintf("on each of %d nodes", count)
	}
	return "on one node"
}
