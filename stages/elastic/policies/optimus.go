package policies

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/elastic/division"
)

var _ = register(policy.Choice{
	Name: "optimus", Title: "Optimus",
	Doc:   "each further GPU goes to the job whose remaining time it shortens most" + onCoresDoc,
	Place: 41, Version: 2,
}, Needs{Trains: true}, func(policy.Setup) decider { return optimus{} }, true)

// optimus is the order of that name. It has no state between rounds.
type optimus struct{}

func (optimus) ended(int32) {}

// decide implements decider. Jobs with an unchanged number of GPUs keep their placement. The others get the nodes with
// the most free GPUs; jobs with few GPUs are placed first.
func (optimus) decide(p *planner, v scheduler.View, jobs []int32) (division.Division, error) {
	free := division.Total(p.capacity)
	counts, gains := make([]int, len(jobs)), make([]float64, len(jobs))
	runs := make([]scheduler.Training, len(jobs))
	gain := func(i int) float64 {
		if counts[i]+1 > runs[i].Limit() || free < 1 {
			return 0
		}
		saved := runs[i].StepTime(counts[i], p.perNode) - runs[i].StepTime(counts[i]+1, p.perNode)
		return saved * runs[i].Steps()
	}
	for i, j := range jobs {
		var err error
		if runs[i], err = p.training(v, j); err != nil {
			return nil, err
		}
		if free > 0 {
			counts[i] = 1
			free--
			gains[i] = gain(i)
		}
	}
	for free > 0 && len(jobs) > 0 {
		best := 0
		for i := range gains {
			if gains[i] > gains[best] {
				best = i
			}
		}
		if gains[best] <= 0 {
			break
		}
		counts[best]++
		gains[best] = gain(best)
		free--
	}
	if p.cores {
		return p.packed(jobs, counts), nil
	}
	target := make(division.Division, len(jobs))
	order := make([]int, len(jobs))
	for i, j := range jobs {
		if order[i] = i; division.Total(p.at[j]) == counts[i] {
			target[i] = p.at[j]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return counts[a] - counts[b] })
	left := division.Free(p.capacity, target)
	for _, i := range order {
		if target[i] == nil {
			target[i] = division.PlaceMostFree(left, counts[i])
		}
	}
	return target, nil
}
