package policy

import "github.com/tfexp/tfexp/scheduler"

// AlwaysAttend gives a job as many free cores as it requests, or all free cores if there are fewer.
const AlwaysAttend Allocation = "always_attend"

var _ = RegisterAllocation(AllocationChoice{
	Choice: Choice{
		Name: AlwaysAttend, Title: "Always attend", Doc: "the free cores, at most as many as it requests", Place: 2,
	},
	Partial: true, Allot: whatIsFree,
})

// whatIsFree allots a job its request on the first node that has it free. If no node has, it allots all free cores
// of the node with the most.
func whatIsFree(v scheduler.View, j scheduler.JobView) (cores int32, nodes []int32, ok bool) {
	cores = j.Request()
	if nodes, ok = j.Fits(cores); ok {
		return cores, nodes, true
	}
	best, most := nobody, j.Least()-1
	for node, free := range v.Machine().Free() {
		if free.Cores <= most {
			continue
		}
		if need, may := j.NeedOn(int32(node), 1); may && free.Holds(need) {
			best, most = int32(node), free.Cores
		}
	}
	if best == nobody {
		return 0, nil, false
	}
	return most, []int32{best}, true
}
