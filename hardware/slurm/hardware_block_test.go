//go:build unix

package slurm

import (
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/scheduler"
)

// block returns a hardware block with these arguments.
func block(args map[string]any) engine.Block {
	b := engine.Block{Values: engine.Values{All: map[string]any{"notice": time.Minute, "watch": 30 * time.Second},
		Set: map[string]bool{}}}
	for name, v := range args {
		b.All[name], b.Set[name] = v, true
	}
	return b
}

func TestDecode(t *testing.T) {
	t.Setenv("SLURM_JOB_ID", "")
	for _, test := range []struct {
		name string
		args map[string]any
		want string // summaries
	}{
		{"good", map[string]any{"threads": 2, "nodes": 3, "time": time.Hour, "sbatch": map[string]string{"reservation": "x"}},
			""},
		{"no threads", map[string]any{}, "Hardware without threads"},
		{"short", map[string]any{"threads": 1, "time": time.Minute}, "No time before the notice"},
		{"too often", map[string]any{"threads": 1, "watch": time.Millisecond}, "Value out of range"},
		{"own name", map[string]any{"threads": 1, "sbatch": map[string]string{"partition": "x"}},
			"Argument with a name of its own"},
		{"ours", map[string]any{"threads": 1, "sbatch": map[string]string{"array": "1-9"}},
			"Not an argument for an allocation"},
		{"dashes", map[string]any{"threads": 1, "sbatch": map[string]string{"--hold": ""}},
			"Not an argument for an allocation"},
	} {
		var got []string
		_, problems := decode(block(test.args))
		for _, p := range problems {
			got = append(got, p.Summary)
		}
		if strings.Join(got, "; ") != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// Within an allocation its nodes and cores are the defaults.
func TestJoined(t *testing.T) {
	t.Setenv("SLURM_JOB_ID", "4711")
	t.Setenv("SLURM_JOB_NUM_NODES", "4")
	t.Setenv("SLURM_JOB_CPUS_PER_NODE", "8(x3),6")
	b := block(nil)
	set, problems := decode(b)
	machine := kind.Machine(b, engine.Host{})
	nodes := kind.Nodes(b, machine)
	if len(problems) > 0 || set.(*settings).Joined != "4711" || len(nodes) != 4 || nodes[3].Threads != 6 ||
		nodes[3].Name != "node-4" {
		t.Errorf("%v, %+v, %+v", problems, set, nodes)
	}
}

func TestCheckJob(t *testing.T) {
	h := &engine.Hardware{Name: "h", Kind: &kind, Settings: &settings{}}
	if p := checkJob(h, &engine.Job{Name: "a", Nodes: 2}, engine.Host{}); len(p) != 1 || p[0].Arg != "nodes" {
		t.Error(p)
	}
	if p := checkJob(h, &engine.Job{Name: "a", Nodes: 2, Roles: true}, engine.Host{}); p != nil {
		t.Error(p)
	}
}

// Settings that decide where jobs run are in the key; the length of the allocation is not.
func TestLines(t *testing.T) {
	key := func(s settings) string { return keyLines(&engine.Hardware{Kind: &kind, Settings: &s})[0].Value }
	one := key(settings{Partition: "a"})
	if one == key(settings{Partition: "b"}) || one == key(settings{Partition: "a", More: map[string]string{"x": "y"}}) {
		t.Error("the key does not tell partitions or arguments apart")
	}
	if one != key(settings{Partition: "a", Time: time.Hour, Account: "me"}) {
		t.Error("the key has how long the allocation lasts, or who pays")
	}
}

// A step's script gives the program its variables and its cores, and nothing of another tfexp's.
func TestScript(t *testing.T) {
	p := part(1, 2, 3)
	j := job(`it's "$x"`)
	j.Env = []string{"A=b c'd"}
	text := string(script(&j, p, []int{4, 5}, []string{"GPU-1"}))
	for _, want := range []string{"unset TFEXP_CONTROL\n", "export A='b c'\\''d'\n", "export TFEXP_INTRA_THREADS='2'\n",
		"export CUDA_VISIBLE_DEVICES='GPU-1'\n", `exec taskset -c 4,5 '/bin/sh' '-c' 'it'\''s "$x"'` + "\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the script lacks %q:\n%s", want, text)
		}
	}
}

// part is a part on a node with cores from lo to hi.
func part(node int, lo, hi int32) scheduler.Part {
	return scheduler.Part{Node: node, Cores: scheduler.CoreSet{{Lo: lo, Hi: hi + 1}}}
}
