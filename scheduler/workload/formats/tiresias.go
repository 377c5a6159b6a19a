package formats

// The traces of the simulators of Tiresias (J. Gu and others, NSDI 2019) and Muri (Y. Zhao and
// others, SIGCOMM 2022).
var _ = Register(&Format{
	Name: "tiresias", Rank: 15, Holds: tableHolds,
	Doc: "A trace of the simulators of Tiresias and Muri, with the columns `job_id`, `num_gpu`, `submit_time`, " +
		"`duration` and `model_name`, which is the class.",
	Args: describedTable(),
	Reader: (&layout{columns: map[string][]string{
		factJob: {"job_id"}, factGPUs: {"num_gpu"}, factArrival: {"submit_time"}, factRunTime: {"duration"},
		factClass: {"model_name"}, factUser: {"user"},
	}}).read,
})
