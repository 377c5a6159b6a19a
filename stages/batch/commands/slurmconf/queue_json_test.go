package slurmconf

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A queue in JSON gives the same jobs as scontrol show job, in the forms of several versions of Slurm.
func TestQueueInJSON(t *testing.T) {
	const text = `JobId=7 JobName=a
   UserId=ada(5) GroupId=x(1)
   Priority=9 Nice=0 Account=lab QOS=normal
   JobState=RUNNING Reason=None Dependency=(null)
   Requeue=1 RunTime=00:01:40 TimeLimit=1-01:30:00 TimeMin=N/A
   SubmitTime=1700000000 EligibleTime=1700000000 StartTime=1700000100
   Partition=main NumNodes=1 NumCPUs=16 NumTasks=8 OverSubscribe=OK
   ReqTRES=cpu=8,mem=120000M,node=1,billing=80,gres/gpu=8 AllocTRES=cpu=16,mem=120000M,node=1,billing=80,gres/gpu=8
   MinMemoryCPU=15000M Features=(null) TresPerNode=gres:gpu:8

JobId=8 ArrayJobId=8 ArrayTaskId=2-4%1 ArrayTaskThrottle=1 JobName=a
   UserId=bob(6) GroupId=x(1)
   Priority=5 Nice=-3 Account=lab QOS=high
   JobState=PENDING Reason=Priority Dependency=afterok:7(unfulfilled)
   Requeue=0 TimeLimit=UNLIMITED
   SubmitTime=1700000010 EligibleTime=1700009000 StartTime=Unknown
   Partition=main,long NumNodes=2-4 NumCPUs=4 NumTasks=4 OverSubscribe=NO
   MinMemoryNode=4000M Features=a&b Licenses=matlab:1 TresPerTask=gres/gpu:a100:1 Reservation=course

JobId=9 JobName=a
   UserId=bob(6) GroupId=x(1)
   Priority=0 Nice=0 Account=lab QOS=high
   JobState=PENDING Reason=launch_failed_requeued_held Dependency=(null)
   SubmitTime=1700000020 EligibleTime=1700000020 StartTime=Unknown
   Partition=main NumNodes=1-1 NumCPUs=4

JobId=10 JobName=a
   UserId=bob(6) GroupId=x(1)
   Priority=1 Nice=0 Account=lab QOS=high
   JobState=COMPLETING Reason=None Dependency=(null)
   SubmitTime=1700000020 EligibleTime=1700000020 StartTime=1700000030
   Partition=main NumNodes=1 NumCPUs=4

JobId=11 ArrayJobId=8 ArrayTaskId=1 JobName=a
   UserId=bob(6) GroupId=x(1)
   Priority=5 Nice=-3 Account=lab QOS=high
   JobState=CONFIGURING Reason=None Dependency=(null)
   TimeLimit=00:10:00
   SubmitTime=1700000010 EligibleTime=1700000010 StartTime=1700000150
   Partition=main NumNodes=2 NumCPUs=4 OverSubscribe=USER
`
	// plain has numbers as 21.08 prints them, and its states as texts. Later versions have objects and lists.
	const plain = `{"meta": {}, "errors": [], %s
"jobs": [
{"job_id": 7, "array_job_id": 0, "array_task_id": null, "array_task_string": "", "array_max_tasks": 0, "user_name": "ada", "user_id": 5,
 "account": "lab", "qos": "normal", "priority": 9, "nice": null, "job_state": "RUNNING", "state_reason": "None", "state_description": "",
 "dependency": "", "requeue": true, "time_limit": 1530, "time_minimum": 0, "deadline": 0, "submit_time": 1700000000, "eligible_time": 1700000000,
 "start_time": 1700000100, "end_time": 1700091900, "partition": "main", "node_count": 1, "max_nodes": 0, "cpus": 16, "tasks": 8, "shared": null,
 "tres_req_str": "cpu=8,mem=120000M,node=1,billing=80,gres\/gpu=8", "tres_alloc_str": "cpu=16,mem=120000M,node=1,billing=80,gres\/gpu=8",
 "memory_per_cpu": 15000, "memory_per_node": null, "features": "", "tres_per_node": "gres:gpu:8", "core_spec": 65534, "het_job_id": 0,
 "minimum_switches": 0, "contiguous": false, "hold": false, "billable_tres": 80.0, "name": "TimeLimit=3 \" \\ x", "last_sched_evaluation": 1700000200},
{"job_id": 8, "array_job_id": 8, "array_task_id": null, "array_task_string": "2-4", "array_max_tasks": 1, "user_name": "bob",
 "account": "lab", "qos": "high", "priority": 5, "nice": -3, "job_state": "PENDING", "state_reason": "Priority", "dependency": "afterok:7(unfulfilled)",
 "requeue": false, "time_limit": 4294967295, "submit_time": 1700000010, "eligible_time": 1700009000, "start_time": 0, "partition": "main,long",
 "node_count": 2, "max_nodes": 4, "cpus": 4, "tasks": 4, "shared": "none", "memory_per_cpu": null, "memory_per_node": 4000, "features": "a&b",
 "licenses": "matlab:1", "tres_per_task": "gres:gpu:a100:1", "resv_name": "course"},
{"job_id": 9, "user_name": "bob", "account": "lab", "qos": "high", "priority": 0, "job_state": "PENDING", "state_reason": "JobHeldAdmin",
 "state_description": "launch failed requeued held", "submit_time": 1700000020, "eligible_time": 1700000020, "start_time": 0, "partition": "main",
 "node_count": 1, "max_nodes": 0, "cpus": 4, "time_limit": null},
{"job_id": 10, "user_name": "bob", "account": "lab", "qos": "high", "priority": 1, "job_state": "COMPLETING", "submit_time": 1700000020,
 "eligible_time": 1700000020, "start_time": 1700000030, "partition": "main", "node_count": 1, "cpus": 4},
{"job_id": 11, "array_job_id": 8, "array_task_id": 1, "array_max_tasks": 0, "user_name": "bob", "account": "lab", "qos": "high", "priority": 5,
 "nice": -3, "job_state": "CONFIGURING", "state_reason": "None", "submit_time": 1700000010, "eligible_time": 1700000010, "start_time": 1700000150,
 "time_limit": 10, "partition": "main", "node_count": 2, "cpus": 4, "shared": "user"}
]}
`
	object := func(n string) string { return `{"set": true, "infinite": false, "number": ` + n + `}` }
	pairs := []string{`"RUNNING"`, `["RUNNING"]`, `"COMPLETING"`, `["COMPLETED", "COMPLETING", "REQUEUED"]`, `"CONFIGURING"`, `["RUNNING", "CONFIGURING", "NEWER_FLAG"]`,
		`"job_state": "PENDING"`, `"job_state": ["PENDING", "LAUNCH_FAILED"]`, `4294967295`, `{"set": false, "infinite": true, "number": 0}`,
		`: null`, `: {"set": false, "infinite": false, "number": 0}`, `"shared": "none"`, `"shared": [], "exclusive": ["true"], "oversubscribe": false`,
		`"shared": "user"`, `"shared": ["user"]`, `"shared": null`, `"shared": [], "exclusive": [], "oversubscribe": true`, `"gres:gpu`, `"gres/gpu`}
	for key, values := range map[string]string{"submit_time": "1700000000 1700000010 1700000020", "start_time": "1700000100 1700000030 1700000150 0",
		"cpus": "16 4", "node_count": "1 2", "max_nodes": "0 4", "priority": "9 5 1 0", "array_job_id": "0 8", "time_limit": "1530 10",
		"memory_per_cpu": "15000", "memory_per_node": "4000", "array_max_tasks": "0 1", "tasks": "8 4", "array_task_id": "1", "eligible_time": "1700009000 1700000010"} {
		for n := range strings.FieldsSeq(values) {
			pairs = append(pairs, fmt.Sprintf("%q: %s,", key, n), fmt.Sprintf("%q: %s,", key, object(n)))
		}
	}
	newer := strings.NewReplacer(pairs...).Replace(plain)
	want, said, err := ReadQueue("q", strings.NewReader(text))
	if err != nil || len(want.Jobs) != 5 || len(want.Without) != 1 || want.At.Seconds() != 1700000200 {
		t.Fatalf("the text: %+v, %q, %v", want, said, err)
	}
	for name, json := range map[string]string{"21.08": fmt.Sprintf(plain, ""), "24.11": fmt.Sprintf(newer, `"last_update": `+object("1700000200")+","),
		"in one line": strings.ReplaceAll(fmt.Sprintf(plain, ""), "\n", ""), "marked": "\ufeff" + fmt.Sprintf(plain, "")} {
		got, notes, err := ReadQueue("q", strings.NewReader(json))
		notes = slices.DeleteFunc(notes, func(s string) bool { return strings.Contains(s, "has no last_update") })
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
		if d := cmp.Diff(said, notes); d != "" {
			t.Errorf("%s: notes %s", name, d)
		}
	}
	_, notes, err := ReadQueue("q", strings.NewReader(strings.Replace(fmt.Sprintf(plain, ""), `"cpus": 4, "tasks"`, `"cpus": -1, "mystery": 3, "deadline": 1700003000, "tasks"`, 1)))
	all := strings.Join(notes, "\n")
	for _, part := range []string{"q:10: the job 8 has \"-1\" CPUs: left out", "the key mystery of JSON is not known", "Deadline: jobs are not removed",
		"this JSON has no last_update"} {
		if err != nil || !strings.Contains(all, part) {
			t.Errorf("the notes lack %q: %s, %v", part, all, err)
		}
	}
}
