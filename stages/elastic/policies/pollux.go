package policies

import (
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/elastic/division"
)

var restartDelay = schema.Arg{
	Name: "restart_delay", Type: schema.Duration, Default: `"30s"`, Example: `"60s"`,
	Doc: "The time that a change of GPUs costs a job, as the policy assumes. Another change is worth less the more " +
		"changes the job has had, and the younger it is.",
}

var _ = register(policy.Choice{
	Name: "pollux", Title: "Pollux",
	Doc:   "GPUs and batch sizes are chosen together, by goodput" + onCoresDoc,
	Place: 42, Version: 2, Settings: []schema.Arg{restartDelay},
}, Needs{Trains: true, Batches: true}, newPollux, false)

// pollux is the state of the order pollux.
type pollux struct {
	delay    time.Duration
	restarts []int // number of restarts by job; −1 before its first start
}

func newPollux(s policy.Setup) decider {
	p := &pollux{delay: s.Policy.Settings.Duration(restartDelay.Name), restarts: make([]int, len(s.Run.Jobs))}
	for j := range p.restarts {
		p.restarts[j] = -1
	}
	return p
}

func (*pollux) ended(int32) {}

// decide implements decider.
func (l *pollux) decide(p *planner, v scheduler.View, jobs []int32) (division.Division, error) {
	all := division.Total(p.capacity)
	if len(jobs) == 0 || all == 0 {
		return make(division.Division, len(jobs)), nil
	}
	fair := (all + len(jobs) - 1) / len(jobs)
	problem := division.Problem{Capacity: p.capacity, Seed: uint64(p.begun(v.Now()))}
	for _, j := range jobs {
		run, err := p.training(v, j)
		if err != nil {
			return nil, err
		}
		age := (p.begun(v.Now()) - v.Job(j).Job().Arrival).Seconds()
		lost := l.delay.Seconds() * float64(max(l.restarts[j], 0))
		e := division.Elastic{
			Base: p.at[j], Most: max(min(max(2*run.MostGPUs(), 1), all, run.Limit()), 1), Kept: 1,
			SpeedUp: func(_, gpus int) float64 { return float64(gpus) / float64(fair) },
		}
		if age+l.delay.Seconds() > 0 {
			e.Kept = max(age-lost, 0) / (age + l.delay.Seconds())
		}
		if base := run.Goodput("", 1, fair); base > 0 {
			e.SpeedUp = func(nodes, gpus int) float64 { return run.Goodput("", nodes, gpus) / base }
		}
		problem.Jobs = append(problem.Jobs, e)
	}
	target := problem.Search()
	for i, j := range jobs {
		if division.Total(target[i]) > 0 && !same(target[i], p.at[j]) {
			l.restarts[j]++
		}
	}
	return target, nil
}
