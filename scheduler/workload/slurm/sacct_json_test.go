package slurm

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// jsonNew is a job as Slurm 24.11 prints it, and jsonOld as Slurm 21.08 does.
const (
	jsonNew = `{"job_id": 102, "array": {"job_id": 100, "limits": {"max": {"running": {"tasks": 0}}}, "task_id": {"set": true, "infinite": false, "number": 2}, "task": ""},
  "account": "bio", "cluster": "alpha", "user": "ada", "partition": "gpu", "qos": "high", "allocation_nodes": 2, "name": "x",
  "association": {"account": "bio", "cluster": "alpha", "partition": "", "user": "ada", "id": 7}, "constraints": "[a|b]", "licenses": "matlab:1", "submit_line": "sbatch -n 8 job.sh",
  "het": {"job_id": 0, "job_offset": {"set": false, "infinite": false, "number": 0}},
  "exit_code": {"status": ["SUCCESS"], "return_code": {"set": true, "infinite": false, "number": 0}},
  "required": {"CPUs": 8, "memory_per_cpu": {"set": false, "infinite": false, "number": 0}, "memory_per_node": {"set": true, "infinite": false, "number": 8000}},
  "reservation": {"id": 3, "name": "course"}, "state": {"current": ["COMPLETED"], "reason": "None"},
  "time": {"elapsed": 500, "eligible": 1700000010, "end": 1700000560, "start": 1700000050, "submission": 1700000000, "suspended": 10,
    "limit": {"set": true, "infinite": false, "number": 60}, "system": {"seconds": 0, "microseconds": 0}},
  "tres": {"allocated": [{"type": "cpu", "name": "", "id": 1, "count": 10}, {"type": "energy", "name": "", "id": 3, "count": -2},
      {"type": "gres", "name": "gpu:a100", "id": 1001, "count": 2}],
    "requested": [{"type": "cpu", "name": "", "id": 1, "count": 8}, {"type": "mem", "name": "", "id": 2, "count": 16000},
      {"type": "node", "name": "", "id": 4, "count": 2}, {"type": "gres", "name": "gpu", "id": 1002, "count": 2}]}}`
	jsonOld = `{"job_id": 7, "array": {"job_id": 0, "limits": {"max": {"running": {"tasks": 0}}}, "task": null, "task_id": null},
  "account": "bio", "cluster": "alpha", "user": null, "partition": "main", "qos": "normal", "allocation_nodes": 1, "constraints": null,
  "association": {"account": "bio", "cluster": "alpha", "partition": null, "user": "bob"}, "het": {"job_id": 0, "job_offset": null},
  "required": {"CPUs": 4, "memory": 4000}, "reservation": {"id": 0, "name": 0}, "state": {"current": "TIMEOUT", "reason": "None"},
  "time": {"elapsed": 60, "eligible": 1700000100, "end": 1700000190, "start": 1700000100, "submission": 1700000100, "suspended": 0, "limit": 4294967295},
  "tres": {"allocated": [{"type": "cpu", "name": null, "id": 1, "count": 4}], "requested": [{"type": "cpu", "name": null, "id": 1, "count": 4},
      {"type": "mem", "name": null, "id": 2, "count": 4000}, {"type": "node", "name": null, "id": 4, "count": 1}]}}`
)

// eachJob returns the rows as "line: column=value", without empty values, and the errors.
func eachJob(text string, lenient bool) (rows []string, wrong string) {
	var columns, all []string
	skipped, err := EachJob(textfile.Table{Separator: '|'}, "f", strings.NewReader(text), lenient,
		func(c []string) error { columns = slices.Clone(c); return nil },
		func(line int, fields []string) error {
			out := fmt.Sprint(line, ":")
			for i, f := range fields {
				if f != "" {
					out += " " + columns[i] + "=" + f
				}
			}
			rows = append(rows, out)
			return nil
		})
	for _, e := range append(skipped, err) {
		if e != nil {
			all = append(all, e.Error())
		}
	}
	return rows, strings.Join(all, "\n")
}

// TestEachJob reads the JSON of several versions of Slurm.
func TestEachJob(t *testing.T) {
	const (
		newRow = " JobID=100_2 User=ada Account=bio Cluster=alpha Partition=gpu QOS=high Submit=1700000000 Eligible=1700000010 Start=1700000050 " +
			"End=1700000560 ElapsedRaw=500 Suspended=10 TimelimitRaw=60 ReqCPUS=8 AllocCPUS=10 NNodes=2 ReqNodes=2 ReqMem=16000M " +
			"ReqTRES=cpu=8,mem=16000M,node=2,gres/gpu=2 AllocTRES=cpu=10,gres/gpu:a100=2 State=COMPLETED Constraints=[a|b] Reservation=course Licenses=matlab:1 SubmitLine=sbatch -n 8 job.sh"
		oldRow = " JobID=7 User=bob Account=bio Cluster=alpha Partition=main QOS=normal Submit=1700000100 Eligible=1700000100 Start=1700000130 " +
			"End=1700000190 ElapsedRaw=60 Suspended=0 TimelimitRaw=UNLIMITED ReqCPUS=4 AllocCPUS=4 NNodes=1 ReqNodes=1 ReqMem=4000M " +
			"ReqTRES=cpu=4,mem=4000M,node=1 AllocTRES=cpu=4 State=TIMEOUT"
	)
	file := "{\n\"meta\": {\"plugin\": {\"type\": \"\"}},\n\"errors\": [],\n\"jobs\": [\n" + jsonOld + ",\n" + jsonNew + "\n], \"warnings\": []}\n"
	for _, c := range []struct{ name, text, want string }{
		{"an object", file, "5:" + oldRow + "; 12:" + newRow},
		{"a list", "[" + jsonNew + "]", "1:" + newRow},
		{"in one line", strings.ReplaceAll(file, "\n", ""), "1:" + oldRow + "; 1:" + newRow},
		{"two files", file + "{\"jobs\": [" + jsonOld + "]}", "5:" + oldRow + "; 12:" + newRow + "; 26:" + oldRow},
		{"marked", "\ufeff\n {\"jobs\": [\n]}", ""},
		{"text", "JobID|User\n1|ada\n", "2: JobID=1 User=ada"},
	} {
		rows, wrong := eachJob(c.text, false)
		if got := strings.Join(rows, "; "); got != c.want || wrong != "" {
			t.Errorf("%s: %s\nwant %s\n%s", c.name, got, c.want, wrong)
		}
	}
}

// TestValuesInJSON reads values in several forms, and refuses others with the job and the key.
func TestValuesInJSON(t *testing.T) {
	for _, c := range []struct{ old, new, want, wrong string }{
		{`"task_id": {"set": true, "infinite": false, "number": 2}, "task": ""`, `"task_id": {"set": false, "infinite": false, "number": 0}, "task": "3-9%2"`, "JobID=100_[3-9%2] ", ""},
		{`"task_id": {"set": true, "infinite": false, "number": 2}`, `"task_id": 4294967294`, "JobID=102 ", ""},
		{`"array": {"job_id": 100`, `"array": {"job_id": 0`, "JobID=102 ", ""},
		{`"array": {"job_id": 100`, `"het": {"job_id": 90, "job_offset": {"set": true, "number": 1}}, "array": {"job_id": 0`, "JobID=102 ", ""}, // the second het counts
		{`"limit": {"set": true, "infinite": false, "number": 60}`, `"limit": {"set": false, "infinite": true, "number": 0}`, "TimelimitRaw=UNLIMITED ", ""},
		{`"limit": {"set": true, "infinite": false, "number": 60}`, `"limit": "Infinity"`, "TimelimitRaw=UNLIMITED ", ""},
		{`"limit": {"set": true, "infinite": false, "number": 60}`, `"limit": {"set": false, "infinite": false, "number": 0}`, "TimelimitRaw=Partition_Limit ", ""},
		{`"limit": {"set": true, "infinite": false, "number": 60}`, `"limit": 90`, "TimelimitRaw=90 ", ""},
		{`"eligible": 1700000010`, `"eligible": 4294967295`, "Eligible=Unknown ", ""},
		{`["COMPLETED"]`, `["PENDING", "REQUEUED"]`, "State=REQUEUED ", ""},
		{`"start": 1700000050`, `"start": 1700000010`, "Start=1700000050 ", ""}, // by the end and the run time
		{`"end": 1700000560`, `"end": 0`, "End=Unknown ", ""},
		{`"type": "mem"`, `"type": "vmem"`, "ReqMem=8000Mn ", ""},
		{`"submit_line": "sbatch -n 8 job.sh"`, `"submit_line": "sbatch --exclusive job.sh", "steps": [{"step": {"id": "102.0"}, "job_id": 103, ` +
			`"state": ["COMPLETED"], "time": {"start": 1700000050, "end": 1700000560}, "tres": {"allocated": []}}]`, "SubmitLine=sbatch --exclusive job.sh", ""},
		{`"limit": {"set": true, "infinite": false, "number": 60}`, `"limit": "soon"`, "", `f:1: job 100_2: the value of the key time.limit is not understood: "soon"`},
		{`"end": 1700000560`, `"end": 1.5`, "", `f:1: job 100_2: the value of the key time.end is not understood: 1.5`},
		{`"count": 10`, `"count": [1]`, "", `the value of the key tres.allocated.count is not understood: [1]`},
		{`"user": "ada"`, `"user": {"name": "ada"}`, "", `f:1: job 100_2: the value of the key user is not understood: {"name": "ada"}`},
		{`{"current": ["COMPLETED"]`, `{"current": 3`, "", `the value of the key state.current is not understood: 3`},
		{`"reservation": {"id": 3, "name": "course"}`, `"reservation": {"id": 3, "name": 77}`, "", "the key reservation.name has no text in this version of Slurm: print the log with  sacct --parsable2"},
	} {
		text := strings.Replace(jsonNew, c.old, c.new, 1)
		if text == jsonNew {
			t.Fatalf("%q is not in the job", c.old)
		}
		rows, wrong := eachJob("{\"jobs\": ["+text+"]}", false)
		if got := strings.Join(rows, "; "); len(rows) > 1 || !strings.Contains(got, c.want) || !strings.Contains(wrong, c.wrong) || (wrong == "") != (c.wrong == "") {
			t.Errorf("%s: %s, %s", c.new, got, wrong)
		}
	}
	never := strings.NewReplacer(`"allocation_nodes": 1`, `"allocation_nodes": 0`, `"elapsed": 60`, `"elapsed": 0`, `"allocated": [{"type": "cpu", "name": null, "id": 1, "count": 4}]`,
		`"allocated": []`, `"TIMEOUT"`, `"CANCELLED"`).Replace(jsonOld)
	if rows, wrong := eachJob("["+never+"]", false); len(rows) != 1 || !strings.Contains(rows[0], "Start=Unknown End=1700000190") || wrong != "" {
		t.Errorf("a job that never started: %q, %s", rows, wrong)
	}
	unsized := strings.Replace(jsonOld, `"type": "mem"`, `"type": "billing"`, 1)
	if rows, wrong := eachJob("["+unsized+"]", false); len(rows) != 0 || !strings.Contains(wrong, "f:1: job 7: the key required.memory does not say whether each CPU or each node") {
		t.Errorf("an ambiguous memory: %q, %s", rows, wrong)
	}
}

// TestDamagedJSON refuses files that are cut off, mixed, or not of sacct.
func TestDamagedJSON(t *testing.T) {
	file := "{\"jobs\": [\n" + jsonOld + ",\n" + jsonNew + "\n]}\n"
	for _, c := range []struct {
		name, text string
		rows       int
		wrong      string
	}{
		{"cut off within a job", file[:len(file)-100], 1, "f:21: the file ends within the JSON: it was cut off. Print it again"},
		{"cut off behind a job", file[:len(file)-3], 2, "the file ends within the JSON"},
		{"other text", file + "JobID|User\n1|ada\n", 2, "f:23: other text follows the JSON: give each log in its own file"},
		{"a letter", strings.Replace(file, `"job_id": 102`, `"job_id": x102`, 1), 1, "f:9: the value that begins here is not JSON: invalid character 'x'"},
		{"squeue", `{"jobs": [{"job_id": 1, "job_state": ["RUNNING"]}]}`, 0, "f:1: it is JSON of squeue or scontrol, the current jobs"},
		{"another job", `{"jobs": [{"job_id": 1, "time": {}}]}`, 0, `a job has no key "state": print it again`},
		{"nodes", `{"nodes": []}`, 0, `it has no list of jobs with the name "jobs": print a log with  sacct -a -X -D --json, and other tables of Slurm without --json`},
		{"no list", `{"jobs": 3}`, 0, "its jobs are not a list"},
		{"a number in the list", `[1]`, 0, "a job is not an object"},
		{"errors", `{"jobs": [], "errors": [{"description": "Unable to connect", "error": ""}]}`, 0, "sacct has printed an error: Unable to connect. Print it again"},
	} {
		for _, lenient := range []bool{false, true} {
			rows, wrong := eachJob(c.text, lenient)
			if len(rows) != c.rows || !strings.Contains(wrong, c.wrong) {
				t.Errorf("%s: %d rows, %s; want %d, %s", c.name, len(rows), wrong, c.rows, c.wrong)
			}
		}
	}
	many := "[" + strings.TrimSuffix(strings.Repeat(strings.Replace(jsonOld, `"CPUs": 4`, `"CPUs": "four"`, 1)+",\n", 30), ",\n") + "]"
	if _, wrong := eachJob(many, false); strings.Count(wrong, "required.CPUs") != textfile.MaxErrors {
		t.Errorf("mistakes: %s", wrong)
	}
	if _, wrong := eachJob(many, true); strings.Count(wrong, "required.CPUs") != 30 {
		t.Errorf("all mistakes: %s", wrong)
	}
}
