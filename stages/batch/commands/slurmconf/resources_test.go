package slurmconf

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages/batch"
)

const devices = `ClusterName=demo
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
NodeName=mixed CPUs=16 RealMemory=64000 Gres=gpu:A100_3g.20gb:2(S:0-1),gpu:a100_1g.5gb:3,shard:8
NodeName=v[1-2] CPUs=16 RealMemory=64000 Gres=gpu:v100:4
NodeName=plain CPUs=16 RealMemory=64000 Gres=gpu
PartitionName=main Nodes=ALL Default=YES
`

func TestResources(t *testing.T) {
	const head = "JobID|User|Partition|Submit|Start|End|ReqCPUS|NNodes|ReqMem|ReqTRES|AllocTRES|State\n"
	job := func(id int, cpus, mem, asked, got string) string {
		return fmt.Sprintf("%d|ada|main|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|%s|1|%s|%s|%s|COMPLETED\n",
			id, cpus, mem, asked, got)
	}
	dir := write(t, map[string]string{"slurm.conf": devices, "sacct.txt": head +
		job(1, "4", "0", "cpu=4,gres/gpu:v100=4,mem=8G", "") + job(2, "4", "2Gc", "cpu=4", "cpu=4,gres/gpu=2,gres/gpu:v100=2") +
		job(3, "4", "4Gn", "cpu=4,gres/gpu=1,gres/gpu:a100_1g.5gb=1", "") + job(4, "", "", "cpu=8,mem=62.50G", "cpu=8") +
		job(5, "1", "", "gres/gpu:v100=1,gres/gpu:k80=1", "") + job(6, "1", "", "gres/shard=2", ""),
		"other.txt": head + job(1, "4", "", "gres/gpu:h100=1", "")})
	path := func(name string) string { return filepath.Join(dir, name) }
	tw, err := ReadTwin(path("slurm.conf"), []string{path("sacct.txt")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range tw.trace.Jobs {
		j := &tw.trace.Jobs[i]
		got = append(got, fmt.Sprint(j.Name, " ", j.Threads, " ", j.GPUs, " ", j.Memory>>20, " ", j.Submission().Features))
	}
	want := "1 4 4 8192 [gpu:v100]; 2 4 2 8192 []; 3 4 1 4096 [gpu:a100_1g.5gb]; 4 8 0 64000 []; 5 1 2 0 []; 6 1 0 0 []"
	if strings.Join(got, "; ") != want {
		t.Errorf("the jobs are %s, want %s", strings.Join(got, "; "), want)
	}
	if got := strings.Join(tw.trace.Assumed, "; "); got != "jobs for which the file has no time limit (6) have the default; "+
		"jobs that ask for GPUs of several types (1) get GPUs of any type; "+
		"jobs that ask for parts of GPUs, as shard or mps (1), get no GPU" {
		t.Errorf("assumed is %s", got)
	}
	source, text := experimentOf(t, dir)
	for _, want := range []string{`node "mixed" { count = 1 threads = 16 memory = "64000MiB" gpus = 5 }`,
		`node "v" { count = 2 threads = 16 memory = "64000MiB" gpus = 4 gpu = "v100" }`,
		`node "plain" { count = 1 threads = 16 memory = "64000MiB" gpus = 1 }`,
		`features = ["gpu:a100_3g.20gb", "gpu:a100_1g.5gb"]`, "Gres=shard:8: only GPUs are counted",
		"slurm.conf:4: Gres=gpu:A100_3g.20gb:2(S:0-1),gpu:a100_1g.5gb:3,shard:8: all 5 GPUs of a node count as one type"} {
		if !strings.Contains(text, want) {
			t.Errorf("the experiment does not say\n%s\nbut\n%s", want, source)
		}
	}
	strict := strings.Replace(devices, " Gres=gpu\n", "\n", 1)
	dir2 := write(t, map[string]string{"slurm.conf": strict})
	_, err = ReadTwin(filepath.Join(dir2, "slurm.conf"), []string{path("other.txt")})
	if err == nil || !strings.Contains(err.Error(), `other.txt:2: job 1 asked for GPUs of the type "h100", which no node has`) {
		t.Errorf("the error is %v", err)
	}
}

// Versions of Slurm before 21 have the devices of a job in ReqGRES and AllocGRES.
func TestOldDevices(t *testing.T) {
	const head = "JobID|User|Partition|Submit|Start|End|ReqCPUS|NNodes|ReqGRES|AllocGRES|State\n"
	const line = "%d|ada|main|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|4|2|%s|%s|COMPLETED\n"
	dir := write(t, map[string]string{"slurm.conf": devices, "sacct.txt": head + fmt.Sprintf(line, 1, "gpu:v100:4", "gpu:8") +
		fmt.Sprintf(line, 2, "", "gpu:2") + fmt.Sprintf(line, 3, "", "")})
	tw, err := ReadTwin(filepath.Join(dir, "slurm.conf"), []string{filepath.Join(dir, "sacct.txt")})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range tw.trace.Jobs {
		got = append(got, fmt.Sprint(tw.trace.Jobs[i].GPUs, tw.trace.Jobs[i].Submission().Features))
	}
	if want := "8 [gpu:v100]; 2 []; 0 []"; strings.Join(got, "; ") != want {
		t.Errorf("the GPUs are %q, want %s", got, want)
	}
	if notes := strings.Join(tw.Unmodeled, "\n"); !strings.Contains(notes, "jobs for which the file has no memory (3;") {
		t.Errorf("the notes are %s", notes)
	}
}

// Resources that are written as numbers are read where each cluster gives them the same meaning, and errors elsewhere.
func TestNumberedResources(t *testing.T) {
	const line = "1|ada|main|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00||1|%s|COMPLETED\n"
	read := func(tres string) string {
		log := "JobID|User|Partition|Submit|Start|End|ReqCPUS|NNodes|AllocTRES|State\n" + fmt.Sprintf(line, tres)
		dir := write(t, map[string]string{"slurm.conf": devices, "sacct.txt": log})
		tw, err := ReadTwin(filepath.Join(dir, "slurm.conf"), []string{filepath.Join(dir, "sacct.txt")})
		if err != nil {
			return err.Error()
		}
		return fmt.Sprint(tw.trace.Jobs[0].Threads, " ", tw.trace.Jobs[0].Memory>>20)
	}
	for tres, want := range map[string]string{
		"1=4,2=4096,4=1,5=4": "4 4096",
		"1=1,2=4096,4=1,1001=2": `sacct.txt:2: AllocTRES: the resource 1001= is written as an ID, whose meaning differs between clusters: ` +
			`"sacctmgr show tres" lists the names by ID`,
	} {
		if got := read(tres); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", tres, got, want)
		}
	}
	check(t, "a limit", twinOf(t, map[string]string{"slurm.conf": "AccountingStorageEnforce=limits\n" + devices,
		"assoc.txt": "Account|User|Share|GrpTRES\nroot||1|\na||1|1=8,1001=2\n"}, "assoc.txt"),
		[]string{"error: assoc.txt:3: GrpTRES=1=8,1001=2: the resource 1001= is written as an ID"}, nil)
	queue := "JobId=1 JobName=a\n   UserId=ada(5) GroupId=x(1)\n   JobState=PENDING Reason=Priority\n   SubmitTime=2026-01-01T10:00:00\n" +
		"   NumNodes=1 NumCPUs=2\n   TRES=1=2,1002=3\n"
	if _, _, err := ReadQueue("q", strings.NewReader(queue)); err == nil || !strings.HasPrefix(err.Error(), "q:1: the job 1: the resource 1002=") {
		t.Errorf("the error is %v", err)
	}
}

// GPUs of each task, and memory of each GPU, count where nothing says how many there are of all.
func TestPartsOfQueue(t *testing.T) {
	for fields, want := range map[string]string{
		"NumNodes=1 NumCPUs=8 NumTasks=4\n   TresPerTask=gres/gpu:1":                                                  "4 0 []",
		"NumNodes=1 NumCPUs=8 NumTasks=2\n   TresPerTask=cpu=4,gres/gpu:t4=2":                                         "4 0 [gpu:t4]",
		"NumNodes=1 NumCPUs=8\n   TresPerTask=gres/gpu:1":                                                             "0 0 [TresPerTask counts for nothing without NumTasks: 1 job]",
		"NumNodes=1 NumCPUs=8 NumTasks=4\n   TRES=cpu=8,gres/gpu=3\n   TresPerTask=gres/gpu:1":                        "3 0 []",
		"NumNodes=1 NumCPUs=8\n   TRES=cpu=8,node=1\n   MemPerTres=gres:gpu:4096\n   TresPerNode=gres:gpu:2":          "2 8192 []",
		"NumNodes=1 NumCPUs=8\n   TRES=cpu=8,mem=1G,node=1\n   MemPerTres=gres:gpu:4096\n   TresPerNode=gres/gpu:a:2": "2 1024 [gpu:a]",
	} {
		q, notes, err := ReadQueue("q", strings.NewReader("JobId=1 JobName=a\n   UserId=ada(5) GroupId=x(1)\n   JobState=PENDING Reason=Priority\n"+
			"   SubmitTime=2026-01-01T10:00:00\n   "+fields+"\n"))
		if err != nil || len(q.Jobs) != 1 {
			t.Errorf("%s: %v", fields, err)
			continue
		}
		j := &q.Jobs[0]
		if got := fmt.Sprint(j.GPUs, " ", j.Memory>>20, " ", append(j.Submission().Features, notes...)); got != want {
			t.Errorf("%s: %s, want %s", fields, got, want)
		}
	}
}

// Nodes without a size of memory are noted where memory is consumed.
func TestNoMemory(t *testing.T) {
	check(t, "no RealMemory", twinOf(t, map[string]string{"slurm.conf": strings.Replace(devices, " RealMemory=64000 Gres=gpu:v100:4", "", 1)}),
		[]string{"slurm.conf:5: NodeName=v[1-2]: without RealMemory= its memory is not counted"}, nil)
}

// Memory for the system is no memory of jobs, if it is less than all; of several defaults, the first in Slurm counts.
func TestMemoryOfNodes(t *testing.T) {
	for line, want := range map[string]string{
		"MemSpecLimit=2000": `memory = "62000MiB"`, "MemSpecLimit=64000": `memory = "64000MiB"`, "MemSpecLimit=99999": `memory = "64000MiB"`,
	} {
		got := twinOf(t, map[string]string{"slurm.conf": strings.Replace(devices, "RealMemory=64000", "RealMemory=64000 "+line, 1)})
		check(t, line, got, []string{want}, nil)
	}
	const conf = "SelectType=select/cons_tres\nSelectTypeParameters=CR_Core_Memory\nNodeName=a1 CPUs=8 RealMemory=32000 Gres=gpu:2\nGresTypes=gpu\n" +
		"PartitionName=main Nodes=ALL Default=YES "
	const log = "JobID|User|Partition|Submit|Start|End|ReqCPUS|NNodes|ReqTRES|State\n" +
		"1|ada|main|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|4|1|gres/gpu=2|COMPLETED\n"
	for line, want := range map[string]int64{
		"DefMemPerCPU=1000 DefMemPerNode=3000": 3000, "DefMemPerGPU=500 DefMemPerCPU=1000": 4000,
		"JobDefaults=DefCpuPerGPU=2,DefMemPerGPU=700": 1400, "DefMemPerNode=2k": 2048, "DefMemPerNode=UNLIMITED": 0,
	} {
		dir := write(t, map[string]string{"slurm.conf": conf + line + "\n", "sacct.txt": log})
		tw, err := ReadTwin(filepath.Join(dir, "slurm.conf"), []string{filepath.Join(dir, "sacct.txt")})
		if err != nil {
			t.Errorf("%s: %v", line, err)
		} else if got := tw.trace.Jobs[0].Memory >> 20; got != want {
			t.Errorf("%s: the job has %d MiB, want %d", line, got, want)
		}
	}
}

// Jobs without memory in the log have the default of their partition, or of the cluster, where memory is divided.
func TestDefaultMemory(t *testing.T) {
	const rest = "SelectType=select/cons_tres\nDefMemPerNode=3000\nNodeName=a1 CPUs=8 RealMemory=32000 Gres=gpu:2\nGresTypes=gpu\n" +
		"PartitionName=main Nodes=ALL Default=YES DefMemPerCPU=2000\nPartitionName=gpu Nodes=ALL DefMemPerGPU=5000\nPartitionName=other Nodes=ALL\n"
	const log = "JobID|User|Partition|Submit|Start|End|ReqCPUS|NNodes|ReqMem|ReqTRES|State\n" +
		"1|ada|main|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|4|1|||COMPLETED\n" +
		"2|ada|gpu|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|2|1||cpu=2,gres/gpu=2|COMPLETED\n" +
		"3|ada|other|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|2|1|||COMPLETED\n" +
		"4|ada|main|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|2|1|1G||COMPLETED\n" +
		"5|ada|main|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|2|1|?||COMPLETED\n" // sacct does not know it
	for memory, want := range map[string][]int64{"CR_Core_Memory": {8000, 10000, 3000, 1024, 4000}, "CR_Core": {0, 0, 0, 1024, 0}} {
		dir := write(t, map[string]string{"slurm.conf": "SelectTypeParameters=" + memory + "\n" + rest, "sacct.txt": log})
		tw, err := ReadTwin(filepath.Join(dir, "slurm.conf"), []string{filepath.Join(dir, "sacct.txt")})
		if err != nil {
			t.Fatal(err)
		}
		for i, mb := range want {
			if got := tw.trace.Jobs[i].Memory; got != mb<<20 {
				t.Errorf("%s: job %s has %d bytes, want %d MiB", memory, tw.trace.Jobs[i].Name, got, mb)
			}
		}
		_, text := experimentOf(t, dir, "sacct.txt")
		said := `default_memory = { main = "2000MiB per thread", gpu = "5000MiB per gpu", "*" = "3000MiB per node" }`
		if got := strings.Contains(strings.ReplaceAll(strings.ReplaceAll(text, `"main" =`, "main ="), `"gpu" =`, "gpu ="), said); got != (memory == "CR_Core_Memory") {
			t.Errorf("%s: %s", memory, text)
		}
	}
}

// Jobs without a time limit have the default of their partition, or its greatest, or a year.
func TestDefaultLimit(t *testing.T) {
	conf := plainConf + "NodeName=a1 CPUs=8\nPartitionName=main Nodes=ALL Default=YES MaxTime=60 DefaultTime=5\nPartitionName=long Nodes=ALL MaxTime=2-0\n" +
		"PartitionName=free Nodes=ALL\n"
	line := func(id int, partition, limit string) string {
		return fmt.Sprintf("%d|ada|%s|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|2|%s|COMPLETED\n", id, partition, limit)
	}
	for head, log := range map[string]string{
		"JobID|User|Partition|Submit|Start|End|ReqCPUS|TimelimitRaw|State\n": line(1, "main", "Partition_Limit") + line(2, "long", "") +
			line(3, "free", "") + line(4, "main", "7") + line(5, "main", "UNLIMITED"),
		"JobID|User|Partition|Submit|Start|End|ReqCPUS|WCKey|State\n": line(1, "main", "") + line(2, "long", "") + line(3, "free", "x"),
	} {
		dir := write(t, map[string]string{"slurm.conf": conf, "sacct.txt": head + log})
		tw, err := ReadTwin(filepath.Join(dir, "slurm.conf"), []string{filepath.Join(dir, "sacct.txt")})
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range []time.Duration{5 * time.Minute, 48 * time.Hour, batch.NoLimit, 7 * time.Minute, batch.NoLimit}[:len(tw.trace.Jobs)] {
			if j := tw.trace.Jobs[i]; j.Predicted != want || j.Submission().Limit != want {
				t.Errorf("job %s has %v, want %v", j.Name, j.Predicted, want)
			}
		}
		source, _ := experimentOf(t, dir, "sacct.txt")
		file := filepath.Join(dir, "demo.hcl")
		if err := folder.WriteFile(file, source, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, problems := decode.File(file, decode.Options{}); len(problems) > 0 {
			t.Errorf("%v in %s", problems, source)
		}
	}
}

// A job that had more GPUs of a type than there are is of another configuration.
func TestTooManyGPUs(t *testing.T) {
	const head = "JobID|User|Partition|Submit|Start|End|ReqCPUS|NNodes|ReqTRES|State\n"
	for tres, want := range map[string]string{
		// eight, and one of no known type
		"cpu=2,gres/gpu:v100=10,gres/gpu=10": "error: sacct.txt:2: job 1 had 10 GPUs, and the configuration has 9 of the type that it asked for",
		"cpu=2,gres/gpu=15":                  "error: sacct.txt:2: job 1 had 15 GPUs, and the configuration has 14",
	} {
		log := head + "1|ada|main|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|2|1|" + tres + "|COMPLETED\n"
		check(t, tres, twinOf(t, map[string]string{"slurm.conf": devices, "sacct.txt": log}, "sacct.txt"), []string{want}, nil)
	}
}
