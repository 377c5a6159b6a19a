package clusters

import "github.com/tfexp/tfexp/scheduler/workload/formats"

// The traces of the simulators of Tiresias (J. Gu and others, NSDI 2019) and Muri (Y. Zhao and
// others, SIGCOMM 2022).
var _ = formats.Register(&formats.Format{
	Name: "tiresias", Rank: 15, Holds: formats.TableHolds,
	Doc: "A trace of the simulators of Tiresias and Muri, with the columns `job_id`, `num_gpu`, " +
		"`submit_time`, `duration` and `model_name` (the class).",
	Args: formats.TableSchema(),
	Reader: (&formats.Layout{Unused: unused("tiresias", ""), Columns: map[string][]string{
		formats.FactJob: {"job_id"}, formats.FactGPUs: {"num_gpu"}, formats.FactArrival: {"submit_time"},
		formats.FactRunTime: {"duration"}, formats.FactClass: {"model_name"}, formats.FactUser: {"user"},
	}}).Read,
})
