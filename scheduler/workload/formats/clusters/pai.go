package clusters

import "github.com/tfexp/tfexp/scheduler/workload/formats"

// The log of Alibaba's GPU clusters (Q. Weng and others, "MLaaS in the Wild: Workload Analysis
// and Scheduling in Large-Scale Heterogeneous GPU Clusters", NSDI 2022).
func init() {
	columns := map[string][]string{
		formats.FactJob: {"job_name", "job_id"}, formats.FactUser: {"user"}, formats.FactClass: {"task_name", "group"},
		formats.FactGPUs: {"plan_gpu", "num_gpu"}, formats.FactThreads: {"plan_cpu", "num_cpu"},
		formats.FactArrival: {"submit_time", "start_time"}, formats.FactRunTime: {"duration"}, formats.FactStart: {"start_time"},
		formats.FactEnd: {"end_time"},
	}
	formats.Register(&formats.Format{
		Name: "pai", Rank: 14, Holds: formats.TableHolds,
		Doc: "The task table of Alibaba's PAI (`pai_task_table.csv`, without a line of column names). " +
			"Each row is a job with `inst_num` equal instances, whose `plan_gpu` and `plan_cpu` are " +
			"hundredths of a device; their sums are rounded up. A job's class is the name of its task. The " +
			"table has no submission times, so jobs arrive when they started.",
		Args: formats.TableSchema(),
		Reader: (&formats.Layout{
			Unused:  unused("pai", ""),
			Columns: columns, GPUScale: 0.01, CPUScale: 0.01, Times: "inst_num", Repeats: true,
			Names: []string{
				"job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu", "plan_mem", "plan_gpu",
				"gpu_type",
			},
			Assumptions: []string{"the log has no times of submission: jobs arrive when they started"},
		}).Read,
	})
}
