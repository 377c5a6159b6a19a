package start

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// Kind is the kind of a file, by its content.
type Kind int

// The kinds of files.
const (
	Unknown Kind = iota
	// Program is a training program; Log the log of a cluster.
	Program
	Log
)

// programEndings are the endings of names of programs.
var programEndings = []string{".py", ".sh", ".bash", ".r", ".jl", ".pl", ".lua", ".js", ".ts", ".rb", ".go", ".cc",
	".cpp", ".c", ".rs", ".java"}

// syntaxes match what programs contain, by line.
var (
	python = regexp.MustCompile(`(?m)^(?:import [\w.]+(?: as \w+)?|from [\w.]+ import .+|def \w+\(.*\)(?: ->.*)?:` +
		`|class \w+.*:|if __name__ == ["']__main__["']:|(?:for|while|with) .+:)\s*(?:#.*)?$`)
	shell = regexp.MustCompile(`(?m)^\s*(?:set -[a-z]+|export \w+=|(?:exec |srun |nohup |time )?` +
		`(?:python3?|torchrun|accelerate|deepspeed|mpirun|horovodrun) .+|` +
		`fi|done|esac|source .+|module load .+|#SBATCH .+|#PBS .+)\s*$`)
)

// sacctJSON matches the beginning of the JSON of sacct, which has jobs with a time of submission, and information about
// Slurm.
var sacctJSON = regexp.MustCompile(`(?s)^\s*\{.*"jobs"\s*:.*"submission"\s*:|^\s*\{.*"plugin"\s*:.*"jobs"\s*:|^\s*\{.*"jobs"\s*:` +
	`.*"plugin"\s*:`)

// elf is how compiled programs of Linux begin.
const elf = "\x7fELF"

func isPython(source []byte) bool { return python.Match(source) }

// otherLog is a kind of file that tfexp recognizes and cannot read.
type otherLog struct {
	begins *regexp.Regexp
	name   string
	remedy string
	again  bool // remedy says how to print the file in another form, and not how to make a CSV file
}

// condorTable says how to make a CSV file from jobs of HTCondor.
const condorTable = "write it by  condor_history -af:,h QDate JobStartDate CompletionDate RequestCpus RequestGpus " +
	"Owner  and name these columns submit, start, end, cpus, gpus and user"

// otherLogs lists the files that are recognized, with the columns that a table of their jobs needs.
var otherLogs = []otherLog{
	{regexp.MustCompile(`(?m)^\d\d/\d\d/\d{4} \d\d:\d\d:\d\d;[A-Za-z];[^;\n]*;`), "the accounting log of PBS or Torque",
		"write each E record as a row: submit from qtime=, start from start=, end from end=, cpus from " +
			"Resource_List.ncpus (or nodes and ppn), gpus from Resource_List.ngpus, limit from Resource_List.walltime, " +
			"user from user=, queue from queue=", false},
	{regexp.MustCompile(`(?m)^(?:[^:\n{}"]*:){40,}[^:\n{}"]*$`), "the accounting file of Grid Engine (SGE)",
		"write each line as a row, by the numbers of its fields: job 6, submit 9, start 10, end 11, cpus 35 " +
			"(slots), user 4, queue 1", false},
	{regexp.MustCompile(`(?m)^=+\s*\nqname\s`), "what qacct of Grid Engine prints",
		"write each block as a row: submit from qsub_time, start from start_time, end from end_time, cpus from " +
			"slots, user from owner, queue from qname", false},
	{regexp.MustCompile(`(?m)^"JOB_(?:FINISH|NEW|START|STATUS)" "`), "the event log of LSF (lsb.acct or lsb.events)",
		"write each JOB_FINISH record as a row: submit, start and end are its fields 8, 11 and 3 (seconds since " +
			"1970), cpus its numProcessors, user its userName, queue its queue", false},
	{regexp.MustCompile(`(?m)^Accounting information about jobs that are:`), "what bacct of LSF prints",
		"write each job as a row: submit, start and end of its events Submitted, Dispatched and Completed, cpus " +
			"from its hosts, user, queue", false},
	{regexp.MustCompile(`(?m)^(?:(?:ClusterId|ProcId|QDate|JobStartDate|CompletionDate|RequestCpus) = |\s*"(?:Clu` +
		`sterId|ProcId|QDate)"\s*:)`),
		"the history of HTCondor", condorTable, false},
	{regexp.MustCompile(`(?m)^\s*ID\s+OWNER\s+SUBMITTED\s+RUN_TIME\s+ST\s+COMPLETED`), "what condor_history of " +
		"HTCondor prints", condorTable, false},
	{regexp.MustCompile(`(?m)^\s*ID\s+OWNER\s+SUBMITTED\s+RUN_TIME\s+ST\s+PRI|^OWNER\s+BATCH_NAME\s`),
		"what condor_q of HTCondor prints, the current jobs", "take the history instead: " + condorTable, false},
	{regexp.MustCompile(`(?m)^\d\d/\d\d/\d{4} \d\d:\d\d:\d\d\s+[A-Z]\s+(?:Job|enqueuing|user=)`),
		"what tracejob of PBS or Torque prints, one job",
		"take the accounting log of all jobs instead, in server_priv/accounting, and write each E record as a row", false},
	{regexp.MustCompile(`"COMMAND"\s*:\s*"(?:bjobs|bhist)"`), "JSON of bjobs of LSF",
		"write each of its RECORDS as a row: submit, start and end from SUBMIT_TIME, START_TIME and FINISH_TIME", false},
	{regexp.MustCompile(`(?m)^Job id\s+S\s+User\s+Duration\s`), "what oarstat of OAR prints, the current jobs",
		"write each job of  oarstat --gantt FROM,TO -J  as a row: submit, start and end from submissionTime, " +
			"startTime and stopTime", false},
	{regexp.MustCompile(`(?m)^\s*JOBID\s+USER\s+NAME\s+ST\s+NTASKS\s`), "what flux jobs prints",
		"print it again with  flux jobs -a -o '{id},{t_submit},{t_run},{t_cleanup},{ncores},{ngpus},{username}'  " +
			"under the names job, submit, start, end, cpus, gpus, user", true},
	{regexp.MustCompile(`(?m)^(?:NAMESPACE\s+)?NAME\s+(?:READY|STATUS|COMPLETIONS)\s.*\bAGE\b`),
		"what kubectl get prints",
		"it has no times of start and end: print it again with  -o json, and write a row for each pod: submit from " +
			"metadata.creationTimestamp, start from status.startTime", true},
	{regexp.MustCompile(`(?m)^(?:Job id\s+Name\s+User\s|Job Id: \S+\s*\n\s+Job_Name = )`), "what qstat of PBS or " +
		"Torque prints, the current jobs",
		"take the accounting log instead, in server_priv/accounting, and write each E record as a row", false},
	{regexp.MustCompile(`(?m)^job-ID\s+prior\s+name\s`), "what qstat of Grid Engine prints, the current jobs",
		"take what  qacct -j  prints instead, and write each block as a row", false},
	{regexp.MustCompile(`(?m)^(?:JOBID\s+USER\s+STAT\s+QUEUE\s|Job <\d+>.*\bUser <)`), "what bjobs or bhist of LSF " +
		"prints",
		"take the event log lsb.acct instead, and write each JOB_FINISH record as a row: submit, start and end are " +
			"its fields 8, 11 and 3", false},
	{regexp.MustCompile(`(?m)^0\d\d \(\d+\.\d+\.\d+\) \d`), "the event log of a job of HTCondor",
		"take the history of all jobs:  condor_history -af:,h QDate JobStartDate CompletionDate RequestCpus Owner", false},
	{regexp.MustCompile(`(?s)^\s*\{.*"kind"\s*:\s*"(?:List|PodList|JobList|Pod|Job)"`), "JSON of Kubernetes",
		"write a row for each pod or job:  kubectl get pods -A -o json | jq -r '.items[] | " +
			"[.metadata.creationTimestamp, .status.startTime, …] | " +
			"@csv'  under the names creationTimestamp, start, end, cpus, gpus", false},
	{regexp.MustCompile(`(?m)^\s*JobID\s+.*\n[ -]*-{3,}\s+-{3,}`), "what sacct prints without --parsable2",
		"print it again with  sacct --parsable2", true},
	{regexp.MustCompile(`(?m)^\s*JOBID\s+PARTITION\s+NAME\s`), "a table of squeue in columns of a fixed width, the " +
		"current jobs",
		`print it again with  squeue -r -o "%i|%u|%P|%V|%l|%C|%b|%m|%D"`, true},
	{regexp.MustCompile(`\A\d+(?:_[\d\[\]%,-]+)?(?:\.\w+)?\|[^\n]*\|\d{4}-\d\d-\d\dT[^\n]*\n`), "what sacct prints " +
		"without the names of columns",
		"print it again without --noheader (-n)", true},
	{regexp.MustCompile(`\A\s*\{[^\n]*\}\s*\n\s*\{`), "lines of JSON",
		"jq -rs '(.[0] | keys_unsorted), (.[] | [.[]]) | @csv' FILE > jobs.csv", false},
	{regexp.MustCompile(`(?s)\A.{257}ustar`), "a tar archive", "unpack it, and give one of its files to --from", true},
	{regexp.MustCompile(`(?s)^(?:.*\n)?apiVersion:\s.*\bkind:\s*(?:List|PodList|JobList|Pod|Job)\b`), "YAML of " +
		"Kubernetes",
		"write a row for each pod or job:  kubectl get pods -A -o json | jq -r '.items[] | " +
			"[.metadata.creationTimestamp, .status.startTime, …] | " +
			"@csv'  under the names creationTimestamp, start, end, cpus, gpus", false},
	{regexp.MustCompile(`(?m)^jobs:\s*\n(?:- |  - )(?s:.*)^(?:meta|plugin):`), "YAML of Slurm",
		"print it again with  sacct -a -X --parsable2  in place of --yaml", true},
	{regexp.MustCompile(`(?s)^\s*\{.*"jobs"\s*:.*"job_state"\s*:`), "JSON of squeue or scontrol, the current jobs",
		"a replay needs jobs that have ended: print them with  sacct -a -X -D --json", true},
	{regexp.MustCompile(`^\s*JobId=\d+ `), "what scontrol show job prints, the current jobs",
		"a replay needs jobs that have ended: print them with  sacct -a -X --parsable2", true},
	{regexp.MustCompile(`(?mi)^\s*(?:NodeName|PartitionName|ClusterName|SlurmctldHost|ControlMachine)\s*=\s*\S|\A` +
		`(?:Cluster\|)?Account\||\AName\|Priority\|`),
		"a configuration of Slurm, or a table of sacctmgr",
		"give it as  tfexp init NAME --from-slurm FILE  with the log of sacct behind it", true},
	{regexp.MustCompile(`(?s)^\s*\{.*"cell_type"\s*:`), "a notebook of Jupyter", "make a program of it:  jupyter " +
		"nbconvert --to script FILE", true},
}

// binaryKind names the kind of a binary file that holds tables; empty for other files. head is the beginning of the
// file.
func binaryKind(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")) && (bytes.Contains(head, []byte("xl/")) ||
		bytes.Contains(head, []byte("opendocument"))),
		bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0")):
		return "a workbook of a spreadsheet"
	case bytes.HasPrefix(head, []byte("SQLite format 3\x00")):
		return "a database of SQLite"
	case bytes.HasPrefix(head, []byte("PAR1")):
		return "a file of Parquet"
	}
	return ""
}

// kindOf returns the kind of a file: by the beginning of its content, then by its name, then by whether it can be
// executed.
func kindOf(name string, head []byte, executable bool) Kind {
	ending := strings.ToLower(filepath.Ext(trimPacked(name)))
	line, _, _ := bytes.Cut(head, []byte("\n"))
	first := string(bytes.TrimRight(line, "\r"))
	var l JobLog
	l.guess(heading(strings.Split(string(head), "\n")))
	switch {
	case strings.HasPrefix(first, "#!"), bytes.HasPrefix(head, []byte(elf)):
		return Program
	case formats.Beginning(first) != nil, sacctJSON.Match(head):
		return Log
	case ending != "" && slices.Contains(programEndings, ending):
		return Program
	case isPython(head) && len(l.Columns) < 2:
		return Program
	case slices.Contains(endings, ending), formats.Of(name) != nil:
		return Log
	case isMakefile(name, head):
		return Unknown
	case shell.Match(head):
		return Program
	case len(l.Columns) > 1 && l.Columns[0].Name == "arrival":
		return Log
	case executable:
		return Program
	}
	return Unknown
}

// otherKind describes a file that tfexp recognizes and cannot read, with advice; empty for other files.
func otherKind(head []byte) string {
	i := slices.IndexFunc(otherLogs, func(o otherLog) bool { return o.begins.Match(head) })
	if i < 0 {
		return ""
	}
	if otherLogs[i].again {
		return fmt.Sprintf("it is %s, which is not read: %s", otherLogs[i].name, otherLogs[i].remedy)
	}
	return fmt.Sprintf("it is %s, which is not read. Make a CSV file of it with a line of column names, and give "+
		"that to --from: %s",
		otherLogs[i].name, otherLogs[i].remedy)
}

// Patterns of files that are neither programs nor logs of clusters.
var (
	trainingOutput = regexp.MustCompile(`(?mi)^.*\bepoch\W{0,4}\d(?s:.*)\b(?:loss|acc)|^\s*\[\d+\]\s+\S+-\w+:[\d.]` +
		`|^\s*\[\d+\]\s+\S+'s \w+: |^\W*(?:step|iter(?:ation)?)\W*\d+.*loss` +
		`|'loss': .*'epoch':|\A[^\n]*\bepoch\b[^\n]*loss|^\d+:\s+learn: `)
	trainingConfig = regexp.MustCompile(`(?mi)^\s*["']?(?:lr|learning_rate|(?:num_|max_)?epochs|` +
		`(?:train_)?batch_size|optimizer|model|trainer|dataset)["']?\s*[:=]`)
)

// isMakefile reports whether a file is for make.
func isMakefile(name string, head []byte) bool {
	base := strings.ToLower(filepath.Base(name))
	return base == "makefile" || base == "gnumakefile" || filepath.Ext(base) == ".mk" || phony.Match(head)
}

var phony = regexp.MustCompile(`(?m)^\.PHONY\s*:`)

// noJobs describes a file without jobs that is no program, with advice; empty for other files.
func noJobs(name string, head []byte) string {
	switch {
	case isMakefile(name, head):
		return "it is a Makefile: write an experiment by  tfexp init --template own-program  and name a target in it, " +
			"as in  " +
			`command = ["make", "-s", "train"]`
	case trainingOutput.Match(head):
		return "it is what a training program printed, and has no jobs of a cluster: give the program to --from; its " +
			"lines are read while it runs"
	case trainingConfig.Match(head):
		return "it is the configuration of a training: give the program that reads it to --from; with --template " +
			"tune, the settings of a program that uses Hydra are taken from its configuration"
	}
	return ""
}

// packedEndings are the endings of packed files.
var packedEndings = []string{".gz", ".zst", ".bz2", ".xz"}

// trimPacked returns the name of a file without the ending of its packing: jobs.csv for jobs.csv.gz.
func trimPacked(name string) string {
	if ending := strings.ToLower(filepath.Ext(name)); slices.Contains(packedEndings, ending) {
		return name[:len(name)-len(ending)]
	}
	return name
}
