package formats

// The workloads of the simulator of Pollux (A. Qiao and others, OSDI 2021).
var _ = Register(&Format{
	Name: "pollux", Rank: 16, Holds: tableHolds,
	Doc: "A workload of the simulator of Pollux, with the columns `name`, `time`, `application`, which is the class, " +
		"`num_replicas`, the GPUs that its user asked for, and `batch_size`. How long a job takes is said by its job block.",
	Args: describedTable(),
	Reader: (&layout{columns: map[string][]string{
		factJob: {"name"}, factArrival: {"time"}, factClass: {"application"}, factGPUs: {"num_replicas"},
		factBatch: {"batch_size"},
	}}).read,
})
