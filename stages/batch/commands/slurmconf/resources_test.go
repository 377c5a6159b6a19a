package slurmconf

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
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
	if got := strings.Join(tw.trace.Assumed, "; "); got != "jobs that ask for GPUs of several types (1) have any; "+
		"jobs that ask for shards of GPUs (1) have none" {
		t.Errorf("assumed is %s", got)
	}
	source, text := experimentOf(t, dir)
	for _, want := range []string{`node "mixed" { count = 1 threads = 16 memory = "64000MiB" gpus = 5 }`,
		`node "v" { count = 2 threads = 16 memory = "64000MiB" gpus = 4 gpu = "v100" }`,
		`node "plain" { count = 1 threads = 16 memory = "64000MiB" gpus = 1 }`,
		`features = ["gpu:a100_3g.20gb", "gpu:a100_1g.5gb"]`, "Gres=shard:8: only GPUs are counted",
		"slurm.conf:4: Gres=gpu:A100_3g.20gb:2(S:0-1),gpu:a100_1g.5gb:3,shard:8: the 5 GPUs of a node are of one kind"} {
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
	if notes := strings.Join(tw.Unmodeled, "\n"); !strings.Contains(notes, "3 jobs have no memory") {
		t.Errorf("the notes are %s", notes)
	}
}

// Nodes without a size of memory are noted where memory is consumed.
func TestNoMemory(t *testing.T) {
	check(t, "no RealMemory", twinOf(t, map[string]string{"slurm.conf": strings.Replace(devices, " RealMemory=64000 Gres=gpu:v100:4", "", 1)}),
		[]string{"slurm.conf:5: NodeName=v[1-2]: without RealMemory= its memory is not counted"}, nil)
}
