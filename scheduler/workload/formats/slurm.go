package formats

import (
	"strings"
	"time"
)

// The output of Slurm's sacct and squeue.
var _ = Register(&Format{
	Name: "sacct", Rank: 17, Holds: tableHolds,
	Doc: "What `sacct --parsable2` (or `--parsable`) prints of one's own cluster, with a line of column names; for " +
		"example `sacct -a -X -P -o " +
		"JobID,User,Partition,Submit,Start,End,TimelimitRaw,ReqCPUS,ReqMem,AllocTRES,NNodes,State`. The class of a " +
		"job is its partition. Steps of jobs are left out and counted; jobs that never started, or have not ended, too. " +
		"Without `-X`, and with `MaxRSS,NTasks`, steps say how much memory jobs used: the report compares it with `ReqMem`.",
	Args: describedTable(),
	Reader: (&layout{
		separator: '|', loose: true, slurm: true, requestedUnit: time.Minute,
		columns: map[string][]string{
			factJob: {"JobID", "JobIDRaw"}, factUser: {"User"}, factClass: {"Partition"}, factArrival: {"Submit"},
			factRunTime: {"ElapsedRaw", "Elapsed"}, factStart: {"Start"}, factEnd: {"End"},
			factRequested: {"TimelimitRaw", "Timelimit"}, factThreads: {"AllocCPUS", "ReqCPUS", "NCPUS"},
			factGPUs: {"AllocTRES", "ReqTRES"}, factNodes: {"NNodes", "AllocNodes", "ReqNodes"}, factMemory: {"ReqMem"},
			factUsed: {"MaxRSS"},
		},
		tasks:  "NTasks",
		ignore: func(job string) bool { return strings.Contains(job, ".") },
		began:  true,
	}).read,
})

var _ = Register(&Format{
	Name: "squeue", Rank: 18, Holds: tableHolds,
	Doc: "What waits and runs on one's own cluster now: `squeue -r -o \"%i|%u|%P|%V|%l|%C|%b|%m|%D\"`. The class of a " +
		"job is its partition. How long it will run is not known: it is taken to use up its time limit.",
	Args: describedTable(),
	Reader: (&layout{
		separator: '|', loose: true, slurm: true, requestedUnit: time.Minute,
		columns: map[string][]string{
			factJob: {"JOBID"}, factUser: {"USER"}, factClass: {"PARTITION"}, factArrival: {"SUBMIT_TIME"},
			factRunTime: {"TIME_LIMIT"}, factRequested: {"TIME_LIMIT"}, factThreads: {"CPUS", "MIN_CPUS"},
			factGPUs: {"TRES_PER_NODE", "GRES"}, factNodes: {"NODES"}, factMemory: {"MIN_MEMORY"},
		},
		assumed: []string{"how long the jobs will run is not known: they are taken to use up their time limits"},
	}).read,
})
