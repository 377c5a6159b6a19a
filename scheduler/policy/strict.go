package policy

// Strict gives a job its full request or nothing.
const Strict Allocation = "strict"

var _ = RegisterAllocation(AllocationChoice{
	Choice: Choice{Name: Strict, Title: "Full requests", Doc: "its full request, or it waits", Place: 1},
})
