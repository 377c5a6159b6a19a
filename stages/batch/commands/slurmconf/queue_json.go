package slurmconf

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler/workload/fields"
)

// jsonNames maps the keys of squeue --json and scontrol show job --json to the fields of scontrol show job. Values are
// equal in both, except in jsonFields.
var jsonNames = map[string]string{
	"job_id": "JobId", "array_job_id": "ArrayJobId", "array_task_string": "ArrayTaskId",
	"array_max_tasks": "ArrayTaskThrottle", "het_job_id": "HetJobId", "user_name": "UserId", "account": "Account",
	"partition": "Partition", "qos": "QOS", "job_state": "JobState", "state_reason": "Reason",
	"submit_time": "SubmitTime", "eligible_time": "EligibleTime", "start_time": "StartTime", "time_limit": "TimeLimit",
	"time_minimum": "TimeMin", "deadline": "Deadline", "cpus": "NumCPUs", "node_count": "NumNodes", "tasks": "NumTasks",
	"features": "Features", "prefer": "Prefer", "dependency": "Dependency", "resv_name": "Reservation",
	"priority": "Priority", "nice": "Nice", "required_nodes": "ReqNodeList", "excluded_nodes": "ExcNodeList",
	"licenses": "Licenses", "tres_req_str": "ReqTRES", "tres_alloc_str": "AllocTRES", "tres_per_node": "TresPerNode",
	"tres_per_job": "TresPerJob", "tres_per_task": "TresPerTask", "tres_per_socket": "TresPerSocket",
	"memory_per_tres": "MemPerTres", "memory_per_node": "MinMemoryNode", "memory_per_cpu": "MinMemoryCPU",
	"minimum_switches": "Switches", "core_spec": "CoreSpec", "contiguous": "Contiguous", "requeue": "Requeue",
}

// hiddenStates are flags behind a state that scontrol does not print.
var hiddenStates = []string{"LAUNCH_FAILED", "RECONFIG_FAIL", "POWER_UP_NODE", "UPDATE_DB"}

// noQueue says how to print a queue in place of other JSON.
const noQueue = "this JSON has no list of jobs of squeue: print the queue with  squeue --json  or  scontrol show " +
	"job --json"

// jsonTexts returns a value as texts: a number or text as one, a list as several, and a number that is not set as
// none. Slurm writes numbers plainly, or as an object that says whether they are set.
func jsonTexts(v any) []string {
	switch v := v.(type) {
	case map[string]any:
		if v["infinite"] == true {
			return []string{"UNLIMITED"}
		}
		if v["set"] != true {
			return nil
		}
		return jsonTexts(v["number"])
	case []any:
		var all []string
		for _, one := range v {
			all = append(all, jsonTexts(one)...)
		}
		return all
	case bool:
		return []string{map[bool]string{false: "0", true: "1"}[v]}
	case json.Number:
		switch v {
		case "4294967295", "18446744073709551615":
			return []string{"UNLIMITED"}
		case "4294967294", "18446744073709551614": // no value
			return nil
		}
		return []string{v.String()}
	case string:
		if v != "" {
			return []string{v}
		}
	}
	return nil
}

// jsonFields returns the fields of scontrol for a job in JSON.
func (q *queueReader) jsonFields(job map[string]any) map[string]string {
	f := map[string]string{}
	get := func(key string) string { return strings.Join(jsonTexts(job[key]), ",") }
	for _, key := range slices.Sorted(maps.Keys(job)) {
		if name := jsonNames[key]; name != "" {
			f[name] = get(key)
		} else if !fields.Of("squeue --json").Knows(key) {
			q.leave(fmt.Sprintf("the key %s of JSON is not known, and not used", key))
		}
	}
	zeros := []string{"ArrayJobId", "ArrayTaskThrottle", "HetJobId", "SubmitTime", "EligibleTime", "StartTime",
		"MinMemoryNode", "MinMemoryCPU", "NumTasks", "TimeMin", "Deadline", "Switches", "Contiguous"}
	for _, name := range zeros {
		if f[name] == "0" || f[name] == "UNLIMITED" {
			f[name] = ""
		}
	}
	for _, state := range jsonTexts(job["job_state"]) { // flags such as CONFIGURING are behind the state, and replace it
		if jobStates[state] != "" && !slices.Contains(hiddenStates, state) && f["JobState"] != "COMPLETING" {
			f["JobState"] = state
		}
	}
	f["Reason"] = strings.ReplaceAll(cmp.Or(get("state_description"), f["Reason"]), " ", "_")
	f["UserId"] = cmp.Or(f["UserId"], get("user_id"))
	if id := get("array_task_id"); f["ArrayJobId"] == "" {
		f["ArrayTaskId"] = ""
	} else if id != "" {
		f["ArrayTaskId"] = id
	}
	if get("hold") == "1" {
		f["Priority"] = "0"
	}
	for _, name := range []string{"TimeLimit", "TimeMin"} {
		if n, err := strconv.Atoi(f[name]); err == nil {
			f[name] = fmt.Sprintf("%d-%02d:%02d:00", n/1440, n/60%24, n%60)
		}
	}
	for _, name := range []string{"MinMemoryNode", "MinMemoryCPU"} {
		if f[name] != "" {
			f[name] += "M"
		}
	}
	low, _ := strconv.Atoi(f["NumNodes"])
	if high, _ := strconv.Atoi(get("max_nodes")); high >= low && low > 0 && jobStates[f["JobState"]] == "PENDING" {
		f["NumNodes"] = fmt.Sprintf("%d-%d", low, high)
	}
	if n, err := strconv.Atoi(f["CoreSpec"]); err == nil && n&0x7fff >= 0x7ffe {
		f["CoreSpec"] = ""
	}
	for _, one := range append(jsonTexts(job["shared"]), jsonTexts(job["exclusive"])...) {
		switch one = strings.ToUpper(one); one {
		case "NONE", "TRUE", "EXCLUSIVE", "NO":
			f["OverSubscribe"] = "NO"
		case "USER", "MCS", "TOPO":
			f["OverSubscribe"] = one
		}
	}
	return f
}

// fromJSON reads the output of squeue --json or scontrol show job --json. It has no run times: the present time is the
// time of its last update, or the last time of a job in it.
func (q *queueReader) fromJSON(file string, r io.Reader) error {
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	var top struct {
		Jobs   *[]json.RawMessage `json:"jobs"`
		Update any                `json:"last_update"`
		Errors []struct {
			Description string `json:"description"`
			Error       string `json:"error"`
		} `json:"errors"`
	}
	in, line, offset := numbers(text), 1, 0
	wrong := func(why string) error { return &ConfProblem{file, line, why} }
	var at *json.SyntaxError
	switch err := in.Decode(&top); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		line += bytes.Count(bytes.TrimSpace(text), []byte("\n"))
		return wrong("the file ends within the JSON: it was cut off. Print it again")
	case errors.As(err, &at):
		line += bytes.Count(text[:at.Offset], []byte("\n"))
		return wrong(fmt.Sprintf("this is not JSON: %v. Print it again", err))
	case len(top.Errors) > 0:
		why := cmp.Or(top.Errors[0].Description, top.Errors[0].Error)
		return wrong(fmt.Sprintf("Slurm has printed an error: %s. Print it again", why))
	case err != nil || top.Jobs == nil:
		return wrong(noQueue)
	}
	if end := in.InputOffset(); len(bytes.TrimSpace(text[end:])) > 0 {
		rest := bytes.TrimLeft(text[end:], " \t\r\n")
		line += bytes.Count(text[:len(text)-len(rest)], []byte("\n"))
		return wrong("other text follows the JSON: give each queue in its own file")
	}
	later := func(v any) {
		if n, err := strconv.ParseInt(strings.Join(jsonTexts(v), ""), 10, 33); err == nil {
			q.now = max(q.now, time.Duration(n)*time.Second)
		}
	}
	if later(top.Update); q.now == 0 {
		q.said = append(q.said, "this JSON has no last_update: the present time is the last time in it")
	}
	for _, raw := range *top.Jobs {
		begin := offset + max(bytes.Index(text[offset:], raw), 0)
		line += bytes.Count(text[offset:begin], []byte("\n"))
		offset = begin
		var job map[string]any
		if numbers(raw).Decode(&job) != nil || job["job_id"] == nil || job["job_state"] == nil {
			return wrong(noQueue)
		}
		f := q.jsonFields(job)
		later(job["last_sched_evaluation"])
		q.judge(f)
		if err := q.job(f, line); err != nil {
			q.wrong(wrong(err.Error()))
		}
	}
	return nil
}

// numbers returns a decoder that keeps numbers as they are written.
func numbers(text []byte) *json.Decoder {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	return in
}
