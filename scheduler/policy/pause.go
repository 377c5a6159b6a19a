package policy

import "github.com/tfexp/tfexp/experiments/schema"

// PausePreemption lets a job that cannot start pause running jobs that are strictly
// worse by the policy's first criterion: as many as needed, and none if all of them
// would not make room. Where jobs take turns only the end of a quantum does this.
const PausePreemption Preemption = "pause"

var _ = RegisterPreemption(PreemptionChoice{
	Choice: Choice{
		Name: PausePreemption, Title: "Preemption", Doc: "they are paused, and go on later", Place: 2,
		Settings: []schema.Arg{replanning},
	},
	Pauses: true,
})
