package slurmconf

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// twinOf returns the text of the twin of some files in one line, or the error.
func twinOf(t *testing.T, texts map[string]string, others ...string) string {
	t.Helper()
	dir := write(t, texts)
	for i := range others {
		others[i] = filepath.Join(dir, others[i])
	}
	tw, err := ReadTwin(filepath.Join(dir, "slurm.conf"), others)
	if err != nil {
		return "error: " + strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
	}
	source, err := tw.Experiment("demo", dir)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(strings.ReplaceAll(string(source), "#", "")), " ")
}

const plainConf = "ClusterName=demo\nSelectType=select/cons_tres\nGresTypes=gpu\n"

// Nodes that are down or in the future are no capacity, unless events say when they were there.
func TestAbsentNodes(t *testing.T) {
	const part = "PartitionName=main Nodes=ALL Default=YES\n"
	for _, c := range []struct {
		name, nodes string
		others      map[string]string
		want, not   []string
	}{
		{"states", "NodeName=a[1-2] CPUs=4\nNodeName=b[1-2] CPUs=8 State=DOWN\nNodeName=c1 CPUs=8 State=drain\nNodeName=d1 CPUs=8 State=FUTURE\n" +
			"NodeName=e1 CPUs=8 State=FAILING\nNodeName=f1 CPUs=8 State=UNKNOWN\n" + part, nil,
			[]string{`node "a" { count = 2 threads = 4 }`, `node "f1"`, "NodeName=b[1-2] State=DOWN: the nodes are left out (b[1-2])",
				"NodeName=c1 State=drain: the nodes are left out (c1)", "NodeName=d1 State=FUTURE", "NodeName=e1 State=FAILING"},
			[]string{`node "b"`, `node "c1"`, `node "d1"`, `node "e1"`}},
		{"a default of nodes", "NodeName=DEFAULT CPUs=4 State=FUTURE\nNodeName=a1\nNodeName=b1 State=UNKNOWN\n" + part, nil,
			[]string{`node "b1" { count = 1 threads = 4 }`}, []string{`node "a1"`}},
		{"DownNodes", "NodeName=a[1-4] CPUs=4\nDownNodes=a[2,9] Reason=\"power, soon\"\nDownNodes=a4 State=FUTURE\nPartitionName=main Nodes=a[1-4] Default=YES\n" +
			"PartitionName=gone Nodes=a2,a4\nPartitionName=none Nodes=\n", nil,
			[]string{`node "a" { count = 2 threads = 4 }`, `partition "main" { nodes = ["a-[1-2]"]`, "DownNodes=a[2,9] State=DOWN: the nodes are left out (a2",
				"the partition gone has only nodes that are left out", "the partition none has no nodes", "no line NodeName= describes a9"},
			[]string{`partition "gone"`, `partition "none"`}},
		{"clouds", "NodeName=a1 CPUs=4 State=CLOUD\n" + part, nil, []string{`node "a1"`, "State=CLOUD: these nodes are always on"}, nil},
		{"a negative number", "NodeName=a1 CPUs=-4\n" + part, nil, []string{"error: slurm.conf:4: CPUs=-4 is no whole number from 0"}, nil},
		{"a state that is none", "NodeName=a1 CPUs=4 State=DWON\n" + part, nil, []string{`error: slurm.conf:4: NodeName=a1 State=DWON: "DWON" is no state`}, nil},
		{"all are down", "NodeName=a1 CPUs=4 State=DOWN\n" + part, nil, []string{"error: slurm.conf:1: all nodes are down"}, nil},
		{"events", "NodeName=a[1-3] CPUs=4\nDownNodes=a[1-2]\n" + part, map[string]string{
			"sacct.txt": strings.ReplaceAll(jobs, "ada|physics", "ada|"),
			"events.txt": "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\ndemo|a1|2026-01-01T00:00:30|2026-01-01T00:01:00|DOWN|fan|root\n" +
				"beta|a2|2026-01-01T00:00:30|2026-01-01T00:01:00|DOWN|fan|root\n"},
			[]string{`node "a" { count = 2 threads = 4 }`, "nodes that events speak of are up except at the times of these (a1)", "are left out (a2)",
				`reservation "down_1" { nodes = ["a-1"]`, "an event of the cluster beta"}, nil},
		{"events of nodes that have left", "NodeName=a1 CPUs=4\n" + part, map[string]string{
			"events.txt": "Cluster|NodeName|TimeStart|TimeEnd|State|Reason|User\ndemo|old1|2026-01-01T00:00:10|2026-01-01T00:01:00|DOWN|fan|root\n" +
				"demo|old1|2026-01-01T00:00:30|2026-01-01T00:01:00|DOWN|fan|root\ndemo|a1|2026-01-01T00:00:30|2026-01-01T00:01:00|DOWN|fan|root\n"},
			[]string{"events.txt:2: an event of the node old1, which slurm.conf does not have, and 1 more like it: such events are left out",
				"reservations and nodes that were down: without a log"}, nil},
		{"scontrol show node", "NodeName=a[1-3] CPUs=4\n" + part, map[string]string{
			"nodes.txt": "NodeName=a1 Arch=x86_64 CoresPerSocket=4\n   CPUAlloc=0 CPUTot=4\n   State=IDLE ThreadsPerCore=1\n\n" +
				"NodeName=a2 Arch=x86_64 CoresPerSocket=4\n   State=DOWN* ThreadsPerCore=1\n\nNodeName=a3 CoresPerSocket=4\n   State=MIXED+DRAIN Reason=a State=IDLE\n"},
			[]string{`node "a" { count = 1 threads = 4 }`, "a2 State=DOWN*: the nodes are left out", "a3 State=MIXED+DRAIN: the nodes are left out"}, nil},
	} {
		texts := map[string]string{"slurm.conf": plainConf + c.nodes}
		var others []string
		for name, text := range c.others {
			texts[name], others = text, append(others, name)
		}
		check(t, c.name, twinOf(t, texts, others...), c.want, c.not)
	}
}

// The parts of a state have signs of their own, as in DOWN*+DRAIN.
func TestNodeStates(t *testing.T) {
	for state, there := range map[string]bool{
		"DOWN*+DRAIN": false, "IDLE*": true, "IDLE+CLOUD+POWER": true, "ALLOCATED*+DRAIN": false, "MIXED*+PLANNED": true, "DOWN*+CLOUD": false,
		"IDLE+PERFCTRS": true, "IDLE@+DRAIN": false, "IDLE+DRAIN+REBOOT_ISSUED": false, "MIXED*+DRAIN+POWERING_DOWN": false, "UNKNOWN*": true,
	} {
		got := twinOf(t, map[string]string{"slurm.conf": plainConf + "NodeName=a1 CPUs=4\nNodeName=b1 CPUs=4\nPartitionName=main Nodes=ALL Default=YES\n",
			"nodes.txt": "NodeName=a1 Arch=x86_64 CoresPerSocket=4\n   State=" + state + " ThreadsPerCore=1\n"}, "nodes.txt")
		if strings.HasPrefix(got, "error") || strings.Contains(got, `node "a1"`) != there {
			t.Errorf("%s: %s", state, got)
		}
	}
}

// check finds texts that are missing, and texts that should not be there.
func check(t *testing.T, name, got string, want, not []string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(got, text) {
			t.Errorf("%s: it does not say %q:\n%s", name, text, got)
		}
	}
	for _, text := range not {
		if strings.Contains(got, text) {
			t.Errorf("%s: it says %q:\n%s", name, text, got)
		}
	}
}

// The GPUs of a node are as many as in slurm.conf, of the types of gres.conf where slurm.conf has none.
func TestGresConf(t *testing.T) {
	const part = "PartitionName=main Nodes=ALL Default=YES\n"
	for _, c := range []struct {
		name, nodes, gres string
		want, not         []string
	}{
		{"types by file", "NodeName=a[1-2] CPUs=4 Gres=gpu:4\n", "Name=gpu Type=A100 File=/dev/nvidia[0-3] Cores=0-1\n",
			[]string{`node "a" { count = 2 threads = 4 gpus = 4 gpu = "a100" }`, "gres.conf:1: the types of GPUs are those of gres.conf"}, nil},
		{"types by node", "NodeName=a[1-4] CPUs=4 Gres=gpu:2\n",
			"AutoDetect=off\nNodeName=a[1-2] Name=gpu Type=v100 File=/dev/nvidia0\nNodeName=a[1-2] Name=gpu Type=v100 File=/dev/nvidia1\n" +
				"NodeName=a[3-4] AutoDetect=nvml Name=gpu Type=k80 Count=2\n",
			[]string{`node "a" { count = 2 threads = 4 gpus = 2 gpu = "v100" }`, `node "a_2" { count = 2 threads = 4 gpus = 2 gpu = "k80" }`}, nil},
		{"two types on a node", "NodeName=a1 CPUs=4 Gres=gpu:3\n", "Name=gpu Type=a100 File=/dev/nvidia0\nName=gpu Type=t4 File=/dev/nvidia[1-2]\n",
			[]string{"gpus = 3", `features = ["gpu:a100", "gpu:t4"]`, "Gres=gpu:a100:1,gpu:t4:2: all 3 GPUs of a node count as one type"}, nil},
		{"MIG", "NodeName=a1 CPUs=4 Gres=gpu:2\n",
			"Name=gpu Type=1g.5gb MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap[21-22]\nName=gpu Type=1g.5gb MultipleFiles=/dev/nvidia0,/dev/nvidia-caps/nvidia-cap[30-31]\n",
			[]string{`gpus = 2 gpu = "1g.5gb"`}, nil},
		{"types in both", "NodeName=a1 CPUs=4 Gres=gpu:a100:2\n", "Name=gpu Type=a100 File=/dev/nvidia[0-3]\n",
			[]string{`gpus = 2 gpu = "a100"`, "gres.conf:1: slurm.conf has fewer such GPUs in the node"}, []string{"newer versions"}},
		{"fewer in gres.conf", "NodeName=a1 CPUs=4 Gres=gpu:a100:4\n", "Name=gpu Type=a100 File=/dev/nvidia0\n",
			[]string{`gpus = 4 gpu = "a100"`, "slurm.conf gives the node a1 gpu:a100:4, and gres.conf 3 fewer: slurm.conf counts"}, nil},
		{"none in slurm.conf", "NodeName=a1 CPUs=4\n", "Name=gpu Type=a100 File=/dev/nvidia0\n", []string{"slurm.conf has fewer such GPUs"}, []string{"gpus ="}},
		{"shards", "NodeName=a1 CPUs=4 Gres=gpu:1,shard:8\n", "Name=gpu File=/dev/nvidia0\nName=shard Count=8 File=/dev/nvidia0\n", []string{"gpus = 1"}, nil},
		{"a count that is no number", "NodeName=a1 CPUs=4 Gres=gpu:1\n", "Name=gpu Count=many\n", []string{"error: gres.conf:1: Count=many is no number"}, nil},
		{"a count that does not fit", "NodeName=a1 CPUs=4 Gres=gpu:1\n", "Name=gpu Count=3 File=/dev/nvidia[0-1]\n", []string{"error: gres.conf:1: Count=3, and the line has 2 device files"}, nil},
		{"two kinds of files", "NodeName=a1 CPUs=4 Gres=gpu:1\n", "Name=gpu File=/dev/a MultipleFiles=/dev/b,/dev/c\n", []string{"error: gres.conf:1: File= and MultipleFiles="}, nil},
		{"no name", "NodeName=a1 CPUs=4 Gres=gpu:1\n", "NodeName=a1 File=/dev/a\n", []string{"error: gres.conf:1: this line has no Name="}, nil},
		{"another order", "NodeName=a1 CPUs=4 Gres=gpu:1\n", "Type=a100 Name=gpu\n", []string{"error: gres.conf:1: Type stands first"}, nil},
		{"a way to detect", "NodeName=a1 CPUs=4 Gres=gpu:1\n", "AutoDetect=nvlm\n", []string{"error: gres.conf:1: AutoDetect=nvlm is no way"}, nil},
	} {
		check(t, c.name, twinOf(t, map[string]string{"slurm.conf": plainConf + c.nodes + part, "gres.conf": c.gres}, "gres.conf"), c.want, c.not)
	}
}

// Rows of other clusters are left out, in logs and in tables of associations.
func TestOtherClusters(t *testing.T) {
	conf := plainConf + "NodeName=a1 CPUs=8\nPartitionName=main Nodes=ALL Default=YES\n"
	const log = "JobID|Cluster|User|Account|Partition|Submit|Start|End|ReqCPUS|State\n" +
		"1|demo|ada|physics|main|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|4|COMPLETED\n" +
		"1|beta|eve|art|huge|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|400|COMPLETED\n"
	const table = "Cluster|Account|User|Share\nbeta|root||1\nbeta|physics||70\nbeta|physics|ada|9\ndemo|root||1\ndemo|physics||50\ndemo|physics|ada|3\n"
	files := map[string]string{"slurm.conf": conf, "sacct.txt": log, "assoc.txt": table}
	check(t, "with a name", twinOf(t, files, "sacct.txt", "assoc.txt"), []string{`format = "accounting" cluster = "demo"`, ": 1 jobs in",
		`account "physics" { shares = 50 user "ada" { shares = 3 } }`, "an association of the cluster beta, and 2 more like it"}, []string{"shares = 70"})
	files["slurm.conf"] = strings.Replace(conf, "ClusterName=demo\n", "", 1)
	check(t, "without a name", twinOf(t, files, "sacct.txt"), []string{"error: read trace as accounting: sacct.txt:3: it is of the cluster beta, and a row before of demo"}, nil)
	check(t, "tables without a name", twinOf(t, files, "assoc.txt"), []string{"assoc.txt:5: the table has the clusters beta and demo, and slurm.conf has no ClusterName"}, nil)
	files["slurm.conf"] = strings.Replace(conf, "ClusterName=demo", "ClusterName=gamma", 1)
	check(t, "of none", twinOf(t, files, "sacct.txt"), []string{"no job of the cluster gamma has started, and the file has jobs of the cluster demo"}, nil)
}

// Jobs have whole nodes with select/linear, and in partitions that say so.
func TestWholeNodes(t *testing.T) {
	const nodes = "NodeName=a[1-2] CPUs=8 RealMemory=32000\n"
	conf := strings.Replace(plainConf, "cons_tres", "linear", 1) + "SelectTypeParameters=CR_Memory\n" + nodes
	check(t, "linear", twinOf(t, map[string]string{"slurm.conf": conf + "PartitionName=main Nodes=ALL Default=YES\nPartitionName=b Nodes=a1\n"}),
		[]string{`partition "main" { default = true exclusive = true }`, `partition "b" { nodes = ["a-1"] exclusive = true }`},
		[]string{"CR_Memory"})
	conf = plainConf + nodes + "PartitionName=main Nodes=ALL Default=YES ExclusiveUser=YES\nPartitionName=b Nodes=ALL Shared=exclusive\n" +
		"PartitionName=c Nodes=ALL OverSubscribe=EXCLUSIVE\nPartitionName=d Nodes=ALL OverSubscribe=FORCE:4\n"
	check(t, "partitions", twinOf(t, map[string]string{"slurm.conf": conf}), []string{`partition "main" { default = true }`,
		`partition "b" { exclusive = true }`, `partition "c" { exclusive = true }`, `partition "d" { }`,
		"PartitionName=main ExclusiveUser=YES: jobs of different users share nodes", "PartitionName=d OverSubscribe=FORCE:4: cores are never shared"}, nil)
	for text, want := range map[string]string{
		"": "error: slurm.conf:1: there is no SelectType: Slurm before 23.11", "SelectType=select/cray_aries\n": "error: slurm.conf:2: SelectType=select/cray_aries:",
	} {
		check(t, text, twinOf(t, map[string]string{"slurm.conf": strings.Replace(plainConf, "SelectType=select/cons_tres\n", text, 1) + nodes +
			"PartitionName=main Nodes=ALL Default=YES\n"}), []string{want}, nil)
	}
}

// A job may ask for one of several features.
func TestConstraints(t *testing.T) {
	const head = "JobID|User|Partition|Submit|Start|End|ReqCPUS|Constraints|Reservation\n"
	files := map[string]string{"slurm.conf": plainConf + "NodeName=a1 CPUs=8 Feature=ib\nNodeName=b1 CPUs=8 Feature=opa,big\nPartitionName=main Nodes=ALL Default=YES\n"}
	for constraint, want := range map[string]string{
		"ib": "", "ib|opa": "", "[ib|opa]": "", "ib|xx&big": "", "xx|yy": `job 1 asked for the feature "xx|yy", which no node has`,
		"xx":     `error: sacct.txt:2: job 1 asked for the feature "xx", which no node has`,
		"[ib*1]": "",
	} {
		files["sacct.txt"] = head + "1|ada|main|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|4|" + constraint + "|\n"
		not := []string{"no reservation"}
		if want == "" {
			not = append(not, "error:", "constraints such as")
		}
		check(t, constraint, twinOf(t, files, "sacct.txt"), []string{want}, not)
	}
	files["sacct.txt"] = head + "1|ada|main|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|4|[ib*1]|\n"
	dir := write(t, files)
	tw, err := ReadTwin(filepath.Join(dir, "slurm.conf"), []string{filepath.Join(dir, "sacct.txt")})
	if err != nil || !slices.Contains(tw.trace.Assumed, "jobs with constraints such as [ib*1] (1) may have any nodes") {
		t.Errorf("%v, %q", err, tw.trace.Assumed)
	}
	queue := "JOBID|USER|STATE|FEATURES|SUBMIT_TIME|CPUS\n1|ada|PENDING|a|b|2026-01-01T10:00:00|2\n2|ada|PENDING|[a*2&b]|2026-01-01T10:00:00|2\n"
	q, notes, err := ReadQueue("q", strings.NewReader(queue))
	if err != nil || len(q.Jobs) != 1 || strings.Join(q.Jobs[0].Submission().Features, " ") != "a|b" ||
		!strings.Contains(strings.Join(notes, "\n"), "the constraint [a*2&b]: these jobs are left out: 1 job") {
		t.Errorf("%v, %q, %v", q.Jobs, notes, err)
	}
}

// The names in a topology.yaml are checked.
func TestTopologyYAML(t *testing.T) {
	conf := plainConf + "NodeName=a1 CPUs=8\nPartitionName=main Nodes=ALL Default=YES\n"
	const good = "---\n- topology: t1 # one\n  cluster_default: true\n  tree:\n    switches:\n      - switch: s1\n        nodes: a[1-2]\n      - switch: s2\n" +
		"        children: s1\n- topology: t2\n  block:\n    block_sizes:\n      - 4\n    blocks:\n      - block: b1\n        nodes: a1\n- topology: t3\n  flat: true\n"
	check(t, "good", twinOf(t, map[string]string{"slurm.conf": conf, "topology.yaml": good}, "topology.yaml"),
		[]string{"topology.yaml:2: topology=t1, and 2 more like it: placement ignores the network between nodes"}, nil)
	check(t, "wrong", twinOf(t, map[string]string{"slurm.conf": conf, "topology.yaml": strings.Replace(good, "children", "chidren", 1)}, "topology.yaml"),
		[]string{"error: topology.yaml:9: topology.yaml has no parameter chidren. Did you mean children?"}, nil)
}

// AccountingStorageEnforce decides whether limits hold, and when usage is charged.
func TestEnforcement(t *testing.T) {
	const rest = "PriorityType=priority/multifactor\nPriorityWeightFairshare=10\nNodeName=a1 CPUs=8\nPartitionName=main Nodes=ALL Default=YES\n"
	tables := "Account|User|Share|GrpTRES|GrpTRESMins|MaxJobs\nroot||1|||\nphysics||50|cpu=16|cpu=9|\nphysics|ada|3|||1\n\n" +
		"Name|Priority|MaxJobsPU|MaxWall\nnormal|0|4|01:00:00\n"
	const log = "JobID|User|Account|Partition|Submit|Start|End|ReqCPUS|State\n" +
		"1|ada|art|main|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|4|COMPLETED\n"
	on := []string{"group_cores = 16", "max_jobs = 1", "max_jobs = 4", `max_wall = "1h"`, "GrpTRESMins=cpu=9 of account physics: tfexp ignores this limit"}
	off := []string{"group_cores", "max_jobs", "max_wall", "GrpTRESMins"}
	note := "limits hold no job without AccountingStorageEnforce=limits"
	unknown := `error: sacct.txt:2: job 1 was in the account "art"`
	for value, c := range map[string]struct{ limits, accounts bool }{
		"": {}, "AccountingStorageEnforce=none\n": {}, "AccountingStorageEnforce=0\n": {}, "AccountingStorageEnforce=associations\n": {false, true},
		"AccountingStorageEnforce=1\n": {false, true}, "AccountingStorageEnforce=qos\n": {false, true}, "AccountingStorageEnforce=wckeys\n": {false, true},
		"AccountingStorageEnforce=limits\n": {true, true}, "AccountingStorageEnforce=2\n": {true, true}, "AccountingStorageEnforce=safe\n": {true, true},
		"AccountingStorageEnforce=All\n": {true, true}, "AccountingStorageEnforce=associations,limits,qos,safe\n": {true, true},
	} {
		files := map[string]string{"slurm.conf": plainConf + value + rest, "assoc.txt": tables, "sacct.txt": log}
		got := twinOf(t, files, "assoc.txt")
		want, not := append([]string{note, `charge = "updates"`}, "shares = 50"), off
		if c.limits {
			want, not = append(on, "shares = 50"), []string{note, "charge ="}
		}
		check(t, value, strings.ReplaceAll(got, "GrpTRES=cpu=16", ""), want, not)
		want = []string{`job 1 was in the account "art", which the associations do not have: it has no limits`}
		if c.accounts {
			want = []string{unknown}
		}
		check(t, value, twinOf(t, files, "assoc.txt", "sacct.txt"), want, nil)
	}
	check(t, "wrong", twinOf(t, map[string]string{"slurm.conf": plainConf + "AccountingStorageEnforce=limit\n" + rest}),
		[]string{`error: slurm.conf:4: AccountingStorageEnforce has no value "limit"`}, nil)
}

// A node has the CPUs that Slurm computes of CPUs=, Boards=, Sockets=, CoresPerSocket= and ThreadsPerCore=.
func TestCPUs(t *testing.T) {
	for line, want := range map[string]string{
		"": "1", "CPUs=8": "8", "Procs=8": "8", "CoresPerSocket=8 ThreadsPerCore=2": "16", "Sockets=2 CoresPerSocket=8 ThreadsPerCore=2": "32",
		"CPUs=16 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2": "16", "CPUs=32 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2": "32",
		"CPUs=8 Sockets=2 CoresPerSocket=8 ThreadsPerCore=2": "32 (CPUs=8: neither",
		"CPUs=64 CoresPerSocket=8 ThreadsPerCore=2":          "64", "CPUs=8 CoresPerSocket=8 ThreadsPerCore=2": "8",
		"Boards=2 SocketsPerBoard=2 CoresPerSocket=8": "32", "Boards=2 Sockets=4 CoresPerSocket=8": "32",
		"CPUs=99 Boards=2 SocketsPerBoard=2 CoresPerSocket=8":   "32 (CPUs=99: neither",
		"Sockets=9 SocketsPerBoard=2 CoresPerSocket=4 Boards=0": "8", "CPUs=8 Sockets=2": "8 (CPUs=8: new versions",
	} {
		got := twinOf(t, map[string]string{"slurm.conf": plainConf + "NodeName=a1 " + line + "\nPartitionName=main Nodes=ALL Default=YES\n"})
		number, note, noted := strings.Cut(want, " (")
		check(t, line, got, []string{"threads = " + number + " ", note}, nil)
		if !noted {
			check(t, line, got, nil, []string{"CPUs="})
		}
	}
}
