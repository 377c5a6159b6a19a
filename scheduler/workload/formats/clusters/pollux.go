package clusters

import "github.com/tfexp/tfexp/scheduler/workload/formats"

// The workloads of the simulator of Pollux (A. Qiao and others, OSDI 2021).
var _ = formats.Register(&formats.Format{
	Name: "pollux", Rank: 16, Holds: formats.TableHolds,
	Doc: "A workload of the simulator of Pollux, with the columns `name`, `time`, `application`, which is the class, " +
		"`num_replicas`, the GPUs that its user asked for, and `batch_size`. How long a job takes is said by its job block.",
	Args: formats.TableSchema(),
	Reader: (&formats.Layout{Unused: unused("pollux", ""), Columns: map[string][]string{
		formats.FactJob: {"name"}, formats.FactArrival: {"time"}, formats.FactClass: {"application"}, formats.FactGPUs: {"num_replicas"},
		formats.FactBatch: {"batch_size"},
	}}).Read,
})
