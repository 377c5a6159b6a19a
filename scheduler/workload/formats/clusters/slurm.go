package clusters

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/fields"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/scheduler/workload/slurm"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// unused returns a Layout.Unused function for a reader of a table of fields.
func unused(table, reader string) func([]string) (string, error) {
	return func(columns []string) (string, error) { return fields.Of(table).Unused(reader, columns) }
}

// The output of Slurm's commands sacct and squeue.
var _ = formats.Register(&formats.Format{
	Name: "sacct", Rank: 17, Holds: formats.TableHolds,
	Doc: "The output of `sacct --parsable2` (or `--parsable`) on your cluster, with a line of column " +
		"names, or of `sacct --json`: `sacct -a -X -P -o " +
		"JobID,User,Partition,Submit,Start,End,TimelimitRaw,ReqCPUS,ReqMem,AllocTRES,NNodes,State`, for " +
		"example. A job's class is its partition. Steps of jobs, and jobs that have not started or not ended, " +
		"are left out and counted. Without `-X`, and with `MaxRSS,NTasks`, steps show how much memory jobs " +
		"used, and the report compares it with `ReqMem`. In JSON, steps are not read.",
	Begins: func(line string) bool {
		names := strings.Split(line, "|")
		if slurm.FixedWidth(line) { // let the reader return its error, with the remedy
			names = strings.Fields(line)
		}
		return slices.Contains(names, "Submit") && (slices.Contains(names, "JobID") || slices.Contains(names, "JobIDRaw"))
	},
	Args:   formats.TableSchema(),
	Reader: readSacct,
})

// sacctLayout has the columns of sacct.
var sacctLayout = &formats.Layout{
	Unused:    unused("sacct", "sacct"),
	Separator: '|', Rows: slurm.EachJob, Memory: slurm.ParseReqMem, GPUs: slurm.GPUs, Slurm: true, RequestedUnit: time.Minute,
	Tracked: slurm.Tracked, Count: slurm.ParseCount,
	Columns: map[string][]string{
		formats.FactJob: {"JobID", "JobIDRaw"}, formats.FactUser: {"User"}, formats.FactClass: {"Partition"},
		formats.FactArrival: {"Submit"},
		formats.FactRunTime: {"ElapsedRaw", "Elapsed"}, formats.FactStart: {"Start"}, formats.FactEnd: {"End"},
		formats.FactRequested: {"TimelimitRaw", "Timelimit"},
		formats.FactThreads:   {"AllocCPUS", "ReqCPUS", "NCPUS", "AllocTRES", "ReqTRES"},
		formats.FactGPUs:      {"AllocTRES", "ReqTRES", "ReqGRES"}, formats.FactNodes: {"NNodes", "AllocNodes", "ReqNodes"},
		formats.FactMemory: {"ReqMem", "AllocTRES", "ReqTRES"},
		formats.FactUsed:   {"MaxRSS"},
	},
	Tasks:  "NTasks",
	Ignore: func(job string) bool { return strings.Contains(job, ".") },
	Began:  true,
}

// readSacct reads the output of sacct, and says so if its instants are in UTC.
func readSacct(file string, r io.Reader, o formats.Options) (workload.Trace, error) {
	in := bufio.NewReader(textfile.Unmarked(r))
	begin, _ := in.Peek(in.Size())
	trace, err := sacctLayout.Read(file, in, o)
	if slurm.IsJSON(begin) {
		trace.Assumed = append(trace.Assumed, slurm.InUTC)
	}
	return trace, err
}

var _ = formats.Register(&formats.Format{
	Name: "squeue", Rank: 18, Holds: formats.TableHolds,
	Doc: "The jobs that wait and run on your cluster now: the output of `squeue -r -o " +
		"\"%i|%u|%P|%V|%l|%C|%b|%m|%D\"`. A job's class is its partition. Run times are unknown, so each job " +
		"runs until its time limit.",
	Args: formats.TableSchema(),
	Reader: (&formats.Layout{
		Unused:    unused("squeue", "squeue"),
		Separator: '|', Rows: slurm.EachRow, Memory: slurm.ParseReqMem, GPUs: slurm.GPUs, Slurm: true, RequestedUnit: time.Minute,
		Tracked: slurm.Tracked, Count: slurm.ParseCount,
		Columns: map[string][]string{
			formats.FactJob: {"JOBID"}, formats.FactUser: {"USER"}, formats.FactClass: {"PARTITION"},
			formats.FactArrival: {"SUBMIT_TIME"},
			formats.FactRunTime: {"TIME_LIMIT"}, formats.FactRequested: {"TIME_LIMIT"},
			formats.FactThreads: {"CPUS", "MIN_CPUS"},
			formats.FactGPUs:    {"TRES_PER_NODE", "GRES"}, formats.FactNodes: {"NODES"}, formats.FactMemory: {"MIN_MEMORY"},
		},
		Assumptions: []string{"how long the jobs will run is not known: they are taken to use up their time limits"},
	}).Read,
})
