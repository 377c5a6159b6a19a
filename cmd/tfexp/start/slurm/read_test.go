package slurm

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/folder"
	_ "github.com/tfexp/tfexp/stages/all"
)

const (
	conf = `ClusterName=demo
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/multifactor
PriorityWeightAge=1000 # a comment
SchedulerParameters=bf_interval=10,\
default_queue_depth=50
NodeName=n[1-4] CPUs=8 Feature=ib
NodeName=gpu1 CPUs=16 Gres=gpu:a100:2 Weight=10
PartitionName=main Nodes=n[1-4],gpu1 Default=YES MaxTime=1-0
`
	assoc = `Account|User|Share|GrpTRES|MaxJobs
root||1||
root|root|1||
 physics||50|cpu=16|
  physics|ada|3||2
`
	jobs = `JobID|User|Account|Partition|QOS|Submit|Start|End|TimelimitRaw|ReqCPUS|State
1|ada|physics|main|normal|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|10|4|COMPLETED
2|ada|physics|main|normal|2026-01-01T00:00:01|Unknown|Unknown|10|4|CANCELLED
`
)

// write writes files into a new folder and returns their paths.
func write(t *testing.T, texts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		if err := folder.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRead(t *testing.T) {
	dir := write(t, map[string]string{"slurm.conf": conf, "more.conf": "PriorityWeightQOS=7\n", "assoc.txt": assoc,
		"sacct.txt": jobs})
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := folder.WriteFile(path("slurm.conf"), []byte(conf+"include more.conf\nTopologyPlugin=topology/tree\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	tw, err := Read(path("slurm.conf"), []string{path("sacct.txt"), path("assoc.txt")})
	if err != nil {
		t.Fatal(err)
	}
	source, err := tw.Experiment("demo", dir)
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`\s+`).ReplaceAllString(strings.ReplaceAll(string(source), "#", ""), " ")
	for _, want := range []string{
		`node "n" { count = 4 threads = 8 }`, `node "gpu1" { count = 1 threads = 16 gpus = 2 gpu = "a100" }`,
		`weight_age = 1000`, `weight_qos = 7`, `backfill_interval = "10s"`, `queue_depth = 50`,
		`partition "main" { nodes = ["n-[1-4]", "gpu1"] default = true max_time = "24h" }`,
		`account "physics" { shares = 50 group_cores = 16 user "ada" { shares = 3 max_jobs = 2 } }`,
		`names = ["n-[1-4]"] features = ["ib"]`, `TopologyPlugin=topology/tree: jobs are placed as if`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the experiment does not say\n%s\nbut\n%s", want, source)
		}
	}
	file := path("demo.hcl")
	if err := folder.WriteFile(file, source, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, problems := decode.File(file, decode.Options{}); len(problems) > 0 {
		t.Errorf("%v", problems)
	}
}

func TestWrongInput(t *testing.T) {
	tests := []struct{ name, conf, assoc, jobs, want string }{
		{"unknown parameter", conf + "PriorityWeigthAge=3\n", "", "", "slurm.conf:11: slurm.conf has no parameter PriorityWeigthAge. " +
			"Did you mean PriorityWeightAge?"},
		{"a parameter twice", conf + "PriorityWeightAge=3\n", "", "", "slurm.conf:11: PriorityWeightAge is 3 here and 1000 in line 5"},
		{"a partition twice", conf + "PartitionName=main Nodes=n1\n", "", "", `the partition "main" stands in line 10 as well`},
		{"unknown node", conf + "PartitionName=other Nodes=n[1-9]\n", "", "", "has the node n5, which no line NodeName= describes"},
		{"contradicting times", conf + "PartitionName=other Nodes=n1 MaxTime=10 DefaultTime=20\n", "", "",
			"DefaultTime=20 above MaxTime=10"},
		{"no number", conf + "PriorityWeightQOS=much\n", "", "", "PriorityWeightQOS=much is no whole number"},
		{"no bracket", conf + "NodeName=x[1-2 CPUs=4\n", "", "", "has no closing bracket"},
		{"missing include", conf + "include nowhere.conf\n", "", "", "the included file cannot be read"},
		{"no nodes", "ClusterName=x\nSelectType=select/cons_tres\n", "", "", "no line begins with NodeName="},
		{"user without account", conf, "Account|User|Share\nbiology|bob|1\n", "",
			`assoc.txt:2: the user "bob" is in the account "biology", which no line before describes`},
		{"not a table", conf, "hello\n", "", "this is no table of sacctmgr"},
		{"job of another cluster", conf, "", strings.Replace(jobs, "|main|", "|large|", 1),
			`sacct.txt:2: job 1 ran in the partition "large", which the configuration does not have`},
		{"job that ends before it starts", conf, "", strings.Replace(jobs, "00:01:00", "00:00:01", 1), "it ends before it starts"},
		{"log without a column", conf, "", "JobID|User\n1|ada\n", `there is no column "Submit"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := write(t, map[string]string{"slurm.conf": test.conf, "assoc.txt": test.assoc, "sacct.txt": test.jobs})
			var others []string
			for _, name := range []string{"assoc.txt", "sacct.txt"} {
				if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Size() > 0 {
					others = append(others, filepath.Join(dir, name))
				}
			}
			_, err := Read(filepath.Join(dir, "slurm.conf"), others)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}
