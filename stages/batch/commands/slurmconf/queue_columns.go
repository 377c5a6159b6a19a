package slurmconf

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload/fields"
)

// QueueFields is the argument -o of squeue that prints all columns that a forecast uses.
const QueueFields = "%i|%u|%a|%P|%q|%T|%r|%V|%S|%M|%l|%C|%D|%f|%E|%v|%b|%Q"

// columns maps the columns of squeue to the fields of scontrol show job.
var columns = map[string]string{
	"JOBID": "JobId", "USER": "UserId", "ACCOUNT": "Account", "PARTITION": "Partition", "QOS": "QOS",
	"STATE": "JobState", "REASON": "Reason", "SUBMIT_TIME": "SubmitTime", "START_TIME": "StartTime", "TIME": "RunTime",
	"TIME_LIMIT": "TimeLimit", "CPUS": "NumCPUs", "NODES": "NumNodes", "FEATURES": "Features", "DEPENDENCY": "Dependency",
	"RESERVATION": "Reservation", "TRES_PER_NODE": "TresPerNode", "TRES_PER_JOB": "TresPerJob", "GRES": "Gres",
	"MIN_MEMORY": "MinMemoryNode", "TRES_ALLOC": "AllocTRES", "TRES": "TRES", "ST": "JobState",
	"NODELIST(REASON)": "Reason", "PRIORITY": "Priority", "ELIGIBLE_TIME": "EligibleTime",
	"OVER_SUBSCRIBE": "OverSubscribe", "SHARED": "Shared", "REQ_NODES": "ReqNodeList", "EXC_NODES": "ExcNodeList",
	"LICENSES": "Licenses", "ARRAY_JOB_ID": "ArrayJobId", "ARRAY_TASK_ID": "ArrayTaskId", "HET_JOB_ID": "HetJobId",
	"PACK_JOB_ID": "PackJobId", "REQUEUE": "Requeue", "NICE": "Nice",
}

// jobStates maps the states that scontrol and squeue print to the states that a forecast distinguishes.
var jobStates = func() map[string]string {
	all := map[string]string{}
	for state, names := range map[string]string{
		"PENDING":   "PENDING PD REQUEUED RQ REQUEUE_FED RF",
		"HELD":      "REQUEUE_HOLD RH SPECIAL_EXIT SE RESV_DEL_HOLD RD",
		"RUNNING":   "RUNNING R CONFIGURING CF RESIZING RS SIGNALING SI STAGE_OUT SO POWER_UP_NODE",
		"SUSPENDED": "SUSPENDED S STOPPED ST",
		"ending":    "COMPLETING CG",
		"over": "COMPLETED CD CANCELLED CA FAILED F TIMEOUT TO NODE_FAIL NF PREEMPTED PR BOOT_FAIL BF DEADLINE DL " +
			"OUT_OF_MEMORY OOM REVOKED RV LAUNCH_FAILED RECONFIG_FAIL UPDATE_DB",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = state
		}
	}
	return all
}()

// head reads the names of the columns of squeue.
func (q *queueReader) head(text string) ([]string, error) {
	names := schema.Each(strings.Split(text, "|"), strings.TrimSpace)
	said, err := fields.Of("squeue").Unused("when", names)
	if err != nil {
		return nil, err
	}
	if said != "" {
		q.said = append(q.said, "columns "+said)
	}
	lacks := func(all ...string) bool {
		return !slices.ContainsFunc(all, func(name string) bool { return slices.Contains(names, name) })
	}
	for _, all := range [][]string{{"USER"}, {"STATE", "ST"}, {"SUBMIT_TIME"}, {"CPUS"}} {
		if lacks(all...) {
			return nil, fmt.Errorf("there is no column %s: print the queue with  scontrol show job  or  squeue -a -r -o %q",
				all[0], QueueFields)
		}
	}
	var missing []string
	for _, one := range []string{"PARTITION", "ACCOUNT", "QOS", "REASON NODELIST(REASON)", "TIME_LIMIT", "START_TIME",
		"NODES", "TRES_PER_NODE TRES_PER_JOB TRES TRES_ALLOC GRES", "MIN_MEMORY TRES TRES_ALLOC"} {
		if all := strings.Fields(one); lacks(all...) {
			missing = append(missing, all[0])
		}
	}
	if len(missing) > 0 {
		q.said = append(q.said, fmt.Sprintf("columns that the queue does not have, and scontrol show job has: %s",
			strings.Join(missing, ", ")))
	}
	if lacks("TRES", "TRES_ALLOC") && !lacks("MIN_MEMORY") {
		q.said = append(q.said, "MIN_MEMORY is taken for each node, though squeue shows memory for each core alike: "+
			"scontrol show job has both")
	}
	return names, nil
}

// unsetValues are the values that scontrol prints for fields which a job does not set.
var unsetValues = []string{"", "(null)", "N/A", "None", "0", "*"}

// judge notes the fields of a job that scontrol is not known to print, and the fields that are not modeled.
func (q *queueReader) judge(job map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(job)) {
		if t := fields.Of("scontrol show job"); !t.Knows(name) {
			q.leave(fmt.Sprintf("the field %s of scontrol is not known, and not used", name))
		} else if effect := t.Effect(name); effect != "" && !slices.Contains(unsetValues, job[name]) {
			q.leave(fmt.Sprintf("%s: %s", name, effect))
		}
	}
}

// judgeShown notes unknown fields in the output of scontrol show node or scontrol show reservation.
func (c *SlurmConf) judgeShown(table string, at setting, f map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(f)) {
		if !fields.Of(table).Knows(name) {
			c.unmodeledOf(at, "the field "+name, table+name, table+" is not known to have it")
		}
	}
}
