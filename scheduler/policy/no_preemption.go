package policy

// NoPreemption lets no job pause another one for being better in the order.
const NoPreemption Preemption = "none"

var _ = RegisterPreemption(PreemptionChoice{
	Choice: Choice{Name: NoPreemption, Title: "No preemption", Doc: "never", Place: 1},
})
