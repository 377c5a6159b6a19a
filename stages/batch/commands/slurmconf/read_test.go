package slurmconf

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
)

const (
	conf = `ClusterName=demo AccountingStorageEnforce=limits
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightAge=1000 # a comment
SchedulerParameters=bf_interval=10,\
default_queue_depth=50
NodeName=n[1-4] CPUs=8 Feature=ib
NodeName=gpu1 CPUs=16 Gres=gpu:a100:2 Weight=10
PartitionName=main Nodes=n[1-4],gpu1 Default=YES MaxTime=1-0
`
	assoc = `Account|User|Share|GrpTRES|MaxJobs
root||1||
root|root|1||
 physics||50|cpu=16|
  physics|ada|3||2
`
	jobs = `JobID|User|Account|Partition|QOS|Submit|Start|End|TimelimitRaw|ReqCPUS|State
1|ada|physics|main|normal|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|10|4|COMPLETED
2|ada|physics|main|normal|2026-01-01T00:00:01|Unknown|Unknown|10|4|CANCELLED
`
)

// write writes files into a new folder and returns their paths.
func write(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		if err := folder.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRead(t *testing.T) {
	dir := write(t, map[string]string{"slurm.conf": conf, "more.conf": "PriorityWeightQOS=7\n", "assoc.txt": assoc,
		"sacct.txt": jobs})
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := folder.WriteFile(path("slurm.conf"), []byte(conf+"include more.conf\nTopologyPlugin=topology/tree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	source, text := experimentOf(t, dir, "sacct.txt", "assoc.txt")
	for _, want := range []string{
		`node "n" { count = 4 threads = 8 }`, `node "gpu1" { count = 1 threads = 16 gpus = 2 gpu = "a100" }`,
		`weight_age = 1000`, `weight_qos = 7`, `backfill_interval = "10s"`, `queue_depth = 50`,
		`partition "main" { nodes = ["n-[1-4]", "gpu1"] default = true max_time = "24h" }`,
		`account "physics" { shares = 50 group_cores = 16 user "ada" { shares = 3 max_jobs = 2 } }`,
		`names = ["n-[1-4]"] features = ["ib"]`, `TopologyPlugin=topology/tree: placement ignores the network`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the experiment does not say\n%s\nbut\n%s", want, source)
		}
	}
	file := path("demo.hcl")
	if err := folder.WriteFile(file, source, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, problems := decode.File(file, decode.Options{}); len(problems) > 0 {
		t.Errorf("%v", problems)
	}
}

// experimentOf returns the experiment that is written of the files in a folder, and its text without # and line breaks.
func experimentOf(t *testing.T, dir string, tables ...string) (source []byte, text string) {
	t.Helper()
	for i := range tables {
		tables[i] = filepath.Join(dir, tables[i])
	}
	tw, err := ReadTwin(filepath.Join(dir, "slurm.conf"), tables)
	if err != nil {
		t.Fatal(err)
	}
	if source, err = tw.Experiment("demo", dir); err != nil {
		t.Fatal(err)
	}
	return source, regexp.MustCompile(`\s+`).ReplaceAllString(strings.ReplaceAll(string(source), "#", ""), " ")
}

// Of two controllers one waits for the other to fail; a partition may have node sets.
func TestLinesOfOtherThings(t *testing.T) {
	dir := write(t, map[string]string{"slurm.conf": conf + "SlurmctldHost=head1\nSlurmctldHost=head2\nDownNodes=n1 State=DOWN\n" +
		"NodeSet=fast Feature=ib\nNodeSet=some Nodes=n[2-3],gpu1\nPartitionName=a Nodes=fast\nPartitionName=b Nodes=n1,some,n2\n",
		"assoc.txt": "Account|ParentName|User|Share|GrpTRES|GrpTRESMins\na|||1||\na||ada|1|mem=5,1=7|cpu=9\na||bob|1|mem=6|cpu=9\n" +
			"a||eve|1|mem=5,billing=4|\n"})
	source, text := experimentOf(t, dir, "assoc.txt")
	for _, want := range []string{"group_cores = 7", `partition "a" { nodes = ["n-[1-3]"]`, `partition "b" { nodes = ["n-[1-2]", "gpu1"]`,
		"DownNodes=n1 State=DOWN: the nodes are left out (n1)",
		"assoc.txt:3: GrpTRES=mem=5 of user ada, and 2 more like it: tfexp ignores this limit",
		"assoc.txt:3: GrpTRESMins=cpu=9 of user ada, and 1 more like it: tfexp ignores this limit",
		"assoc.txt:5: GrpTRES=billing=4 of user eve: tfexp"} {
		if !strings.Contains(text, want) {
			t.Errorf("the experiment does not say\n%s\nbut\n%s", want, source)
		}
	}
}

func TestWrongInput(t *testing.T) {
	tests := []struct{ name, conf, assoc, jobs, want string }{
		{"unknown parameter", conf + "PriorityWeigthAge=3\n", "", "", "slurm.conf:11: slurm.conf has no parameter PriorityWeigthAge. " +
			"Did you mean PriorityWeightAge?"},
		{"a value that is missing", conf + "NodeName=m CPUs= Weight=3\n", "", "", `CPUs has no value, and Slurm takes "Weight=3" for it`},
		{"an open quote", conf + "Epilog=\"/all done.sh\n", "", "", `"done.sh" is not NAME=VALUE`},
		{"unknown parameter of a partition", conf + "PartitionName=x Nodse=n1\n", "", "", "a partition has no parameter Nodse. Did you mean Nodes?"},
		{"an include without its cluster", "Include %c.conf\n" + conf, "", "", "slurm.conf:1: Include %c.conf: %c is the name of the cluster"},
		{"a sum of words", conf + "PriorityWeightQOS=3\nPriorityWeightQOS*=x\n", "", "", `write PriorityWeightQOS=VALUE`},
		{"unknown node", conf + "PartitionName=other Nodes=n[1-9]\n", "", "", "has the node n5, which no line NodeName= describes"},
		{"no number", conf + "PriorityWeightQOS=much\n", "", "", "PriorityWeightQOS=much is no whole number"},
		{"no bracket", conf + "NodeName=x[1-2 CPUs=4\n", "", "", "has no closing bracket"},
		{"missing include", conf + "include nowhere.conf\n", "", "", "the included file cannot be read"},
		{"no nodes", "ClusterName=x\nSelectType=select/cons_tres\n", "", "", "no line begins with NodeName="},
		{"user without account", conf, "Account|User|Share\nbiology|bob|1\n", "",
			`assoc.txt:2: the user "bob" is in the account "biology", which no line describes`},
		{"not a table", conf, "hello\n", "", "this is no table of sacct or sacctmgr"},
		{"another configuration", conf, conf, "", "assoc.txt:1: this is a second slurm.conf: leave it out, or add its lines to slurm.conf by  Include assoc.txt"},
		{"tables first", jobs, "", "", "slurm.conf:1: this is a table of sacct or sacctmgr: name the slurm.conf of the " +
			"controller first"},
		{"no text", conf + "\x00\n", "", "", "slurm.conf: it is not text: byte "},
		{"unknown parameter of nodes", conf + "NodeName=x RaelMemory=4\n", "", "", "no parameter RaelMemory. Did you mean RealMemory?"},
		{"a file that includes itself", conf + "include slurm.conf\n", "", "", "is included while it is read"},
		{"account above itself", conf, "Account|ParentName|User|Share\na|b||1\nb|a||1\na||ada|1\n", "",
			`assoc.txt:2: the account "a" is above itself: correct its parent, "b"`},
		{"unknown qos", conf, "Name|Priority|Preempt\nnormal|0|high\n", "", `assoc.txt:2: the qos "normal" preempts the qos "high"`},
		{"a limit that is no list", conf, "Account|User|Share|MaxTRES\na||1|1\n", "", "assoc.txt:2: MaxTRES=1 is no list of resources such as cpu=16"},
		{"a limit that is no number", conf, "Account|User|Share|GrpJobs\na||1|x\n", "", "assoc.txt:2: GrpJobs=x is no whole number"},
		{"no job", conf, "", strings.SplitAfter(jobs, "\n")[0], "none of its jobs has started"},
		{"dates without separators", conf, "", "JobID|User|Submit|Start|End|AllocCPUS\n1|ada|2609011000|2609011001|2609011030|1\n" +
			"2|ada|2609011010|2609011031|2609011045|1\n", "SLURM_TIME_FORMAT=standard"},
		{"hour and minute", conf, "", "JobID|User|Submit|Start|End|AllocCPUS\n1|ada|10.00|10.01|10.30|1\n", "SLURM_TIME_FORMAT=standard"},
		{"another separator", conf, "", strings.ReplaceAll(jobs, "|", ";"), `sacct.txt:1: its fields are separated by ";": print it without --delimiter`},
		{"tabs", conf, "", strings.ReplaceAll(jobs, "|", "\t"), `sacct.txt:1: its fields are separated by "\t": print it without --delimiter`},
		{"localized date", conf, "", strings.Replace(jobs, "2026-01-01T00:01:00", "01/02/26", 1), "SLURM_TIME_FORMAT=standard"},
		{"job of another cluster", conf, "", strings.Replace(jobs, "|main|", "|large|", 1),
			`sacct.txt:2: job 1 ran in the partition "large", which the configuration does not have`},
		{"job that ends before it starts", conf, "", strings.Replace(jobs, "00:01:00", "00:00:01", 1), "it ends before it starts"},
		{"log without a column", conf, "", "JobID|User\n1|ada\n", `there is no column "Submit"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := write(t, map[string]string{"slurm.conf": test.conf, "assoc.txt": test.assoc, "sacct.txt": test.jobs})
			var others []string
			for _, name := range []string{"assoc.txt", "sacct.txt"} {
				if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Size() > 0 {
					others = append(others, filepath.Join(dir, name))
				}
			}
			_, err := ReadTwin(filepath.Join(dir, "slurm.conf"), others)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}

// Files may be packed, and outputs follow each other in one file.
func TestPackedFiles(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(jobs + strings.ReplaceAll(jobs, "\n1|", "\n1001|"))); err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	dir := write(t, map[string]string{"slurm.conf": conf, "sacct.txt.gz": packed.String()})
	tw, err := ReadTwin(filepath.Join(dir, "slurm.conf"), []string{filepath.Join(dir, "sacct.txt.gz")})
	if err != nil {
		t.Fatal(err)
	}
	plain := write(t, map[string]string{"slurm.conf": conf, "sacct.txt": jobs})
	once, err := ReadTwin(filepath.Join(plain, "slurm.conf"), []string{filepath.Join(plain, "sacct.txt")})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(tw.trace.Jobs); n <= len(once.trace.Jobs) || len(once.trace.Jobs) == 0 {
		t.Errorf("%d jobs of two outputs, %d of one", n, len(once.trace.Jobs))
	}
}

// Of mistakes that are alike, the first is shown, and the number of the others.
func TestMistakesOfAKind(t *testing.T) {
	job := "%d|ada|%s|2026-01-01T00:00:00|2026-01-01T00:00:01|2026-01-01T00:01:00|%d\n"
	head := "JobID|User|Partition|Submit|Start|End|AllocCPUS\n"
	for _, c := range []struct{ conf, jobs, want string }{
		{conf + "NodeName=x[1-2] Foo=1\nNodeName=y[1-2] Foo=1\nNodeName=z[1-2] Foo=1\n", "",
			"slurm.conf:11: a node has no parameter Foo. (and 2 more lines like it)"},
		{conf, head + fmt.Sprintf(job+job+job+job, 1, "large", 1, 2, "other", 1, 3, "main", 999, 4, "large", 1),
			`sacct.txt:2: job 1 ran in the partition "large", which the configuration does not have (like 2 more jobs); line 4: job 3 had ` +
				"999 CPUs, and the configuration has 48: use the slurm.conf of the time of the log, or leave such jobs out of the log"},
		{conf, head + "1|ada|main|soon|||1\n2|ada|main|later|||1\n",
			`sacct.txt:2: Submit: "soon" is neither a number nor a date like 2017-10-03 05:33:33 (print the log with ` +
				"SLURM_TIME_FORMAT=standard) (and 1 more line like it)"},
		{"hello world\nand more\n", "", `slurm.conf:1: "hello" is not NAME=VALUE: name the slurm.conf of the controller first, then the ` +
			"tables of sacct and sacctmgr"},
	} {
		dir := write(t, map[string]string{"slurm.conf": c.conf, "sacct.txt": c.jobs})
		var others []string
		if c.jobs != "" {
			others = []string{filepath.Join(dir, "sacct.txt")}
		}
		_, err := ReadTwin(filepath.Join(dir, "slurm.conf"), others)
		if got := strings.ReplaceAll(fmt.Sprint(err), dir+string(filepath.Separator), ""); got != c.want {
			t.Errorf("the error is\n%s, want\n%s", got, c.want)
		}
	}
}

func TestInputOfOtherSystems(t *testing.T) {
	text := "\ufeff" + strings.ReplaceAll(conf, "\n", "\r\n") + "Epilog=\"/etc/slurm/all done.sh\"\r\n"
	dir := write(t, map[string]string{"slurm.conf": text, "sacct.txt": "\ufeff" + strings.ReplaceAll(jobs, "\n", "\r\n")})
	tw, err := ReadTwin(filepath.Join(dir, "slurm.conf"), []string{filepath.Join(dir, "sacct.txt")})
	if err != nil {
		t.Fatal(err)
	}
	if got := tw.get("Epilog", ""); got != "/etc/slurm/all done.sh" || len(tw.trace.Jobs) == 0 {
		t.Errorf("the epilog is %q, with %d jobs", got, len(tw.trace.Jobs))
	}
}

// The same queue, as scontrol and as squeue print it.
const (
	shown = `JobId=7 JobName=a
   UserId=ada(5) Account=physics QOS=normal JobState=RUNNING Reason=None Dependency=(null)
   RunTime=00:05:00 TimeLimit=01:00:00 SubmitTime=2026-01-01T10:00:00 EligibleTime=2026-01-01T10:00:00
   StartTime=2026-01-01T11:00:00 Partition=main NumNodes=2 NumCPUs=12 TRES=cpu=12,node=2,gres/gpu=2

JobId=8 ArrayJobId=8 ArrayTaskId=1-2%4 UserId=bob(6) Account=biology QOS=normal JobState=PENDING Reason=Dependency Dependency=afterok:7(unfulfilled) TimeLimit=1-00:00:00 SubmitTime=2026-01-01T11:01:00 StartTime=Unknown Partition=main,long NumNodes=1-4 NumCPUs=4-4 Features=ib&big
JobId=9 UserId=bob(6) JobState=PENDING Reason=JobHeldUser SubmitTime=2026-01-01T11:01:00 Partition=main NumCPUs=1
JobId=6 UserId=bob(6) JobState=COMPLETED NumCPUs=1
`
	listed = `JOBID|USER|ACCOUNT|PARTITION|QOS|STATE|REASON|SUBMIT_TIME|START_TIME|TIME|TIME_LIMIT|CPUS|NODES|FEATURES|DEPENDENCY
7|ada|physics|main|normal|RUNNING|None|2026-01-01T10:00:00|2026-01-01T11:00:00|5:00|1:00:00|12|2|(null)|(null)
8_1|bob|biology|main,long|normal|PENDING|Dependency|2026-01-01T11:01:00|N/A|0:00|1-00:00:00|4|1-4|ib&big|afterok:7(unfulfilled)
8_2|bob|biology|main,long|normal|PENDING|Dependency|2026-01-01T11:01:00|N/A|0:00|1-00:00:00|4|1-4|ib&big|afterok:7(unfulfilled)
9|bob|biology|main|normal|PENDING|JobHeldUser|2026-01-01T11:01:00|N/A|0:00|1:00|1|1|(null)|(null)
`
)

func TestReadQueue(t *testing.T) {
	for name, text := range map[string]string{"scontrol": shown, "squeue": listed} {
		q, notes, err := ReadQueue(name, strings.NewReader(text))
		if err != nil || len(q.Jobs) != 3 {
			t.Fatalf("%s: %d jobs, %v", name, len(q.Jobs), err)
		}
		at := func(text string) time.Duration {
			d, _ := logs.ParseInstant(text, time.Second)
			return d
		}
		if got := strings.Join(notes, "; "); !strings.Contains(got, "not in long") || !strings.Contains(got, "JobHeldUser: these jobs are left out: 1") {
			t.Errorf("%s: the notes are %s", name, got)
		}
		a, b := q.Jobs[0], q.Jobs[2]
		if q.At != at("2026-01-01T11:05:00") || a.Waits() || a.Start != at("2026-01-01T11:00:00") || a.Threads != 12 ||
			a.User != "ada" || a.Predicted != time.Hour || a.Submission().MinNodes != 2 {
			t.Errorf("%s: at %s %+v %+v", name, q.At, a, a.Submission())
		}
		if s := b.Submission(); !b.Waits() || b.Name != "8_2" || b.Threads != 4 || s.Partition != "main" || s.Limit != 24*time.Hour ||
			!slices.Equal(s.After, []string{"7"}) || !slices.Equal(s.Features, []string{"ib", "big"}) {
			t.Errorf("%s: %+v %+v", name, b, s)
		}
	}
	for text, want := range map[string]string{
		"hello\n": "queue.txt:1: this is no queue",
		"JobId=1 JobState=PENDING SubmitTime=2026-01-01T10:00:00 NumCPUs=many\n": `queue.txt:1: the job 1 has "many" CPUs`,
		"\nJobId=1 JobState=PENDING SubmitTime=soon NumCPUs=1\n":                 `queue.txt:2: SubmitTime: "soon" is neither a number nor a date`,
		"JobId=1 JobState=RUNNING SubmitTime=2026-01-01T10:00:00 NumCPUs=1\n":    "queue.txt:1: the job 1 runs, and has no StartTime",
	} {
		if _, _, err := ReadQueue("queue.txt", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
}

// TestClosures: reservations, and nodes that were down, become blocks with times since the first job of the log.
func TestClosures(t *testing.T) {
	dir := write(t, map[string]string{
		"slurm.conf": strings.Replace(conf, "=CR_Core", "=CR_Core,CR_LLN", 1) + "PriorityFlags=NO_FAIR_TREE\nFairShareDampeningFactor=2\n",
		"sacct.txt":  strings.NewReplacer("|State\n", "|State|Reservation\n", "COMPLETED", "COMPLETED|old", "CANCELLED", "CANCELLED|").Replace(jobs),
		"resv.txt": "ReservationName=maint StartTime=2026-01-01T10:00:00 EndTime=2026-01-01T12:00:00 Duration=02:00:00\n" +
			"   Nodes=n[1-2] NodeCnt=2 CoreCnt=16 Features=(null) PartitionName=(null) Flags=MAINT,DAILY\n   Users=root State=INACTIVE\n\n" +
			"ReservationName=licenses StartTime=2026-01-01T10:00:00 EndTime=2026-01-01T12:00:00\n   Nodes=(null)\n",
		"events.txt": "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n" +
			"demo||2026-01-01T00:00:00|Unknown||Cluster Registered TRES|\n" +
			"demo|n3|2025-12-31T00:00:00|2026-01-01T00:01:00|DOWN|fan|root\ndemo|n4|2025-12-31T00:00:00|2026-01-01T00:01:00|DOWN|fan|root\n" +
			"demo|n1|2025-12-30T00:00:00|2025-12-31T00:00:00|DOWN|fan|root\n",
	})
	path := func(name string) string { return filepath.Join(dir, name) }
	tw, err := ReadTwin(path("slurm.conf"), []string{path("resv.txt"), path("sacct.txt"), path("events.txt")})
	if err != nil {
		t.Fatal(err)
	}
	source, err := tw.Experiment("demo", dir)
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`\s+`).ReplaceAllString(strings.ReplaceAll(string(source), "#", ""), " ")
	for _, want := range []string{
		`fair_tree = false fair_share_damping = 2`, `least_loaded = true`, `clock = "0s" whole_seconds = true`,
		`reservation "maint" { nodes = ["n-[1-2]"] from = "10h" until = "12h" }`,
		`reservation "down_1" { nodes = ["n-[3-4]"] from = "0s" until = "1m" sudden = true }`,
		`the reservation maint is repeated (DAILY)`, `the reservation licenses has no nodes`, `no reservation old is given`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the experiment does not say\n%s\nbut\n%s", want, source)
		}
	}
	if strings.Contains(text, "down_2") {
		t.Errorf("nodes that were up when the log begins are down:\n%s", source)
	}
	file := path("demo.hcl")
	if err := folder.WriteFile(file, source, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, problems := decode.File(file, decode.Options{}); len(problems) > 0 {
		t.Errorf("%v", problems)
	}
}

// TestPartsOfSeconds: a log with parts of seconds is exact.
func TestPartsOfSeconds(t *testing.T) {
	dir := write(t, map[string]string{"slurm.conf": conf, "sacct.txt": strings.Replace(jobs, "00:01:00|10|", "00:01:00.250|10|", 1)})
	tw, err := ReadTwin(filepath.Join(dir, "slurm.conf"), []string{filepath.Join(dir, "sacct.txt")})
	if err != nil {
		t.Fatal(err)
	}
	source, err := tw.Experiment("demo", dir)
	if err != nil || strings.Contains(string(source), "whole_seconds") {
		t.Errorf("%v\n%s", err, source)
	}
}

// TestSubmitLine reads from the commands which jobs share no nodes.
func TestSubmitLine(t *testing.T) {
	dir := write(t, map[string]string{"slurm.conf": conf, "sacct.txt": `JobID|User|Account|Partition|QOS|Submit|Start|End|TimelimitRaw|ReqCPUS|State|SubmitLine
1|ada|physics|main|normal|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|10|4|COMPLETED|sbatch -n 4 --exclusive --wrap a | b
2|ada|physics|main|normal|2026-01-01T00:00:01|2026-01-01T00:00:10|2026-01-01T00:01:00|10|4|COMPLETED|sbatch -n 4 job.sh --exclusive
3|ada|physics|main|normal|2026-01-01T00:00:02|2026-01-01T00:00:10|2026-01-01T00:01:00|10|4|COMPLETED|sbatch --exclusive=user job.sh
`})
	tw, err := ReadTwin(filepath.Join(dir, "slurm.conf"), []string{filepath.Join(dir, "sacct.txt")})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, false} {
		if got := tw.trace.Jobs[i].Submission().Exclusive; got != want {
			t.Errorf("job %s has nodes for itself: %t", tw.trace.Jobs[i].Name, got)
		}
	}
	if said := strings.Join(tw.trace.Assumed, "\n"); !strings.Contains(said, "jobs with --exclusive=user or another value (1) share their nodes with any job") {
		t.Errorf("it says %s", said)
	}
}

// TestJSONLog reads a log of sacct in JSON as the text, and refuses dates beside its seconds since 1970.
func TestJSONLog(t *testing.T) {
	const json = `{"jobs": [
{"job_id": 1, "array": {"job_id": 0, "task_id": {"set": false, "infinite": false, "number": 0}}, "user": "ada", "account": "physics", "partition": "main", "qos": "normal",
 "cluster": "demo", "allocation_nodes": 1, "state": {"current": ["COMPLETED"]}, "required": {"CPUs": 4},
 "time": {"submission": 1767225600, "eligible": 1767225600, "start": 1767225610, "end": 1767225660, "elapsed": 50, "suspended": 0, "limit": {"set": true, "infinite": false, "number": 10}},
 "tres": {"allocated": [{"type": "cpu", "name": "", "id": 1, "count": 4}], "requested": [{"type": "cpu", "name": "", "id": 1, "count": 4}]}},
{"job_id": 2, "user": "ada", "account": "physics", "partition": "main", "qos": "normal", "cluster": "demo", "allocation_nodes": 0, "state": {"current": ["CANCELLED"]},
 "required": {"CPUs": 4}, "time": {"submission": 1767225601, "start": 0, "end": 1767225700, "elapsed": 0, "limit": {"set": true, "infinite": false, "number": 10}},
 "tres": {"allocated": [], "requested": []}}
]}`
	const events = "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n"
	dir := write(t, map[string]string{"slurm.conf": conf, "sacct.json": json, "sacct.txt": jobs,
		"dates.txt": events + "demo|n3|2025-12-31T00:00:00|2026-01-01T00:01:00|DOWN|fan|root\n", "seconds.txt": events + "demo|n3|1767139200|1767225660|DOWN|fan|root\n"})
	read := func(files ...string) (*Twin, error) {
		for i := range files {
			files[i] = filepath.Join(dir, files[i])
		}
		return ReadTwin(filepath.Join(dir, "slurm.conf"), files)
	}
	text, err := read("sacct.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, files := range [][]string{{"sacct.json"}, {"seconds.txt", "sacct.json"}} {
		other, err := read(files...)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := text.trace.Jobs, other.trace.Jobs; len(b) != 1 || !reflect.DeepEqual(a[0].Submission(), b[0].Submission()) || a[0].Threads != b[0].Threads ||
			other.trace.Waits[0] != text.trace.Waits[0] || other.trace.RunTimes[0] != text.trace.RunTimes[0] || other.trace.Origin != text.trace.Origin {
			t.Errorf("the jobs are %+v, want %+v", other.trace, text.trace)
		}
		if said := strings.Join(other.Unmodeled, "\n"); !strings.Contains(said, "hours of the day are in UTC") {
			t.Errorf("it says %s", said)
		}
	}
	if _, err = read("sacct.json", "dates.txt"); err == nil || !strings.Contains(err.Error(), "dates.txt:2: its times are dates, and those of the log ") {
		t.Errorf("the error is %v", err)
	}
	if _, err = read("sacct.txt", "seconds.txt"); err == nil || !strings.Contains(err.Error(), "seconds.txt:2: its times are seconds since 1970, and those of the log ") {
		t.Errorf("the error is %v", err)
	}
}
