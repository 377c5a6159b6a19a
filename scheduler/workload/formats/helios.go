package formats

// The logs of the Helios clusters (Q. Hu and others, "Characterization and Prediction of
// Deep Learning Workloads in Large-Scale GPU Datacenters", SC 2021).
var _ = Register(&Format{
	Name: "helios", Rank: 13, Holds: tableHolds,
	Doc: "A log of the Helios clusters (`cluster_log.csv`): a job's run time is its `duration`, its class its virtual " +
		"cluster. Jobs with an empty `duration` never ran.",
	Args: describedTable(),
	Reader: (&layout{columns: map[string][]string{
		factJob: {"job_id"}, factUser: {"user"}, factClass: {"vc"}, factGPUs: {"gpu_num"}, factThreads: {"cpu_num"},
		factNodes: {"node_num"}, factArrival: {"submit_time"}, factRunTime: {"duration"},
		factStart: {"start_time"}, factEnd: {"end_time"},
	}}).read,
})
