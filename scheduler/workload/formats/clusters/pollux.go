package clusters

import "github.com/tfexp/tfexp/scheduler/workload/formats"

// The workloads of the simulator of Pollux (A. Qiao and others, OSDI 2021).
var _ = formats.Register(&formats.Format{
	Name: "pollux", Rank: 16, Holds: formats.TableHolds,
	Doc: "A workload of Pollux's simulator, with the columns `name`, `time`, `application` (the class), " +
		"`num_replicas` (the GPUs that the user requested) and `batch_size`. The run time of a job comes from " +
		"its job block.",
	Args: formats.TableSchema(),
	Reader: (&formats.Layout{Unused: unused("pollux", ""), Columns: map[string][]string{
		formats.FactJob: {"name"}, formats.FactArrival: {"time"}, formats.FactClass: {"application"}, formats.FactGPUs: {"num_replicas"},
		formats.FactBatch: {"batch_size"},
	}}).Read,
})
