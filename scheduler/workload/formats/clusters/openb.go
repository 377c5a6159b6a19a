package clusters

import (
	"slices"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// The log of Alibaba's GPU cluster of 2023 (Q. Weng and others, "Beware of Fragmentation: Scheduling GPU-Sharing
// Workloads with Fragmentation Gradient Descent", USENIX ATC 2023).
var _ = formats.Register(&formats.Format{
	Name: "openb", Rank: 19, Holds: formats.TableHolds,
	Doc: "The list of pods of Alibaba's GPU cluster of 2023 (`openb_pod_list_default.csv`). Cores are " +
		"`cpu_milli` / 1000, rounded up. A job arrives at `creation_time` and ran from `scheduled_time` to " +
		"`deletion_time`; its class is its quality of service. A job that requests a part of a GPU " +
		"(`gpu_milli`) gets a whole one; tfexp reports how many do.",
	Begins: func(line string) bool {
		names := strings.Split(line, ",")
		return slices.Contains(names, "gpu_milli") && slices.Contains(names, "creation_time")
	},
	Args: formats.TableSchema(),
	Reader: (&formats.Layout{
		Unused: unused("openb", ""),
		Columns: map[string][]string{
			formats.FactJob: {"name"}, formats.FactClass: {"qos"}, formats.FactThreads: {"cpu_milli"},
			formats.FactMemory: {"memory_mib"}, formats.FactGPUs: {"num_gpu"},
			formats.FactArrival: {"creation_time"}, formats.FactStart: {"scheduled_time"}, formats.FactEnd: {"deletion_time"},
		},
		CPUScale: 0.001, Part: "gpu_milli",
	}).Read,
})
