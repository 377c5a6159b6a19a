package slurmconf

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/folder"
)

// The same configuration, written in the ways that Slurm allows.
func TestGrammar(t *testing.T) {
	const plain = `ClusterName=Demo
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightAge=1500
SchedulerParameters=bf_interval=10,bf_window=2880
JobCompType=jobcomp/filetxt
NodeName=DEFAULT CPUs=8 RealMemory=16000
NodeName=n[1-4] Reason="a # and more" Weight=2
PartitionName=main Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP
`
	same := map[string]string{
		"spaces": strings.NewReplacer("PriorityWeightAge=", "  PriorityWeightAge  = ", "CPUs=", "CPUs =\t", "Nodes=", "Nodes= ",
			"PartitionName=", "PartitionName = ").Replace(plain),
		"cases": strings.NewReplacer("PriorityWeightAge", "priorityweightage", "NodeName", "NODENAME", "PartitionName",
			"partitionname", "Nodes=n", "NODES=n").Replace(plain),
		"repeats":           strings.Replace(plain, "JobCompType=", "PriorityWeightAge=1500\nJobCompType=jobcomp/none\nJobCompType=", 1),
		"repeats in a line": strings.Replace(plain, "CPUs=8", "CPUs=4 CPUs=8", 1),
		"sums": strings.NewReplacer("PriorityWeightAge=1500", "PriorityWeightAge=1000\nPriorityWeightAge+=500",
			"bf_interval=10,bf_window=2880", "bf_interval=10\nSchedulerParameters += bf_window=2880").Replace(plain),
		"differences": strings.NewReplacer("PriorityWeightAge=1500", "PriorityWeightAge=2000\nPriorityWeightAge-=500",
			"bf_interval=10,", "bf_interval=10,default_queue_depth=7,", "JobCompType=",
			"SchedulerParameters-=default_queue_depth=7\nJobCompType=").Replace(plain),
		"continued lines": strings.NewReplacer("Default=YES", "\\ \n Default=YES", "bf_interval=10,", "bf_interval=10,\\\n").Replace(plain),
		"comments":        strings.NewReplacer("=1500", "=1500#a = b", "NodeName=n", "# a comment \\\nNodeName=n").Replace(plain),
		"quotes":          strings.NewReplacer("=CR_Core", `="CR_Core"`, "main", `"main"`, "n[1-4]", `"n[1-4]"`).Replace(plain),
		"includes":        strings.NewReplacer("PartitionName", "INCLUDE part/%c.conf\n#").Replace(plain),
	}
	want := ""
	for _, name := range []string{"plain", "spaces", "cases", "repeats", "repeats in a line", "sums", "differences",
		"continued lines", "comments", "quotes", "includes"} {
		text := same[name]
		if name == "plain" {
			text = plain
		}
		dir := write(t, map[string]string{"slurm.conf": strings.ReplaceAll(text, "a # and", `a \# and`)})
		if name == "includes" {
			if err := folder.MkdirAll(filepath.Join(dir, "part"), 0o755); err != nil {
				t.Fatal(err)
			}
			part := "include part/more.conf\n"
			more := plain[strings.Index(plain, "PartitionName"):]
			for file, text := range map[string]string{"demo.conf": part, "more.conf": more} {
				if err := folder.WriteFile(filepath.Join(dir, "part", file), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
		tw, err := ReadTwin(filepath.Join(dir, "slurm.conf"), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := tw.nodes[0].get("Reason"); got != "a # and more" {
			t.Errorf("%s: the reason is %q", name, got)
		}
		tw.Unmodeled = nil
		source, err := tw.Experiment("demo", dir)
		if err != nil {
			t.Fatal(err)
		}
		if want == "" {
			want = string(source)
		}
		if string(source) != want {
			t.Errorf("%s: the experiment is\n%s\nnot\n%s", name, source, want)
		}
	}
}

// TestParameters: parameters of old and new versions are known, and those that count are noted once.
func TestParameters(t *testing.T) {
	dir := write(t, map[string]string{"slurm.conf": conf + "CacheGroups=0\nMetricsType=metrics/openmetrics\nJobCompPassScript=x\n" +
		"PriorityWeightAge=7\nReasonless\nSwitchName=s1 Nodes=n1\n" +
		"PartitionName=a Nodes=n1 LLN=YES DefMemPerGPU=1000 Exclusive=USER\nPartitionName=b Nodes=n1 LLN=YES MaxCPUsPerNode=\n"})
	_, err := ReadTwin(filepath.Join(dir, "slurm.conf"), nil)
	if err == nil || err.Error() != filepath.Join(dir, "slurm.conf")+`:15: "Reasonless" is not NAME=VALUE`+"\n"+
		filepath.Join(dir, "slurm.conf")+":16: this line is of topology.conf: remove it" {
		t.Errorf("the errors are %v", err)
	}
	c, err := ReadSlurmConf(filepath.Join(dir, "slurm.conf"))
	if err != nil {
		t.Fatal(err)
	}
	newModel(c).convert()
	got := strings.Join(c.Unmodeled, "\n")
	for _, want := range []string{
		"slurm.conf:14: PriorityWeightAge=7 replaces 1000 of line 5, as in Slurm",
		"slurm.conf:17: PartitionName=a LLN=YES, and 1 more like it: jobs fill nodes in the order of their weights",
		"slurm.conf:17: PartitionName=a Exclusive=USER: nodes are shared all the same",
		"slurm.conf:18: MaxCPUsPerNode has no value: it counts as not set",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the notes lack %q:\n%s", want, got)
		}
	}
}

// Of a partition, or a default, that is given twice the last counts, as in Slurm; a default time above the greatest does not.
func TestRepeatedPartitions(t *testing.T) {
	const nodes = plainConf + "NodeName=a[1-4] CPUs=8\n"
	for _, c := range []struct {
		conf      string
		want, not []string
	}{
		{"PartitionName=x Nodes=a1 Default=YES\nPartitionName=y Nodes=a2 Default=YES\n", []string{`partition "x" { nodes = ["a-1"] }`,
			`partition "y" { nodes = ["a-2"] default = true }`, "slurm.conf:6: PartitionName=y Default=YES: it is the default in place of x"}, nil},
		{"PartitionName=x Nodes=a1 Default=YES MaxTime=5\nPartitionName=x Nodes=a[1-2] Default=YES MaxTime=10\n",
			[]string{`partition "x" { nodes = ["a-[1-2]"] default = true max_time = "10m" }`, "slurm.conf:6: PartitionName=x replaces line 5"}, []string{`max_time = "5m"`}},
		{"PartitionName=x Nodes=a1 Default=YES MaxTime=5 DefaultTime=10\n", []string{`max_time = "5m"`,
			"slurm.conf:5: PartitionName=x DefaultTime=10 is above MaxTime=5: it does not count"}, []string{"default_time"}},
	} {
		check(t, c.conf, twinOf(t, map[string]string{"slurm.conf": nodes + c.conf}), c.want, c.not)
	}
}

// TestOtherFiles: the other files of Slurm are read as well, and mistakes in them are found.
func TestOtherFiles(t *testing.T) {
	dir := write(t, map[string]string{"slurm.conf": conf, "gres.conf": "AutoDetect=nvml\nNodeName=gpu1 Name=gpu Type=a100 File=/dev/x[0-1]\n",
		"topology.conf": "SwitchName=a Nodes=n[1-2]\nSwitchName=b Switches=a\n", "cgroup.conf": "ConstrainCores=yes\n",
		"gres2.conf": "Name=gpu Fiel=/dev/y\n"})
	path := func(name string) string { return filepath.Join(dir, name) }
	tw, err := ReadTwin(path("slurm.conf"), []string{path("gres.conf"), path("topology.conf"), path("cgroup.conf")})
	if err != nil {
		t.Fatal(err)
	}
	want := "topology.conf:1: SwitchName=a, and 1 more like it: placement ignores the network between nodes"
	got := slices.Clone(tw.Unmodeled)
	slices.Sort(got)
	if strings.Join(got, "\n") != want {
		t.Errorf("the notes are %q", got)
	}
	if _, err = ReadTwin(path("slurm.conf"), []string{path("gres2.conf")}); err == nil ||
		!strings.Contains(err.Error(), "gres2.conf:1: gres.conf has no parameter Fiel. Did you mean File?") {
		t.Errorf("the error is %v", err)
	}
}

// Numbers, switches, lists and names have all the forms that Slurm takes.
func TestForms(t *testing.T) {
	const node, part = "NodeName=n[1-4] CPUs=8\n", "PartitionName=main Nodes=ALL Default=YES\n"
	for _, c := range []struct {
		name, conf string
		want, not  []string
	}{
		{"numbers", "NodeName=n[1-4] CPUs=0x10 RealMemory=64K Weight=020\n" + part + "SelectTypeParameters=CR_Core_Memory\n",
			[]string{"threads = 16", `memory = "65536MiB"`, "weight = 16"}, nil},
		{"a unit of memory", "NodeName=n[1-4] CPUs=8 RealMemory=64G\n" + part + "SelectTypeParameters=CR_Core_Memory\n",
			[]string{"error: slurm.conf:4: RealMemory=64G is no whole number"}, nil},
		{"switches", node + "PartitionName=a Nodes=ALL Default=0\nPartitionName=b Nodes=ALL Default=True\n",
			[]string{`partition "b" { default = true }`, `partition "a" { }`}, nil},
		{"a switch that is none", node + "PartitionName=a Nodes=ALL Default=maybe\n", []string{"error: slurm.conf:5: Default=maybe is neither YES nor NO"}, nil},
		{"white space in lists", node + "PartitionName=main Nodes=\"n1, n[2,4]\"\nPartitionName=x Nodes=\"n3 n4\"\n",
			[]string{`partition "main" { nodes = ["n-[1-2]", "n-4"] }`, `partition "x" { nodes = ["n-[3-4]"] }`}, nil},
		{"parameters of the schedulers", node + part + "SchedulerParameters=BF_Window=1440,Default_Queue_Depth=7\nSelectTypeParameters=\"CR_Core, CR_LLN\"\n",
			[]string{`backfill_window = "24h"`, "queue_depth = 7", "least_loaded = true"}, []string{"SchedulerParameters=", "CR_LLN:"}},
		{"numbers that Slurm does not take", node + part + "SchedulerParameters=bf_interval=-1,bf_resolution=0\n",
			[]string{`backfill_interval = "8760h"`, "SchedulerParameters=bf_resolution=0: Slurm refuses this number and uses its default"},
			[]string{"backfill_resolution"}},
		{"enforcement", node + part + "PriorityType=priority/multifactor\nPriorityWeightFairshare=1\nAccountingStorageEnforce=\"associations limits\"\n",
			[]string{"weight_fair_share = 1"}, []string{"charge"}},
		{"no end by limits", node + part + "OverTimeLimit=UNLIMITED\n", []string{`over_limit = "8760h1m30s"`}, nil},
		{"priorities of partitions", node + "PartitionName=a Nodes=ALL Priority=10\nPartitionName=b Nodes=ALL Priority=5 PriorityTier=7 PriorityJobFactor=3\n" +
			"PartitionName=c Nodes=ALL PriorityTier=7 MaxNodes=2\nPartitionName=d Nodes=ALL Priority=1 MaxNodes=UNLIMITED\n",
			[]string{`partition "a" { tier = 10 factor = 10 }`, `partition "b" { tier = 5 factor = 5 }`, `partition "c" { tier = 7 max_nodes = 2 }`,
				`partition "d" { }`}, nil},
		{"characters that are no text", node + "PartitionName=m\xfcl\x1a Nodes=ALL Default=YES\n", []string{`name = "m?l?"`}, nil},
		{"a vertical tab", node + "PartitionName=main\vNodes=ALL\vDefault=YES\n", []string{`partition "main" { default = true }`}, nil},
		{"one mistake once", node + "PartitionName=a Nodes=ALL DefaultTime=NONE\n", []string{"error: slurm.conf:5: DefaultTime: \"NONE\" is no time"}, []string{"more line"}},
		{"modes", node + part + "PreemptType=preempt/qos\nPreemptMode=CHECKPOINT\n", []string{"slurm.conf:7: PreemptMode=checkpoint: the default"}, nil},
		{"the output of scontrol", "Configuration data as of 2026-01-01T00:00:00\nBOOT_TIME               = 2026-01-01T00:00:00\n" + node,
			[]string{"error: slurm.conf:4: this is the output of  scontrol show config"}, []string{"BOOT_TIME"}},
	} {
		check(t, c.name, twinOf(t, map[string]string{"slurm.conf": plainConf + c.conf}), c.want, c.not)
	}
	got := twinOf(t, map[string]string{"slurm.conf": plainConf + "NodeName=n[1-2] CPUs=8 Gres=gpu:2\n" + part,
		"gres.conf": "Include more.conf # of all nodes\n", "more.conf": "NodeName=n[1-2] Name=gpu Type=a100 File=/dev/nvidia[0-1]\n"}, "gres.conf")
	check(t, "an included gres.conf", got, []string{`gpu = "a100"`}, nil)
}

// Of a large file that is no slurm.conf, only the first mistakes are kept.
func TestMistakesAreBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "slurm.conf")
	if err := folder.Write(path, []byte(strings.Repeat("ClusterName=c\nrow 1\n", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := ReadSlurmConf(path)
	if err != nil || len(c.Problems) < mostProblems || len(c.Problems) > mostProblems+10 {
		t.Errorf("%d mistakes, %v", len(c.Problems), err)
	}
	if err := folder.Write(path, []byte(strings.Repeat("NodeName=n CPUs=4\n", mostLines+5)), 0o600); err != nil {
		t.Fatal(err)
	}
	if c, err = ReadSlurmConf(path); err != nil || len(c.nodes) != mostLines+1 || len(c.Problems) != 1 ||
		!strings.Contains(c.Problems[0].Error(), "more than 65536 lines of nodes") {
		t.Errorf("%d nodes, %v, %v", len(c.nodes), c.Problems, err)
	}
}
