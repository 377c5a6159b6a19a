package formats

// The log of Alibaba's GPU clusters (Q. Weng and others, "MLaaS in the Wild: Workload Analysis
// and Scheduling in Large-Scale Heterogeneous GPU Clusters", NSDI 2022).
func init() {
	columns := map[string][]string{
		factJob: {"job_name", "job_id"}, factUser: {"user"}, factClass: {"task_name", "group"},
		factGPUs: {"plan_gpu", "num_gpu"}, factThreads: {"plan_cpu", "num_cpu"},
		factArrival: {"submit_time", "start_time"}, factRunTime: {"duration"}, factStart: {"start_time"},
		factEnd: {"end_time"},
	}
	Register(&Format{
		Name: "pai", Rank: 14, Holds: tableHolds,
		Doc: "The task table of Alibaba's PAI (`pai_task_table.csv`, without a line of column names): a row is a job, " +
			"of `inst_num` like instances, whose `plan_gpu` and `plan_cpu` are hundredths of a device; their sums are " +
			"rounded up. Its class is the name of the task. The table has no times of submission: jobs arrive when they " +
			"started.",
		Args: describedTable(),
		Reader: (&layout{
			columns: columns, gpuScale: 0.01, cpuScale: 0.01, times: "inst_num", repeats: true,
			names: []string{
				"job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu", "plan_mem", "plan_gpu",
				"gpu_type",
			},
			assumed: []string{"the log has no times of submission: jobs arrive when they started"},
		}).read,
	})
}
