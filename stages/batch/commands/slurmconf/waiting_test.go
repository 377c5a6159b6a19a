package slurmconf

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/stages/batch/forecast"
)

// queued prints the jobs of a queue: who starts after whom, with how many cores.
func queued(q forecast.Queue) string {
	var all []string
	for i := range q.Jobs {
		j := &q.Jobs[i]
		all = append(all, fmt.Sprint(j.Name, " ", j.Threads, " ", j.Submission().After))
	}
	return strings.Join(all, "; ")
}

// aboutColumns reports whether a note is about the columns of a queue; the queues of these tests have few.
func aboutColumns(note string) bool {
	return strings.HasPrefix(note, "columns that the queue does not have")
}

// Jobs that are held, cannot start or have an unmodeled reason get no start, in both forms of a queue.
func TestWithoutStart(t *testing.T) {
	for reason, starts := range map[string]bool{
		"Priority": true, "Resources": true, "None": true, "AssocGrpCpuLimit": true, "QOSMaxJobsPerUserLimit": true, "BeginTime": false,
		"JobHeldUser": false, "JobHeldAdmin": false, "launch_failed_requeued_held": false, "job_requeued_in_held_state_held": false,
		"PartitionDown": false, "PartitionInactive": false, "BadConstraints": false, "AssocGrpCPUMinutesLimit": false,
		"QOSGrpCPUMinutesLimit": false, "Licenses": false, "ReqNodeNotAvail,_UnavailableNodes:n[1-4]": false,
		"DependencyNeverSatisfied": false, "InvalidQOS": false, "AssocGrpWallLimit": false, "QOSMaxGRESPerUser": false, "AssocMaxWallDurationPerJobLimit": false,
		"QOSMaxNodePerUserLimit": false, "QOSGrpCpuLimit": true, "Nodes_required_for_job_are_DOWN": false, "ReqNodeNotAvail": false, "AssocGrpMemLimit": false, "BurstBufferStageIn": false,
	} {
		for name, text := range map[string]string{
			"scontrol": "JobId=1 JobName=a\n   UserId=ada(5) GroupId=x(1)\n   JobState=PENDING Reason=" + reason + " Dependency=(null)\n" +
				"   SubmitTime=2026-01-01T10:00:00\n   NumNodes=1 NumCPUs=2\n",
			"squeue": "JOBID|USER|STATE|REASON|SUBMIT_TIME|CPUS|NODES\n1|ada|PENDING|" + strings.ReplaceAll(reason, "_", " ") +
				"|2026-01-01T10:00:00|2|1\n",
		} {
			q, notes, err := ReadQueue(name, strings.NewReader(text))
			notes = slices.DeleteFunc(notes, aboutColumns)
			if err != nil || (len(q.Jobs) == 1) != starts || (len(notes) == 0) != starts || (q.Reason("1") == "") != starts {
				t.Errorf("%s in %s: %d jobs, %q, %v", reason, name, len(q.Jobs), notes, err)
			}
		}
	}
}

func TestOddQueues(t *testing.T) {
	const job = "JobId=%d %sJobName=%s\n   UserId=ada(5) GroupId=x(1)\n   Priority=%d\n   JobState=%s Reason=%s Dependency=%s\n" +
		"   TimeLimit=01:00:00\n   SubmitTime=2026-01-01T10:00:00\n   StartTime=%s\n   NumNodes=1 NumCPUs=2\n   TRES=cpu=2,node=1\n%s\n"
	waits := func(id int, array, name, dependency, text string) string {
		return fmt.Sprintf(job, id, array, name, 7, "PENDING", "Priority", dependency, "Unknown", text)
	}
	runs := func(id int, array string) string {
		return fmt.Sprintf(job, id, array, "a", 7, "RUNNING", "None", "(null)", "2026-01-01T10:00:00", "")
	}
	for _, c := range []struct{ name, text, want, note string }{
		{"free text", waits(1, "", "a NumCPUs=9 b", "(null)", "   Command=x NumCPUs=8\n   Comment=y TimeLimit=short NumCPUs=7 | z"), "1 2 []", ""},
		{"all in one line", strings.ReplaceAll(waits(1, "", "UserId=z NumCPUs=9", "(null)", "Comment=NumCPUs=7"), "\n  ", ""), "1 2 []", ""},
		{"no limit", strings.Replace(waits(1, "", "a", "(null)", ""), "01:00:00", "Partition_Limit", 1) +
			strings.Replace(waits(2, "", "a", "(null)", ""), "01:00:00", "NOT_SET", 1), "1 2 []; 2 2 []", ""},
		{"one odd job", waits(1, "", "a", "(null)", "") + strings.Replace(waits(2, "", "a", "(null)", ""), "NumCPUs=2", "NumCPUs=x", 1),
			"1 2 []", `q:11: the job 2 has "x" CPUs: left out: 1 job`},
		{"the priority 0", strings.Replace(waits(1, "", "a", "(null)", ""), "Priority=7", "Priority=0", 1), "",
			"held (the priority is 0): these jobs are left out: 1 job"},
		{"dependencies", waits(1, "", "a", "afterok:7_3(unfulfilled),afterany:8+5(unfulfilled)", ""), "1 2 [7_3 8]", ""},
		{"a dependency on a start", waits(1, "", "a", "after:8+5(unfulfilled)", ""), "", "a dependency by after: these jobs are left out: 1 job"},
		{"a dependency on a failure", waits(1, "", "a", "afternotok:8(unfulfilled)", ""), "", "a dependency by afternotok"},
		{"a dependency that failed", waits(1, "", "a", "afterok:8(failed)", ""), "", "DependencyNeverSatisfied"},
		{"elements that correspond", waits(21, "ArrayJobId=20 ArrayTaskId=3 ", "a", "aftercorr:8(unfulfilled)", ""), "20_3 2 [8_3]", ""},
		{"singleton", waits(1, "", "a", "singleton(unfulfilled)", "") + waits(2, "", "a", "afterok:1(unfulfilled)", ""), "2 2 [1]",
			"the dependency singleton: these jobs are left out: 1 job"},
		{"a heterogeneous job", waits(1, "HetJobId=1 HetJobOffset=0 ", "a", "(null)", ""), "", "a part of a heterogeneous job"},
		{"nodes by name", waits(1, "", "a", "(null)", "   ReqNodeList=n1 ExcNodeList=(null)"), "1 2 []", "ReqNodeList has no effect: 1 job"},
		{"BeginTime in squeue", "JOBID|USER|STATE|REASON|SUBMIT_TIME|START_TIME|CPUS\n" +
			"1|ada|PENDING|BeginTime|2026-01-01T10:00:00|N/A|2\n2|ada|PENDING|BeginTime|2026-01-01T10:00:00|2026-01-02T10:00:00|2\n", "2 2 []",
			"BeginTime (the queue does not say which): these jobs are left out: 1 job"},
		{"one of several", waits(1, "", "a", "afterok:5(unfulfilled)?afterok:6(unfulfilled)", ""), "",
			"a dependency on one of several jobs: these jobs are left out: 1 job"},
		{"a throttle of 1", runs(21, "ArrayJobId=20 ArrayTaskId=1 ArrayTaskThrottle=1 ") +
			waits(20, "ArrayJobId=20 ArrayTaskId=2-3%1 ArrayTaskThrottle=1 ", "a", "(null)", ""), "20_1 2 []; 20_2 2 [20_1]; 20_3 2 [20_2]", ""},
		{"a throttle of 2", runs(21, "ArrayJobId=20 ArrayTaskId=1 ") + waits(20, "ArrayJobId=20 ArrayTaskId=2-4%2 ", "a", "(null)", ""),
			"20_1 2 []; 20_2 2 []; 20_3 2 [20_1]; 20_4 2 [20_2]", ""},
		{"no throttle", waits(20, "ArrayJobId=20 ArrayTaskId=2-3 ", "a", "(null)", ""), "20_2 2 []; 20_3 2 []", ""},
		{"a throttle in squeue -r", "JOBID|USER|STATE|REASON|SUBMIT_TIME|START_TIME|TIME|CPUS\n" +
			"20_1|ada|RUNNING|None|2026-01-01T10:00:00|2026-01-01T10:00:00|1:00|2\n" +
			"20_2|ada|PENDING|JobArrayTaskLimit|2026-01-01T10:00:00|N/A|0:00|2\n", "20_1 2 []; 20_2 2 [20_1]", ""},
		{"elements by steps", waits(20, "ArrayJobId=20 ArrayTaskId=1-9:4,12%3 ", "a", "(null)", ""), "20_1 2 []; 20_5 2 []; 20_9 2 []; 20_12 2 [20_1]", ""},
		{"elements that are held", strings.Replace(waits(20, "ArrayJobId=20 ArrayTaskId=1-2 ", "a", "(null)", ""), "Priority=7", "Priority=0", 1), "",
			"held (the priority is 0): these jobs are left out: 2 jobs"},
		{"large numbers", strings.Replace(waits(1, "", "a", "(null)", ""), "NumNodes=1 NumCPUs=2", "NumNodes=2-1K NumCPUs=1K", 1), "1 1024 []", ""},
		{"nodes shared with one user", waits(1, "", "a", "(null)", "   OverSubscribe=USER"), "1 2 []", "OverSubscribe=USER: they share their nodes with any job: 1 job"},
		{"shards", waits(1, "", "a", "(null)", "   TresPerNode=gres/shard:2"), "1 2 []", "they ask for parts of GPUs (shard or mps), and get no GPU: 1 job"},
		{"a job twice", waits(1, "", "a", "(null)", "") + waits(1, "", "a", "(null)", "") + waits(20, "ArrayJobId=20 ArrayTaskId=1-2 ", "a", "(null)", "") +
			waits(20, "ArrayJobId=20 ArrayTaskId=1-2 ", "a", "(null)", ""), "1 2 []; 20_1 2 []; 20_2 2 []", "jobs that the queue has twice count once, as in their first row: 2 jobs"},
		{"a job that completes", strings.Replace(runs(5, ""), "RUNNING", "COMPLETING", 1) + waits(1, "", "a", "afterok:5(unfulfilled)", ""), "1 2 [5]",
			"completing jobs are taken to have ended: 1 job"},
		{"a deadline", waits(1, "", "a", "(null)", "   Deadline=2026-01-01T12:00:00"), "1 2 []", "Deadline: jobs are not removed at their deadlines: 1 job"},
		{"no deadline", waits(1, "", "a", "(null)", "   Deadline=N/A TimeMin=N/A CoreSpec=* Contiguous=0 Switches="), "1 2 []", ""},
		{"two columns of states", "JOBID|USER|ST|STATE|SUBMIT_TIME|CPUS\n1|ada||PENDING|2026-01-01T10:00:00|2\n", "1 2 []", ""},
		{"a separator in a reason", "JOBID|USER|STATE|REASON|SUBMIT_TIME|CPUS\n1|ada|PENDING|x|y|2026-01-01T10:00:00|2\n", "",
			"x|y: these jobs are left out: 1 job"},
	} {
		q, notes, err := ReadQueue("q", strings.NewReader(c.text))
		notes = slices.DeleteFunc(notes, aboutColumns)
		if got := queued(q); err != nil || got != c.want || !strings.Contains(strings.Join(notes, "\n"), c.note) || c.note == "" && len(notes) > 0 {
			t.Errorf("%s: %q, %q, %v; want %q, %q", c.name, got, notes, err, c.want, c.note)
		}
	}
	named, _, err := ReadQueue("q", strings.NewReader(waits(1, "", "x UserId=root(0) GroupId=root(0)", "(null)", "")))
	if err != nil || named.Jobs[0].User != "ada" {
		t.Errorf("a name of a job changes its user: %v, %v", named.Jobs, err)
	}
	for text, want := range map[string]string{
		"JOBID|USER|STATE|SUBMIT_TIME|CPUS|FOO\n":                      "q:1: Columns of `squeue -o`: these do not include FOO.",
		"JOBID|USER|SUBMIT_TIME|CPUS\n":                                "q:1: there is no column STATE: print the queue with",
		"{\"jobs\": [\n{\"job_id\": 1,\n \"time\": 2}]}":               "q:2: this JSON has no list of jobs of squeue: print the queue with  squeue --json",
		"{\"sinfo\": []}\n":                                            "q:1: this JSON has no list of jobs of squeue",
		"{\"jobs\": []}\n\n{\"jobs\": []}\n":                           "q:3: other text follows the JSON: give each queue in its own file",
		"[\n{\"job_id\": 1}]\n":                                        "q:1: this JSON has no list of jobs of squeue",
		"{\"jobs\": [\n{\"job_id\": 1,\n":                              "q:2: the file ends within the JSON: it was cut off",
		"{\"jobs\": [\n{\"job_id\": x,\n":                              "q:2: this is not JSON",
		"{\"jobs\": [], \"errors\": [{\"error\": \"no controller\"}]}": "q:1: Slurm has printed an error: no controller",
		"\n \n": "q is empty: print the queue again",
	} {
		if _, _, err := ReadQueue("q", strings.NewReader(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %s", text, err, want)
		}
	}
	q, notes, err := ReadQueue("q", strings.NewReader("USER|JOBID|PRIORITY|ST|NODELIST(REASON)|SUBMIT_TIME|CPUS|MIN_MEMORY|NAME\n"+
		"ada|1|0.00000000000000|PD|(JobHeldUser)|2026-01-01T10:00:00|2|1G|x\nada|2|0.1|PD|(Priority)|2026-01-01T10:00:00|2|1G|x\n"+
		"ada|3|0.1|RH|(x)|2026-01-01T10:00:00|2|1G|x\n"))
	if got, said := queued(q), strings.Join(notes, "\n"); err != nil || got != "2 2 []" || q.Jobs[0].Memory != 1<<30 ||
		!strings.Contains(said, "columns not used: NAME") || !strings.Contains(said, "MIN_MEMORY is taken for each node") {
		t.Errorf("%q, %q, %v", got, said, err)
	}
	_, notes, err = ReadQueue("q", strings.NewReader(waits(1, "", "a", "(null)", "   NewField=3\n   TresPerSocket=gres:gpu:1")))
	if said := strings.Join(notes, "\n"); err != nil || !strings.Contains(said, "the field NewField of scontrol is not known") ||
		!strings.Contains(said, "TresPerSocket: GPUs of each socket") {
		t.Errorf("%q, %v", said, err)
	}
	_, _, err = ReadQueue("q", strings.NewReader("  JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n"))
	if err == nil || !strings.Contains(err.Error(), "q:1: this is a table of fixed width") {
		t.Errorf("the error is %v", err)
	}
}

// Dates that end with the year are read where one of the log shows the order of day and month, also in rows before it.
func TestOrderOfLog(t *testing.T) {
	const head = "JobID|User|Partition|Submit|Start|End|ReqCPUS|State\n"
	line := func(id int, submit, start, end string) string {
		return fmt.Sprintf("%d|ada|main|%s|%s|%s|4|COMPLETED\n", id, submit, start, end)
	}
	first := line(1, "09/01/26 10:00:00", "09/01/26 10:00:10", "09/01/26 11:00:10")
	for _, c := range []struct{ text, want string }{
		{first + line(2, "09/13/26 10:00:00", "09/13/26 10:00:00", "09/13/26 10:00:50"), "1 0s 10s 1h0m0s; 2 288h0m0s 0s 50s"},
		{strings.ReplaceAll(first, "/26", "/2026") + line(2, "13/09/2026 10:00:00", "13/09/2026 10:00:00", "13/09/2026 10:00:50"),
			"1 0s 10s 1h0m0s; 2 5928h0m0s 0s 50s"}, // from the ninth of January on
		{first, "sacct.txt:2: its dates may begin with the day or the month"},
		{line(1, "26/09/01 10:00:00", "26/09/01 10:00:10", "26/09/13 10:00:10"), "sacct.txt:2: its dates may begin with the day or the month"},
		{line(1, "09/13/26 10:00:00", "09/13/26 10:00:10", "13/09/26 10:00:50"), "sacct.txt:2: End: "},
		{first + line(2, "09/13/26 10:00:00", "09/13/26 10:00:00", "soon"), "sacct.txt:3: End: \"soon\""},
	} {
		dir := write(t, map[string]string{"slurm.conf": conf, "sacct.txt": head + c.text})
		tw, err := ReadTwin(filepath.Join(dir, "slurm.conf"), []string{filepath.Join(dir, "sacct.txt")})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: the error is %v, want %s", c.text, err, c.want)
			}
			continue
		}
		var got []string
		for i, j := range tw.trace.Jobs {
			got = append(got, fmt.Sprint(j.Name, " ", j.Arrival, " ", tw.trace.Waits[i], " ", tw.trace.RunTimes[i]))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: the jobs are %q, want %s", c.text, got, c.want)
		}
	}
}

// TestOddLogs: clocks that were changed, numbers that were used again, other clusters, and text in a log of sacct.
func TestOddLogs(t *testing.T) {
	const head = "JobID|JobName|User|Partition|Submit|Start|End|Elapsed|ReqCPUS|State\n"
	later := func(line string) string { return strings.Replace(line, "2026-01-01", "2027-01-01", -1) }
	line := func(id, name, user, start, end, elapsed string) string {
		return fmt.Sprintf("%s|%s|%s|main|2026-01-01T00:00:00|2026-01-01T%s|2026-01-01T%s|%s|4|COMPLETED\n", id, name, user, start, end, elapsed)
	}
	dir := write(t, map[string]string{"slurm.conf": conf, "sacct.txt": head + line("1", `"my job`, "ada", "02:50:10", "02:20:10", "00:30:00") +
		line("2", "a|b", "bob", "01:00:00", "03:00:00", "03:00:00") + line("3", "c", "bob", "01:00:00", "01:10:00", "00:10:00") +
		line("3", "c", "bob", "02:00:00", "02:20:00", "00:20:00") + line("3", "d", "eve", "03:00:00", "03:30:00", "00:30:00") +
		line("4", "e", "bob", "03:00:00", "03:30:00", "00:30:00") + later(line("4", "f", "bob", "03:00:00", "03:40:00", "00:40:00")) +
		strings.Replace(line("5", "e", "bob", "03:00:00", "03:30:00", "00:30:00"), "COMPLETED", "NODE_FAIL", 1) +
		strings.Replace(line("5", "e", "bob", "03:40:00", "03:41:00", "00:01:00"), "01T00:00:00", "01T03:31:00", 1),
		"fixed.txt": "       JobID    JobName              Submit \n------------ ---------- ------------------- \n",
		"events.txt": "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\n" +
			"Demo|n1|2026-01-01T00:00:00|2026-01-01T01:00:00|DOWN|fan|root\nbeta|x9|2026-01-01T00:00:00|Unknown|DOWN|fan|root\n"})
	path := func(name string) string { return filepath.Join(dir, name) }
	tw, err := ReadTwin(path("slurm.conf"), []string{path("sacct.txt"), path("events.txt")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range tw.trace.Jobs {
		got = append(got, fmt.Sprint(tw.trace.Jobs[i].Name, " ", tw.trace.Jobs[i].User, " ", tw.trace.RunTimes[i]))
	}
	if want := "1 ada 30m0s; 2 bob 3h0m0s; 3-before-6 bob 20m0s; 3 eve 30m0s; 4-before-8 bob 30m0s; 5 bob 1m0s; 4 bob 40m0s"; strings.Join(got, "; ") != want {
		t.Errorf("the jobs are %q, want %s", got, want)
	}
	if len(tw.closures) != 1 || !strings.Contains(strings.Join(tw.Unmodeled, "\n"), "an event of the cluster beta: ClusterName is demo") {
		t.Errorf("%d closures, %q", len(tw.closures), tw.Unmodeled)
	}
	if _, err = ReadTwin(path("slurm.conf"), []string{path("fixed.txt")}); err == nil || !strings.Contains(err.Error(),
		"--parsable2") {
		t.Errorf("the error is %v", err)
	}
}

// A job without a time limit has none; a nice value, and memory of each core, count.
func TestNumbersOfQueue(t *testing.T) {
	const head = "JOBID|USER|STATE|SUBMIT_TIME|CPUS|TIME_LIMIT|NICE|MIN_MEMORY\n"
	for row, want := range map[string]string{
		"1:00:00|0|1G": "1h0m0s 0 1024", "UNLIMITED|5|1Gc": "8760h0m0s 5 2048", "NOT_SET|-7|0": "0s -7 0", "INVALID||": "0s 0 0",
	} {
		q, _, err := ReadQueue("q", strings.NewReader(head+"1|ada|PENDING|2026-01-01T10:00:00|2|"+row+"\n"))
		if err != nil {
			t.Errorf("%s: %v", row, err)
			continue
		}
		j := &q.Jobs[0]
		if got := fmt.Sprint(j.Submission().Limit, " ", j.Submission().Nice, " ", j.Memory>>20); got != want {
			t.Errorf("%s: %s, want %s", row, got, want)
		}
	}
}

// A job that ran although a limit forbids it may run in the twin; jobs that ran longer than their time limits are noted.
func TestJobsBeyondLimits(t *testing.T) {
	got := twinOf(t, map[string]string{"slurm.conf": plainConf + "AccountingStorageEnforce=limits\nNodeName=a[1-4] CPUs=8\n" +
		"PartitionName=main Nodes=ALL Default=YES MaxTime=60 MaxNodes=1\n",
		"table.txt": "Account|User|Share|GrpTRES|MaxTRES|MaxWall\nroot||1|||\nphysics||1|cpu=3||\nphysics|ada|1||cpu=2|00:05:00\n\n" +
			"Name|Priority|MaxWall\nnormal|0|00:30:00\n",
		"sacct.txt": "JobID|User|Account|QOS|Partition|Submit|Start|End|TimelimitRaw|ReqCPUS|ReqNodes|State\n" +
			"1|ada|physics|normal|main|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|600|4|1|COMPLETED\n" +
			"2|ada||normal|main|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|700|4|2|COMPLETED\n" +
			"3|ada|||main|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:20:00|1|4|1|COMPLETED\n" +
			"4|ada|||main|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:02:20|1|4|1|TIMEOUT\n" +
			"5|ada|||main|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:02:20|UNLIMITED|4|1|COMPLETED\n"}, "table.txt", "sacct.txt")
	check(t, "limits", got, []string{`max_time = "11h40m" max_nodes = 2`, `qos "normal" { max_wall = "11h40m" }`,
		`account "physics" { group_cores = 4 user "ada" { max_cores = 4 max_wall = "10h" } }`,
		`sacct.txt:2: job 1 ran above max_time = "1h" of partition main, and 1 more like it: here the limit is the most that a job of the log had`,
		"sacct.txt:3: job 2 ran above max_nodes = 1 of partition main: here the limit",
		"sacct.txt:4: job 3 ran longer than its time limit: the twin ends it at its limit"}, []string{"job 4", "job 5"})
}
