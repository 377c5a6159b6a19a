package cluster

import "fmt"

// Lack is something that a job needs of a node, or of each of its nodes, and that
// is not free there.
type Lack struct {
	Alternative int
	What        string // "cores", "GPUs" or "bytes of memory"
	Where       string // "on one node"; empty when there is but one
	Need, Free  int64
}

// String is "needs 4 cores on one node, 1 are free".
func (x Lack) String() string {
	return fmt.Sprintf("needs %d %s%s, %d are free", x.Need, x.What, before(x.Where), x.Free)
}

// before puts a space before a phrase, if there is one.
func before(phrase string) string {
	if phrase == "" {
		return ""
	}
	return " " + phrase
}

// LackOf returns a resource whose need exceeds the free amount: GPUs, cores or memory. A job with GPUs has cores for
// them, so that its cores are often short along with its GPUs. ok is false if no single resource is short.
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

// Where says in words where a job on count nodes of a cluster needs room: where it was paused,
// if it is bound to that, or where the policy divides it.
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
