package formats

// The log of Alibaba's GPU cluster of 2023 (Q. Weng and others, "Beware of Fragmentation: Scheduling GPU-Sharing
// Workloads with Fragmentation Gradient Descent", USENIX ATC 2023).
var _ = Register(&Format{
	Name: "openb", Rank: 19, Holds: tableHolds,
	Doc: "The list of pods of Alibaba's GPU cluster of 2023 (`openb_pod_list_default.csv`): `cpu_milli` are thousandths of " +
		"a core, rounded up; a job arrives at `creation_time` and ran from `scheduled_time` to `deletion_time`; its class is " +
		"its quality of service. A job that asks for a part of a GPU (`gpu_milli`) has the whole one: their number is said.",
	Args: describedTable(),
	Reader: (&layout{
		columns: map[string][]string{
			factJob: {"name"}, factClass: {"qos"}, factThreads: {"cpu_milli"}, factMemory: {"memory_mib"}, factGPUs: {"num_gpu"},
			factArrival: {"creation_time"}, factStart: {"scheduled_time"}, factEnd: {"deletion_time"},
		},
		cpuScale: 0.001, part: "gpu_milli",
	}).read,
})
