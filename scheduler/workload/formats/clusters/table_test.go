package clusters

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// readJobs reads a text in a format, leniently, and returns a line for each job.
func readJobs(t *testing.T, format, text string, args map[string]any) (lines []string, trace workload.Trace) {
	t.Helper()
	trace, err := formats.Find(format).Read("log", strings.NewReader(text), formats.Options{Lenient: true, Args: args})
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range trace.Jobs {
		run := "?"
		if trace.Timed(i) {
			run = trace.RunTimes[i].String()
		}
		line := j.Name + " " + j.Class + " at " + j.Arrival.String() + " for " + run + ", asked " + j.Predicted.String() +
			", " +
			j.Demand().String()
		if j.User != "" {
			line += ", of " + j.User
		}
		lines = append(lines, line)
	}
	return lines, trace
}

func check(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func columnsOf(pairs ...string) []schema.Setting {
	var list []schema.Setting
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, schema.Setting{Name: pairs[i], Value: pairs[i+1]})
	}
	return list
}

func TestAnyTableByMapping(t *testing.T) {
	text := "id;when;took;cards;who;state;kind\n" +
		"a;2021-03-01 10:00:00;1:00:00;2;ann;DONE;resnet\n" +
		"b;2021-03-01 10:01:30;90s;16;bob;DONE;bert\n" +
		"c;2021-03-01 10:02:00;5;1;bob;KILLED;bert\n" +
		"d;2021-03-01 10:03:00;;1;bob;DONE;bert\n" +
		"e;yesterday;5;1;bob;DONE;bert\n" +
		"f;2021-03-01 10:04:00;5;many;bob;DONE;bert\n" +
		"g;2021-03-01 10:05:00;1-00:00:01;12;;DONE;\n"
	got, trace := readJobs(t, "table", text, map[string]any{
		"separator": ";", "gpus_per_node": 8, "threads_per_gpu": 2, "class": "other",
		"where": columnsOf("state", "DONE|FAILED"),
		"columns": columnsOf("arrival", "when", "run_time", "took", "gpus", "cards", "user", "who", "class", "kind",
			"job", "id"),
	})
	check(t, got,
		"a resnet at 0s for 1h0m0s, asked 0s, 4 threads, 2 GPUs, of ann",
		"b bert at 1m30s for 1m30s, asked 0s, 32 threads, 16 GPUs, over 2 nodes, of bob",
		"g other at 5m0s for 24h0m1s, asked 0s, 24 threads, 12 GPUs, over 2 nodes")
	if trace.Ignored != 1 || len(trace.Skipped) != 3 || len(trace.Assumed) != 1 {
		t.Errorf("ignored %d, skipped %v, assumed %v", trace.Ignored, trace.Skipped, trace.Assumed)
	}
	for i, want := range []string{"log:5: it has no run time", `log:6: when: "yesterday" is neither a number nor a date like 2017-10-03 05:33:33`,
		`log:7: cards "many" is not a number`} {
		if got := trace.Skipped[i].Error(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// What Slurm and others write into columns: lists of resources, zones, days, and the reasons of rows that say too
// little.
func TestOddFields(t *testing.T) {
	text := `"Job Id";"Submitted";"Wall";"Limit";"Resources";"State"
"a;1";"2024-03-31T01:30:00+01:00";"1-02:03:04";"2-00:00:00";"cpu=8,mem=32G,gres/gpu:a100=4";"DONE"
"a2";"2024-03-31T03:30:00+02:00";"02:03:04";"UNLIMITED";"cpu=2,mem=4096M";"DONE"
"a3";"2024-03-31 04:10:00 CET";"90";"";"cpu=1";"DONE"
"a4";"";"90";"100";"cpu=1";"DONE"
"a5";"2024-03-31T05:10:00Z";"--";"100";"cpu=1";"DONE"
"a6";"2024-03-31 05:10:00 UTC";"1h30m";"NOT_SET";"mem=1G";"DONE"
"a7";"2024-03-31T05:10:00Z";"-5";"100";"cpu=1";"DONE"
"a8";"31/03/2024 07:00";"1h";"2h";"cpu=1";"DONE"
"a9";"2024-03-31T08:20:00Z";"10";"20";"cpu=1";"LOST"
`
	got, trace := readJobs(t, "table", text, map[string]any{
		"separator": ";", "where": columnsOf("State", "DONE|FAILED"),
		"columns": columnsOf("job", "Job Id", "arrival", "Submitted", "run_time", "Wall", "requested_time", "Limit",
			"threads", "Resources", "gpus", "Resources", "memory", "Resources"),
	})
	check(t, got,
		"a;1 job at 0s for 26h3m4s, asked 48h0m0s, 8 threads, 4 GPUs, 32GiB",
		"a2 job at 1h0m0s for 2h3m4s, asked 0s, 2 threads, 4GiB",
		"a6 job at 4h40m0s for 1h30m0s, asked 0s, 1 thread, 1GiB",
		"a8 job at 6h30m0s for 1h0m0s, asked 2h0m0s, 1 thread", // no year has 31 months
	)
	reasons := []string{
		`log:4: Submitted: the zone of "2024-03-31 04:10:00 CET" is not known: write it as an offset, like +01:00`,
		"log:5: it has no arrival", "log:6: it has no run time", "log:8: Wall is -5",
	}
	if trace.Ignored != 1 || len(trace.Skipped) != len(reasons) {
		t.Fatalf("%d rows left out, %d unreadable: %v", trace.Ignored, len(trace.Skipped), trace.Skipped)
	}
	for i, want := range reasons {
		if got := trace.Skipped[i].Error(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// squeue prints the least number of nodes of a waiting job, and the tasks of an array in one row unless asked for each
// (-r). In the state of a cancelled job sacct names the user who cancelled it. A table as a spreadsheet in German
// writes it: a byte-order mark, remarks, CRLF, semicolons, decimal commas, and milliseconds since 1970. Ambiguous
// numbers are not read.
func TestSpreadsheets(t *testing.T) {
	text := strings.ReplaceAll("\ufeff"+`# exported by hand
# another remark
Job;Abgabe;Dauer;GPUs
#1;gone
a;1696310000000;"1.234,5";gres/gpu:2
b;1696310000250,0;90,25;gpu:v100:4(IDX:0,2)
c;1696310001000;1,234.5;0
d;1696310001000;1,234;1
e;1696310001000;1;0,1
f;1696310001000;;1
`, "\n", "\r\n")
	got, trace := readJobs(t, "table", text, map[string]any{
		"separator": ";", "unit": time.Millisecond,
		"columns": columnsOf("job", "Job", "arrival", "Abgabe", "run_time", "Dauer", "gpus", "GPUs"),
	})
	check(t, got,
		"a job at 0s for 1.2345s, asked 0s, 2 threads, 2 GPUs",
		"b job at 250ms for 90.25ms, asked 0s, 4 threads, 4 GPUs",
		"c job at 1s for 1.2345s, asked 0s, 1 thread",
	)
	for i, want := range []string{`log:8: Dauer: "1,234" is not a time`, `log:9: GPUs "0,1" may be two GPUs, or a number with a decimal comma`,
		"log:10: it has no run time"} {
		if i >= len(trace.Skipped) || trace.Skipped[i].Error() != want {
			t.Errorf("%v, want %s", trace.Skipped, want)
		}
	}
}

// Seconds since 1970 beside seconds since the start of the log would be a log of decades.
func TestArrivalsOfTwoOrigins(t *testing.T) {
	for log, want := range map[string]string{
		"job,arrival,run_time\n1,1709251200,100\n2,10,200\n":         "the jobs arrive over 54 years: perhaps some times count from 1970",
		"job,arrival,run_time\n1,1709251200,100\n2,1719251200,200\n": "",
	} {
		_, trace := readJobs(t, "table", log, map[string]any{"columns": columnsOf("arrival", "arrival", "run_time", "run_time")})
		if text := strings.Join(trace.Assumed, "; "); want == "" && strings.Contains(text, "years") || !strings.Contains(text, want) {
			t.Errorf("%q: %s, want %q", log, text, want)
		}
	}
}

// Rows of two exports that overlap count once; a job that was started again counts again.
func TestRowsThereTwice(t *testing.T) {
	const head, first, again, other = "JobID|Submit|Start|End|ReqCPUS\n",
		"7|2026-05-01T10:00:00|2026-05-01T10:00:00|2026-05-01T10:01:00|1\n",
		"7|2026-05-01T10:00:00|2026-05-01T10:02:00|2026-05-01T10:03:00|1\n",
		"8|2026-05-01T10:00:00|2026-05-01T09:59:59|2026-05-01T10:00:09|1\n"
	got, trace := readJobs(t, "sacct", head+first+again+other+first+again+other, nil)
	check(t, got,
		"7 job at 0s for 1m0s, asked 0s, 1 thread",
		"7-2 job at 0s for 1m0s, asked 0s, 1 thread",
		"8 job at 0s for 10s, asked 0s, 1 thread")
	said := strings.Join(trace.Assumed, "; ")
	for _, want := range []string{"rows that are there twice (3)", "an earlier job (1)", "start before they arrive, as in line 4,"} {
		if !strings.Contains(said, want) {
			t.Errorf("%s, want %q", said, want)
		}
	}
}

func TestSlurmOddities(t *testing.T) {
	got, trace := readJobs(t, "squeue", `JOBID|USER|PARTITION|SUBMIT_TIME|TIME_LIMIT|CPUS|TRES_PER_NODE|MIN_MEMORY|NODES
201_[1-3%2]|ann|gpu|2026-05-01T10:00:00|2:00:00|8|gres/gpu:a100:2|32G|2-4
202|cy|cpu|2026-05-01T10:03:00|NOT_SET|1|gpu:2|1G|1
`, nil)
	check(t, got, "201_[1-3%2] gpu at 0s for 2h0m0s, asked 2h0m0s, 8 threads, 4 GPUs, 32GiB, over 2 nodes, of ann")
	if len(trace.Skipped) != 1 || !strings.Contains(strings.Join(trace.Assumed, "; "), "of which there are 1: squeue -r") {
		t.Errorf("%v, %v", trace.Skipped, trace.Assumed)
	}
	got, _ = readJobs(t, "sacct", `JobID|Submit|Start|End|ReqCPUS|State
1|2026-05-01T10:00:00|2026-05-01T10:00:00|2026-05-01T10:01:00|1|CANCELLED by 1001
2|2026-05-01T10:00:00|2026-05-01T10:00:00|2026-05-01T10:01:00|1|COMPLETED
`, map[string]any{"where": columnsOf("State", "CANCELLED")})
	check(t, got, "1 job at 0s for 1m0s, asked 0s, 1 thread")
}

func TestTableRefuses(t *testing.T) {
	for _, c := range []struct{ want, text string }{
		{`there is no column "start"; there are a, b`, "a,b\n1,2\n"},
		{`no column has the arrivals`, "a,b\n1,2\n"},
		{`"speed" is not a property of jobs`, "a,b\n1,2\n"},
	} {
		columns := columnsOf("arrival", "start")
		switch {
		case strings.HasPrefix(c.want, "no column"):
			columns = columnsOf("run_time", "b")
		case strings.Contains(c.want, "speed"):
			columns = columnsOf("speed", "b")
		}
		_, err := formats.Find("table").Read("log", strings.NewReader(c.text), formats.Options{Args: map[string]any{"columns": columns}})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestHelios(t *testing.T) {
	got, _ := readJobs(t, "helios", "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"+
		"1,u1,vcA,8,32,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:01:00,2020-04-01 01:01:00,3600,60\n"+
		"2,u2,vcB,16,64,2,FAILED,2020-04-01 00:00:10,2020-04-01 00:01:00,2020-04-01 00:01:30,30,50\n"+
		"3,u2,vcB,1,4,1,CANCELLED,2020-04-01 00:00:10,,,,50\n", nil)
	check(t, got,
		"1 vcA at 0s for 1h0m0s, asked 0s, 32 threads, 8 GPUs, of u1",
		"2 vcB at 10s for 30s, asked 0s, 64 threads, 16 GPUs, over 2 nodes, of u2")
}

func TestPAI(t *testing.T) {
	got, trace := readJobs(t, "pai", "job1,worker,2.0,Terminated,1000.0,1600.0,600.0,29.3,50.0,T4\n"+
		"job1,ps,1.0,Terminated,1000.0,1600.0,150.0,29.3,,\n"+"job2,tensorflow,1.0,Running,2000.0,,600.0,29.3,100.0,V100\n", nil)
	check(t, got,
		"job1-1 worker at 16m40s for 10m0s, asked 0s, 12 threads, 1 GPU",
		"job1-2 ps at 16m40s for 10m0s, asked 0s, 2 threads")
	if len(trace.Skipped) != 0 || len(trace.Assumed) != 3 || trace.Ignored != 1 {
		t.Errorf("skipped %v, assumed %v", trace.Skipped, trace.Assumed)
	}
}

func TestTiresiasAndPollux(t *testing.T) {
	got, _ := readJobs(t, "tiresias", "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"+
		"1,4,0,100,vgg16,120,0\n2,1,5,100,resnet,60,0\n", nil)
	check(t, got,
		"1 vgg16 at 0s for 2m0s, asked 0s, 4 threads, 4 GPUs", "2 resnet at 5s for 1m0s, asked 0s, 1 thread, 1 GPU")
	got, trace := readJobs(t, "pollux", "name,time,application,num_replicas,batch_size\ncifar10-0,107,cifar10,6,2048\n",
		nil)
	check(t, got, "cifar10-0 cifar10 at 1m47s for ?, asked 0s, 6 threads, 6 GPUs")
	if trace.Jobs[0].Batch() != 2048 {
		t.Errorf("batch %d", trace.Jobs[0].Batch())
	}
}

func TestSlurmLogs(t *testing.T) {
	got, trace := readJobs(t, "sacct",
		"JobID|User|Partition|Submit|Start|End|TimelimitRaw|ReqCPUS|ReqMem|AllocTRES|NNodes|State\n"+
			"10|ann|gpu|2024-05-01T08:00:00|2024-05-01T08:10:00|2024-05-01T09:10:00|120|16|4Gn|billing=16,cpu=16,gres/gpu:a100=8,gres/gpu=8,mem=8G,node=2|2|COMPLETED\n"+
			"10.batch|||2024-05-01T08:10:00|2024-05-01T08:10:00|2024-05-01T09:10:00||8|||1|COMPLETED\n"+
			"11|bob|cpu|2024-05-01T08:00:30|Unknown|Unknown|60|4|1000Mc|cpu=4|1|PENDING\n"+
			"12|bob|cpu|2024-05-01T08:01:00|2024-05-01T08:01:00|2024-05-01T08:01:05|Partition_Limit|4|1000Mc|cpu=4|1|COMPLETED\n", nil)
	check(t, got,
		"10 gpu at 0s for 1h0m0s, asked 2h0m0s, 16 threads, 8 GPUs, 8GiB, over 2 nodes, of ann",
		"12 cpu at 1m0s for 5s, asked 0s, 4 threads, 4000MiB, of bob")
	left := "jobs that never started (1) or have not ended (0) are left out"
	if trace.Ignored != 2 || len(trace.Skipped) != 0 || !slices.Contains(trace.Assumed, left) {
		t.Errorf("ignored %d, skipped %v, assumed %v", trace.Ignored, trace.Skipped, trace.Assumed)
	}
	if fmt.Sprint(trace.Waits) != "[10m0s 0s]" {
		t.Errorf("waits %v", trace.Waits)
	}
	got, trace = readJobs(t, "squeue", "JOBID|USER|PARTITION|SUBMIT_TIME|TIME_LIMIT|CPUS|TRES_PER_NODE|MIN_MEMORY|NODES\n"+
		"7|ann|gpu|2024-05-01T08:00:00|1-00:00:00|8|gres:gpu:2|16G|2\n8|bob|gpu|2024-05-01T08:00:01|30:00|1|N/A|1G|1\n", nil)
	check(t, got,
		"7 gpu at 0s for 24h0m0s, asked 24h0m0s, 8 threads, 4 GPUs, 16GiB, over 2 nodes, of ann",
		"8 gpu at 1s for 30m0s, asked 30m0s, 1 thread, 1GiB, of bob")
	if len(trace.Assumed) != 1 {
		t.Errorf("assumed %v", trace.Assumed)
	}
}

// Steps report the memory that a job used: the largest task times the number of tasks, of the step that used most.
func TestMemoryOfSteps(t *testing.T) {
	const head = "JobID|User|Submit|Start|End|ReqCPUS|ReqMem|MaxRSS|NTasks|State\n"
	const ran = "|2024-05-01T08:00:00|2024-05-01T08:10:00|2024-05-01T09:10:00|"
	_, trace := readJobs(t, "sacct", head+
		"10|ann"+ran+"4|8G|||COMPLETED\n10.batch|"+ran+"4||1048576K|1|COMPLETED\n10.0|"+ran+"4||1G|4|COMPLETED\n"+
		"11|ann|2024-05-01T08:00:00|Unknown|Unknown|4|8G|||PENDING\n11.batch|"+ran+"4||7G|1|COMPLETED\n"+
		"12|ann"+ran+"1|1G|||COMPLETED\n12.extern|"+ran+"1|||1|COMPLETED\n"+
		"13|ann"+ran+"2|2Gc|||COMPLETED\n13.batch|"+ran+"2||1.5G||COMPLETED\n", nil)
	want := []workload.MemoryUse{{Requested: 8 << 30, Used: 4 << 30}, {}, {Requested: 4 << 30, Used: 3 << 29}}
	if !slices.Equal(trace.Memory, want) {
		t.Errorf("%v, want %v", trace.Memory, want)
	}
	_, err := formats.Find("sacct").Read("f", strings.NewReader(head+"10|ann"+ran+"4|8G|much||COMPLETED\n"), formats.Options{})
	place(t, err, 2, `MaxRSS: memory "much" is not an amount`)
	_, trace = readJobs(t, "table", "at,run,mem,peak\n0,60,4 GB,1 GB\n0,60,,1 GB\n", map[string]any{"columns": []schema.Setting{
		{Name: "arrival", Value: "at"}, {Name: "run_time", Value: "run"}, {Name: "memory", Value: "mem"},
		{Name: "memory_used", Value: "peak"},
	}})
	if want := []workload.MemoryUse{{Requested: 4 << 30, Used: 1 << 30}, {}}; !slices.Equal(trace.Memory, want) {
		t.Errorf("of a table: %v, want %v", trace.Memory, want)
	}
}

const phillyLog = `[
 {"status": "Pass", "vc": "a1", "jobid": "app_1", "user": "x", "submitted_time": "2017-10-09 07:00:00",
  "attempts": [{"start_time": "2017-10-09 07:01:00", "end_time": "2017-10-09 07:02:00",
    "detail": [{"ip": "m1", "gpus": ["gpu0"]}]},
   {"start_time": "2017-10-09 07:03:00", "end_time": "2017-10-09 07:05:00",
    "detail": [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu0", "gpu1"]}]}]},
 {"status": "Killed", "vc": "a1", "jobid": "app_2", "user": "x", "submitted_time": "2017-10-09 07:00:30", "attempts": []},
 {"status": "Pass", "vc": "b2", "jobid": "app_3", "user": "y", "submitted_time": "None", "attempts": []},
 {"status": "Pass", "vc": 7, "jobid": "app_4"}
]
`

func TestPhilly(t *testing.T) {
	got, trace := readJobs(t, "philly", phillyLog, map[string]any{"threads_per_gpu": 3})
	check(t, got, "app_1 a1 at 0s for 3m0s, asked 0s, 12 threads, 4 GPUs, over 2 nodes, of x")
	want := []string{"log:7: it never ran", "log:8: it has no submitted_time", "log:9: vc is a number, but must be a text"}
	for i := range want {
		if len(trace.Skipped) != 3 || !strings.HasPrefix(trace.Skipped[i].Error(), want[i]) {
			t.Errorf("skipped %v, want %v", trace.Skipped, want)
			break
		}
	}
	got, _ = readJobs(t, "philly", "jobid,submitted_time,duration,num_gpus,vc\nj1,5,60,8,a\n",
		map[string]any{"gpus_per_node": 4})
	check(t, got, "j1 a at 5s for 1m0s, asked 0s, 8 threads, 8 GPUs, over 2 nodes")
	got, _ = readJobs(t, "philly", `[{"jobid": "j1", "vc": "a", "submitted_time": "2017-10-09 07:00:00", "attempts": [
		{"start_time": "2017-10-09 07:01:00", "end_time": "2017-10-09 07:02:00", "detail": [{"gpus": ["gpu0"]}, {"gpus": []}]}]}]`, nil)
	check(t, got, "j1 a at 0s for 1m0s, asked 0s, 1 thread, 1 GPU") // a node without GPUs is not one of its nodes
	for _, broken := range []string{"[", "[{]", `[{"jobid": 1`, "[1, 2]"} {
		if _, err := formats.Find("philly").Read("log", strings.NewReader(broken), formats.Options{}); err == nil {
			t.Errorf("%s is accepted", broken)
		}
	}
}

func TestBatchesStayInTables(t *testing.T) {
	jobs := []scheduler.Job{
		{Name: "a", Class: "c", Threads: 1, Deadline: scheduler.Never, Special: &scheduler.Special{Batch: 128}},
		{Number: 1, Name: "b", Class: "c", Threads: 1, Deadline: scheduler.Never},
	}
	var first, again strings.Builder
	if err := formats.WriteCSV(&first, workload.Trace{Jobs: jobs}); err != nil {
		t.Fatal(err)
	}
	back, err := formats.CSV.Read("file", strings.NewReader(first.String()), formats.Options{})
	if err != nil || back.Jobs[0].Batch() != 128 || back.Jobs[1].Batch() != 0 {
		t.Fatalf("%v, %+v", err, back.Jobs)
	}
	if _ = formats.WriteCSV(&again, back); again.String() != first.String() {
		t.Errorf("%s\nis written again as\n%s", first.String(), again.String())
	}
}

func TestLogWithoutRequestedTimes(t *testing.T) {
	line := func(job, asked string) string {
		return job + " 0 -1 100 4 -1 -1 4 " + asked + " -1 1 1 -1 -1 -1 -1 -1 -1\n"
	}
	_, none := readJobs(t, "swf", line("1", "-1")+line("2", "-1"), nil)
	if none.Jobs[0].Predicted != 0 || none.Jobs[1].Predicted != 0 || len(none.Assumed) != 0 {
		t.Errorf("no job has a requested time: %+v, %v", none.Jobs, none.Assumed)
	}
	_, some := readJobs(t, "swf", line("1", "-1")+line("2", "300"), nil)
	if some.Jobs[0].Predicted != 100*time.Second || len(some.Assumed) != 1 {
		t.Errorf("one job has a requested time: %+v, %v", some.Jobs, some.Assumed)
	}
}

// FuzzLogs checks that no text makes a reader fail otherwise than with an error, and that its
// result is a workload.
func FuzzLogs(f *testing.F) {
	f.Add("philly", phillyLog)
	f.Add("pai", "job1,worker,2.0,Terminated,1000.0,1600.0,600.0,29.3,50.0,T4\n")
	f.Add("sacct", "JobID|Submit|Start|End\n1|2024-05-01T08:00:00|2024-05-01T08:00:00|2024-05-01T08:10:00\n")
	f.Add("tiresias", "job_id,num_gpu,submit_time,duration\n1,4,0,120\n")
	f.Add("helios", "submit_time,duration,gpu_num,node_num\n1e9,1,3,2\n")
	f.Fuzz(func(t *testing.T, format, text string) {
		form := formats.Find(format)
		if form == nil {
			t.Skip("no such format")
		}
		trace, err := form.Read("log", strings.NewReader(text), formats.Options{Lenient: true})
		if err != nil {
			return
		}
		for i := range trace.Jobs {
			if err := trace.Jobs[i].Check(i); err != nil {
				t.Errorf("%v", err)
			}
		}
	})
}

// Percent and plain numbers in one column are read as they stand, and said: those without a sign may be percent too.
func TestPercentBesideNumbers(t *testing.T) {
	for text, want := range map[string]bool{
		"submit,run,gpus\n0,5,50%\n1,5,0\n2,5,100%\n3,5,2\n": true,
		"submit,run,gpus\n0,5,50%\n1,5,0\n2,5,100%\n":        false,
		"submit,run,gpus\n0,5,1\n1,5,0\n2,5,3\n":             false,
	} {
		_, trace := readJobs(t, "table", text, map[string]any{"columns": columnsOf("arrival", "submit", "run_time", "run", "gpus", "gpus")})
		said := strings.Contains(strings.Join(trace.Assumed, "\n"), "gpus has percent, as in line 2, beside plain numbers, as in line 5")
		if said != want || len(trace.Skipped) > 0 {
			t.Errorf("%q: said %v, left out %v", text, trace.Assumed, trace.Skipped)
		}
	}
}

// Pods request thousandths of cores, which are rounded up. A fraction of a GPU counts as a whole GPU. Pods that were
// never scheduled are left out.
func TestOpenb(t *testing.T) {
	text := "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n" +
		"a,11900,1024,1,230,,BE,Running,100,900,110\nb,64000,262144,8,1000,T4|P100,LS,Failed,200,800,200\n" +
		"c,1000,1024,0,0,,LS,Pending,300,400,\nd,500,100,0,0,,LS,Succeeded,400,400,400\n"
	lines, trace := readJobs(t, "openb", text, nil)
	check(t, lines, "a BE at 1m40s for 13m10s, asked 0s, 12 threads, 1 GPU, 1GiB",
		"b LS at 3m20s for 10m0s, asked 0s, 64 threads, 8 GPUs, 256GiB", "d LS at 6m40s for 0s, asked 0s, 1 thread, 100MiB")
	check(t, trace.Assumed, "not used: gpu_spec (jobs get any type of GPU), pod_phase", "jobs that never started (1) or have not ended (0) are left out",
		"jobs that ask for a part of a GPU (1) have the whole one")
	if got := trace.Waits; len(got) != 3 || got[0] != 10*time.Second {
		t.Errorf("waits are %v", got)
	}
}

// Jobs that were started again, free text, and memory with the flag of memory of each core.
func TestSacctAgain(t *testing.T) {
	got, trace := readJobs(t, "sacct", `JobID|JobName|User|Submit|Start|End|ReqCPUS|ReqMem|State
7_1|"a|bob|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T00:00:10|2|2147487648Mn|NODE_FAIL
7_1|"a|bob|2026-01-01T00:01:00|2026-01-01T00:01:00|2026-01-01T00:01:20|2|4Gn|COMPLETED
8|b|c|ada|2026-01-01T00:01:00|2026-01-01T00:01:00|2026-01-01T00:01:20|2|4000Mc|COMPLETED
`, nil)
	check(t, got, "7_1 job at 0s for 10s, asked 0s, 2 threads, 8000MiB, of bob",
		"7_1-2 job at 1m0s for 20s, asked 0s, 2 threads, 4GiB, of bob", "8 job at 1m0s for 20s, asked 0s, 2 threads, 8000MiB, of ada")
	if !strings.Contains(strings.Join(trace.Assumed, "; "), "rows that repeat the number of an earlier job (1)") {
		t.Errorf("assumed is %q", trace.Assumed)
	}
	_, err := formats.Find("sacct").Read("log", strings.NewReader("JobID JobName Submit\n----- ------- ------\n"), formats.Options{})
	if err == nil || !strings.Contains(err.Error(), "--parsable2") {
		t.Errorf("the error is %v", err)
	}
}

// Requested times of numbers are in another unit where most jobs ran much longer, and the option for it is named.
func TestLimitsInAnotherUnit(t *testing.T) {
	for text, want := range map[string]bool{
		"submit,run,limit\n0,1800,60\n1,3600,120\n2,30,60\n": true,
		"submit,run,limit\n0,80,60\n1,70,60\n2,95,60\n":      false, // little longer
		"submit,run,limit\n0,1800,1h\n1,3600,1h\n":           false,
		"submit,run,limit\n0,1800,0:01\n1,3600,0:01\n":       false, // it has a unit
	} {
		_, trace := readJobs(t, "table", text, map[string]any{"columns": columnsOf("arrival", "submit", "run_time", "run", "requested_time", "limit")})
		said := strings.Contains(strings.Join(trace.Assumed, "\n"), `most jobs (2 of 3) ran much longer than limit, which is read in units of 1s: `+
			`for minutes, write  requested_unit = "1m"`)
		if said != want {
			t.Errorf("%q: %v", text, trace.Assumed)
		}
	}
}

// Dates without separators look like numbers, so they are refused.
func TestCompactDatesInTables(t *testing.T) {
	for format, texts := range map[string][2]string{
		"table": {"submit,run\n20260901100000,5\n20260901101500,5\n", "write dates like"},
		"sacct": {"JobID|Submit|Start|End\n1|2609011000|2609011001|2609011030\n", "SLURM_TIME_FORMAT=standard"},
	} {
		args := map[string]any{"unit": time.Millisecond}
		if format == "table" {
			args["columns"] = columnsOf("arrival", "submit", "run_time", "run")
		} else {
			delete(args, "unit")
		}
		_, err := formats.Find(format).Read("log", strings.NewReader(texts[0]), formats.Options{Args: args})
		if err == nil || !strings.Contains(err.Error(), texts[1]) || !strings.Contains(err.Error(), "log:2: ") {
			t.Errorf("%s: %v", format, err)
		}
	}
}
