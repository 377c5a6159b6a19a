package policy

// NoPreemption never pauses a job because another job is before it in the order.
const NoPreemption Preemption = "none"

var _ = RegisterPreemption(PreemptionChoice{
	Choice: Choice{Name: NoPreemption, Title: "No preemption", Doc: "never", Place: 1},
})
