package policy

import "github.com/tfexp/tfexp/experiments/schema"

// PausePreemption lets a job that cannot start pause running jobs that rank strictly worse; ties of rank do not
// count. It pauses as many as needed, and none if all would not be enough. If jobs are queued again after a quantum,
// only the end of a quantum has this effect.
const PausePreemption Preemption = "pause"

var _ = RegisterPreemption(PreemptionChoice{
	Choice: Choice{
		Name: PausePreemption, Title: "Preemption", Doc: "running jobs are paused, and continue later", Place: 2,
		Settings: []schema.Arg{replanning},
	},
	Pauses: true,
})
