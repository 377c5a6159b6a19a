package slurmconf

import (
	"strings"
	"testing"
)

// Values of the tables of sacctmgr have the meaning that they have in Slurm, or are refused with their line.
func TestTables(t *testing.T) {
	const conf = plainConf + "AccountingStorageEnforce=limits\nPreemptType=preempt/qos\nPreemptExemptTime=00:10:00\nNodeName=a1 CPUs=8\n" +
		"PartitionName=main Nodes=ALL Default=YES\n"
	const accounts = "Account|User|Partition|Share|Def QOS|MaxJobs\nroot|||1||\nphysics|||50||\n"
	const qos = "Name|Priority|PreemptMode|PreemptExemptTime\nnormal|0|cluster|\n"
	for _, c := range []struct {
		name, table string
		want, not   []string
	}{
		{"another order", "Account|User|Partition|Share|Def QOS|MaxJobs\nphysics|ada||3||\nphysics|||50||\nroot|||1||\n",
			[]string{`account "physics" { shares = 50 user "ada" { shares = 3 } }`}, []string{"error"}},
		{"a share of the parent", accounts + "physics|ada||2147483647||\n", []string{"Share=parent of user ada: it counts as 1"}, []string{"2147483647"}},
		{"a share that is none", accounts + "physics|ada||many||\n", []string{"error: table.txt:4: Share=many is neither a whole number nor parent"}, nil},
		{"a user twice", accounts + "physics|ada||1||\nphysics|ada||2||\n", []string{`error: table.txt:5: the user "ada" is in the account "physics" twice`}, nil},
		{"a line twice", accounts + "physics|ada||1||\nphysics|ada||1||\n", []string{`user "ada" { }`}, []string{"error"}},
		{"a user in two partitions", accounts + "physics|ada|main|1||3\nphysics|ada|b|1||4\n",
			[]string{"max_jobs = 3", "the association holds in all partitions", "Partition=b of user ada: the first association of the user counts in all"}, nil},
		{"an unknown default", qos + accounts + "physics|ada||1|gold|\n", []string{`the default qos "gold" of user ada: the table of sacctmgr does not have it`}, nil},
		{"modes of preemption", qos + "a|0|within,requeue|\nb|0|gang,suspend|\nc|0|CANCEL|\n", []string{`qos "a" { preempt_mode = "requeue"`,
			`qos "b" { preempt_mode = "suspend"`, `qos "c" { preempt_mode = "cancel"`, `qos "normal" { exempt`}, nil},
		{"times before preemption", qos + "a|0||00:05:00\n", []string{`qos "normal" { exempt = "10m" }`, `qos "a" { exempt = "5m" }`}, nil},
		{"a limit of no jobs", accounts + "physics|ada||1||0\n", []string{"MaxJobs=0 of user ada: no limit here; in Slurm, no job may start"}, []string{"max_jobs"}},
		{"no qos", accounts, []string{"slurm.conf:6: PreemptExemptTime: without sacctmgr -P show qos jobs can be preempted at once"}, nil},
	} {
		check(t, c.name, twinOf(t, map[string]string{"slurm.conf": conf, "table.txt": c.table}, "table.txt"), c.want, c.not)
	}
}

// An event closes a node only if jobs cannot start in its state; reservations with a part of a node's cores are noted.
func TestClosedStates(t *testing.T) {
	const conf = plainConf + "NodeName=a[1-2] CPUs=8\nPartitionName=main Nodes=ALL Default=YES\n"
	log := strings.NewReplacer("ada|physics", "ada|").Replace(jobs)
	for state, want := range map[string]string{
		"DOWN": "sudden", "DOWN*": "sudden", "IDLE+DRAIN": "sudden", "FAIL": "sudden", "": "sudden", "IDLE+PLANNED": "", "MIXED+PLANNED": "", "IDLE": "",
		"IDLE+POWERED_DOWN": "", "MAINT": "", "DWON": `error: events.txt:2: the event of the node a1: "DWON" is no state of a node`,
	} {
		got := twinOf(t, map[string]string{"slurm.conf": conf, "sacct.txt": log, "events.txt": "NodeName|TimeStart|TimeEnd|State|Reason\n" +
			"a1|2026-01-01T00:00:20|2026-01-01T00:00:40|" + state + "|fan\n"}, "sacct.txt", "events.txt")
		check(t, state, got, []string{want}, nil)
		if want == "" {
			check(t, state, got, nil, []string{"reservation"})
		}
	}
	for text, want := range map[string]string{
		"Nodes=ALL":                              `reservation "r" { nodes = ["a-[1-2]"]`,
		"Nodes=a1\n     NodeName=a1 CoreIDs=0-3": "the reservation r has cores of its nodes (CoreIDs): here it has whole nodes",
		"Nodes=a1 Flags=PURGE_COMP=00:05:00":     "the reservation r has the flag PURGE_COMP: it stays when it is empty",
	} {
		check(t, text, twinOf(t, map[string]string{"slurm.conf": conf, "sacct.txt": log,
			"resv.txt": "ReservationName=r StartTime=2026-01-01T00:00:20 EndTime=2026-01-01T00:00:40\n   " + text + "\n"}, "sacct.txt", "resv.txt"),
			[]string{want}, nil)
	}
}
