package clusters

import "github.com/tfexp/tfexp/scheduler/workload/formats"

// The logs of the Helios clusters (Q. Hu and others, "Characterization and Prediction of
// Deep Learning Workloads in Large-Scale GPU Datacenters", SC 2021).
var _ = formats.Register(&formats.Format{
	Name: "helios", Rank: 13, Holds: formats.TableHolds,
	Doc: "A log of the Helios clusters (`cluster_log.csv`). A job's run time is its `duration`, and its " +
		"class is its virtual cluster. Jobs with an empty `duration` never ran.",
	Args: formats.TableSchema(),
	Reader: (&formats.Layout{Unused: unused("helios", ""), Columns: map[string][]string{
		formats.FactJob: {"job_id"}, formats.FactUser: {"user"}, formats.FactClass: {"vc"}, formats.FactGPUs: {"gpu_num"}, formats.FactThreads: {"cpu_num"},
		formats.FactNodes: {"node_num"}, formats.FactArrival: {"submit_time"}, formats.FactRunTime: {"duration"},
		formats.FactStart: {"start_time"}, formats.FactEnd: {"end_time"},
	}}).Read,
})
