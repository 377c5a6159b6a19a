package start

import (
	"strings"
	"testing"
)

// TestKinds recognizes files by their content, whatever their names.
func TestKinds(t *testing.T) {
	for _, c := range []struct {
		name, text string
		executable bool
		want       Kind
		other      string // the name of a kind of log that tfexp recognizes but does not read
	}{
		{"jobs.out", "submit_time,start_time,end_time,cpus\n0,1,2,3\n", false, Log, ""},
		{"history", "Cluster of 2024\n\nSubmitted;Elapsed;Cores\n0;60;2\n", false, Log, ""},
		{"train", "#!/usr/bin/env python3\nprint(1)\n", false, Program, ""},
		{"train", "\x7fELF\x02\x01", false, Program, ""},
		{"main.txt.py", "x = 1\n", false, Program, ""},
		{"train", "import torch\nfor epoch in range(3):\n    pass\n", false, Program, ""},
		{"run", "set -e\npython3 train.py --epochs 3\n", false, Program, ""},
		{"run", "do something\n", true, Program, ""},
		{"notes", "Dear all,\nthis is a note.\n", false, Unknown, ""},
		{"empty", "", false, Unknown, ""},
		{"20240312", "03/12/2024 10:03:01;E;12.server;user=ada group=g queue=batch qtime=1710237781 start=1710237790 end=1710238000\n", false, Unknown,
			"PBS or Torque"},
		{"accounting", "# Version: 8.1.9\nall.q:host:users:ada:job:12:sge:0:1710237781:1710237790:1710238000" + strings.Repeat(":0", 35) + "\n", false, Unknown,
			"accounting file of Grid Engine"},
		{"q.txt", "==============================================================\nqname        all.q\nhostname     n1\n", false, Log, "qacct"},
		{"lsb.acct", `"JOB_FINISH" "10.1" 1710238000 12 1001 33 1 1710237781 0 0 1710237790 "ada" "normal"` + "\n", false, Unknown, "event log of LSF"},
		{"out.txt", "\nAccounting information about jobs that are: \n  - submitted by all users.\n", false, Log, "bacct"},
		{"history", "ClusterId = 12\nProcId = 0\nQDate = 1710237781\n", false, Unknown, "history of HTCondor"},
		{"h.txt", " ID     OWNER          SUBMITTED   RUN_TIME     ST COMPLETED   CMD\n", false, Log, "condor_history"},
		{"job.log", "000 (012.000.000) 2024-03-12 10:03:01 Job submitted from host: <10.0.0.1>\n", false, Log, "event log of a job of HTCondor"},
		{"pods.json", "{\n \"apiVersion\": \"v1\",\n \"items\": [],\n \"kind\": \"List\"\n}\n", false, Log, "JSON of Kubernetes"},
		{"h.log", "\nJob <12>, User <ada>, Project <default>, Command <train>\n", false, Log, "bhist of LSF"},
		{"b.txt", "JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST\n12      ada     RUN   normal     h           n1\n", false, Log, "bjobs or bhist"},
		{"history.json", "[\n{\n  \"ClusterId\": 12,\n  \"QDate\": 1710237781\n}\n]\n", false, Log, "history of HTCondor"},
		{"q.txt", "Job id            Name             User              Time Use S Queue\n---- ---- ----\n", false, Log, "qstat of PBS"},
		{"q", "Job Id: 12.server\n    Job_Name = train\n    Job_Owner = ada@h\n", false, Unknown, "qstat of PBS"},
		{"q", "job-ID  prior   name       user         state submit/start at     queue\n", false, Unknown, "qstat of Grid Engine"},
		{"s.txt", "             JOBID PARTITION     NAME     USER ST       TIME\n", false, Log, "squeue -r -o"},
		{"s.json", "{\n \"meta\": {\"plugin\": {\"type\": \"openapi\"}},\n \"jobs\": []\n}\n", false, Log, ""},
		{"sacct", "{\"jobs\": [{\"job_id\": 1, \"time\": {\"submission\": 1700000000}}]}", false, Log, ""},
		{"s.json", "{\"jobs\": [{\"job_id\": 1, \"job_state\": [\"RUNNING\"]}]}", false, Log, "JSON of squeue or scontrol"},
		{"q.txt", "JobId=12 JobName=train\n   UserId=ada(5) GroupId=x(1)\n", false, Log, "jobs that have ended"},
		{"slurm.conf", "# a comment\nClusterName = c\nNodeName=n1 CPUs=4\n", false, Unknown, "--from-slurm FILE"},
		{"jobs.txt", "12_3|ada|main|2026-01-01T00:00:00|2026-01-01T00:00:01\n", false, Log, "without --noheader"},
		{"jobs.tgz", "jobs.csv\x00" + strings.Repeat("0", 248) + "ustar\x0000", false, Unknown, "a tar archive"},
		{"pods.yaml", "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\nkind: List\n", false, Unknown, "YAML of Kubernetes"},
		{"jobs.yaml", "jobs:\n- account: p\n  job_id: 1\nmeta:\n  plugin:\n    type: openapi\n", false, Unknown, "in place of --yaml"},
		{"jobs.jsonl", "{\"job\":1,\"submit\":0}\n{\"job\":2,\"submit\":3}\n", false, Unknown, "lines of JSON"},
		{"train.ipynb", "{\"cells\": [{\"cell_type\": \"code\"}]}", false, Unknown, "nbconvert"},
		{"train.log", "import torch\nfor epoch in range(3):\n    pass\n", false, Program, ""},
		{"clusters.csv", "submit,duration,cpus,ClusterName\n0,60,4,a\n", false, Log, ""},
		{"s.txt", "JobID           JobName  Partition\n------------ ---------- ----------\n1  a  b\n", false, Log, "sacct prints without --parsable2"},
	} {
		if got := kindOf(c.name, []byte(c.text), c.executable); got != c.want {
			t.Errorf("%s with %q is %d, want %d", c.name, c.text, got, c.want)
		}
		if got := otherKind([]byte(c.text)); !strings.Contains(got, c.other) || (got == "") != (c.other == "") {
			t.Errorf("%s with %q is another log: %q, want %q", c.name, c.text, got, c.other)
		}
	}
}

// TestLogsOfOthers inspects logs of clusters as their tools write them.
func TestLogsOfOthers(t *testing.T) {
	for name, c := range map[string]struct {
		text, arguments, left, malformed string
		jobs                             int
	}{
		"milliseconds": {"creationTimestamp,startTime,completionTime,cpus\n1710237781000,1710237790000,1710238000000,4\n1710237791000,,1710237999000,4\n",
			`unit = "1ms"`, "jobs that never started (1)", "", 1},
		"microseconds": {"submitted_at,duration,cpus\n1710237781000000,60000000,4\n", `unit = "1us"`, "", "", 1},
		"dates of Kubernetes": {"metadata.name,metadata.creationTimestamp,status.startTime,status.completionTime,cpus\n" +
			"a,2024-03-12T10:03:01Z,2024-03-12T10:03:05Z,2024-03-12T10:13:05Z,2\nb,2024-03-12T10:03:02Z,<none>,<none>,2\n",
			`arrival = "metadata.creationTimestamp"`, "jobs that never started (1)", "", 1},
		"a run time without a start": {"submit,start,elapsed,cpus\n0,5,60,2\n1,,,2\n2,7,,2\n", `run_time = "elapsed"`,
			"jobs that never started (1) or have not ended (1)", "", 1},
		"seconds": {"submit,duration,cpus\n1710237781,60,4\n", `arrival = "submit"`, "", "", 1},
	} {
		l, err := inspect(t, "jobs.csv", c.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		arguments := strings.Join(strings.Fields(strings.Join(l.arguments(), " | ")), " ")
		if !strings.Contains(arguments, c.arguments) || (l.Unit > 0) != strings.Contains(c.arguments, "unit") || !strings.HasPrefix(l.Left, c.left) ||
			l.Malformed != c.malformed || l.Jobs != c.jobs {
			t.Errorf("%s: %s; left %q, malformed %q, %d jobs", name, arguments, l.Left, l.Malformed, l.Jobs)
		}
	}
}

// TestBinaryKinds names the kind of binary files with tables that other programs write.
func TestBinaryKinds(t *testing.T) {
	for head, want := range map[string]string{
		"PK\x03\x04....xl/worksheets/sheet1.xml": "a workbook of a spreadsheet", "\xd0\xcf\x11\xe0": "a workbook of a spreadsheet",
		"PK\x03\x04....jobs.csv": "", "SQLite format 3\x00": "a database of SQLite", "PAR1": "a file of Parquet", "submit,run\n": "",
	} {
		if got := binaryKind([]byte(head)); got != want {
			t.Errorf("%q is %q, want %q", head, got, want)
		}
	}
}

// TestNamesOfColumns finds the properties of jobs by common names of columns.
func TestNamesOfColumns(t *testing.T) {
	for name, want := range map[string]string{
		"Submitted On": "arrival", "time_submit": "arrival", "time_start": "start", "time_end": "end", "cpus_req": "threads", "gpus_req": "gpus",
		"Started at (UTC)": "start", "finish_ts": "end", "Completed Date": "end", "ncpu": "threads", "Core Count": "threads", "Job Number": "job",
		"submit_time": "arrival", "time": "", "date": "", "on": "", "user time": "", "cpu time": "", "total_cpu": "", "gpu_type": "", "node_time": "",
		"mem_time": "", "wait time": "", "requested_number_of_resources": "threads", "starting_time": "start", "proc_alloc": "threads",
	} {
		got := ""
		if p, _ := propertyOf(name); p != nil {
			got = p.name
		}
		if got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

// TestJSONOfSacct inspects a log in the JSON of sacct, whatever its name.
func TestJSONOfSacct(t *testing.T) {
	const text = `{"jobs": [{"job_id": 7, "user": "ada", "partition": "main", "allocation_nodes": 1, "state": {"current": ["COMPLETED"]}, "required": {"CPUs": 4},
 "time": {"submission": 1700000000, "eligible": 1700000000, "start": 1700000010, "end": 1700000070, "elapsed": 60, "limit": {"set": true, "infinite": false, "number": 10}},
 "tres": {"allocated": [{"type": "cpu", "name": "", "count": 8}], "requested": [{"type": "node", "name": "", "count": 1}]}}], "meta": {"plugin": {}}}`
	for _, name := range []string{"jobs.json", "jobs.txt", "history"} {
		l, err := inspect(t, name, text)
		if err != nil || l.Jobs != 1 || !l.Requested || l.Format.Name != "sacct" || l.Greatest.Cores != 8 {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
		if said := strings.Join(l.arguments(), " "); !strings.Contains(said, `format = "sacct"`) {
			t.Errorf("%s: %s", name, said)
		}
	}
	if _, err := inspect(t, "jobs.json", text[:len(text)-60]); err == nil || !strings.Contains(err.Error(), "it was cut off") {
		t.Errorf("the error is %v", err)
	}
}

// TestCurrentJobs names lists of current jobs, which have no times of their ends.
func TestCurrentJobs(t *testing.T) {
	for head, want := range map[string]string{
		"-- Schedd: h : <1.2.3.4:9618?...\n ID      OWNER            SUBMITTED     RUN_TIME ST PRI SIZE CMD\n": "condor_q",
		"OWNER BATCH_NAME      SUBMITTED   DONE   RUN    IDLE  TOTAL JOB_IDS\n":                                "condor_q",
		"Job: 12.pbs01\n\n03/01/2025 10:00:00  S    Job Queued at request of u1@h, owner = u1@h\n":             "tracejob",
		"{\"COMMAND\":\"bjobs\",\"JOBS\":1,\"RECORDS\":[]}\n":                                                  "JSON of bjobs",
		"Job id    S User     Duration   System message\n--------- - --------\n":                               "oarstat",
		"       JOBID USER     NAME       ST NTASKS NNODES     TIME INFO\n":                                    "flux jobs",
		"NAME      READY   STATUS      RESTARTS   AGE\ntrain-0   0/1     Completed   0          10m\n":         "kubectl get",
	} {
		if got := otherKind([]byte(head)); !strings.Contains(got, want) {
			t.Errorf("%q: %q, want %q", head, got, want)
		}
	}
}
