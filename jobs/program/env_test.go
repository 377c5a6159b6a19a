package program

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tfexp/tfexp/jobs/contract"
)

func part(role, task, cluster string) map[string]string {
	return map[string]string{"TFEXP_ROLE": role, "TFEXP_TASK": task, "TFEXP_CLUSTER": cluster}
}

func TestFromEnv(t *testing.T) {
	for _, test := range []struct {
		name string
		vars map[string]string
		want Env
		fail string // part of the error
	}{
		{"a part", map[string]string{
			"TFEXP_ROLE": "ps", "TFEXP_TASK": "1", "TFEXP_CLUSTER": `{"ps":["h:1","[::1]:2"],"worker":["127.0.0.1:3"]}`,
			"TFEXP_CHECKPOINT_EVERY": "500steps", "TFEXP_BUDGET": "1.5", "TFEXP_TARGET_LOSS": "0.05",
		}, Env{Threads: contract.Allotment{Inter: 1, Intra: 1}, CheckpointEvery: Interval{Steps: 500}, Budget: pointer(1500 *
			time.Millisecond), Target: 0.05,
			Part: contract.Part{Role: "ps", Task: 1, Cluster: contract.Cluster{"ps": {"h:1", "[::1]:2"}, "worker": {"127.0.0.1:3"}}}}, ""},
		{"no such task", part("ps", "1", `{"ps":["h:1"]}`), Env{}, "has 1 parts of role ps"},
		{"no such role", part("worker", "", `{"ps":["h:1"]}`), Env{}, "has 0 parts of role worker"},
		{"no cluster", part("worker", "0", ""), Env{}, "TFEXP_CLUSTER is not a JSON object"},
		{"no address", part("ps", "0", `{"ps":["h"]}`), Env{}, `"h" is not an address`},
		{"negative task", map[string]string{"TFEXP_ROLE": "ps", "TFEXP_TASK": "-1"}, Env{}, `TFEXP_TASK is "-1"`},
		{"an interval of time", map[string]string{"TFEXP_CHECKPOINT_EVERY": "10m"},
			Env{Threads: contract.Allotment{Inter: 1, Intra: 1}, CheckpointEvery: Interval{Time: 10 * time.Minute}}, ""},
		{"an interval of epochs", map[string]string{"TFEXP_CHECKPOINT_EVERY": "2epochs"},
			Env{Threads: contract.Allotment{Inter: 1, Intra: 1}, CheckpointEvery: Interval{Epochs: 2}}, ""},
		{"no interval", map[string]string{"TFEXP_CHECKPOINT_EVERY": "often"}, Env{}, `"often" is not an interval`},
		{"an interval of nothing", map[string]string{"TFEXP_CHECKPOINT_EVERY": "0steps"}, Env{}, "is not an interval"},
		{"no target", map[string]string{"TFEXP_TARGET_LOSS": "0"}, Env{}, `TFEXP_TARGET_LOSS is "0"`},
		{"no budget", map[string]string{"TFEXP_BUDGET": "-1"}, Env{}, `TFEXP_BUDGET is "-1"`},
		{"nothing", nil, Env{Threads: contract.Allotment{Inter: 1, Intra: 1}}, ""},
		{"all", map[string]string{
			"TFEXP_JOB": "long-1", "TFEXP_EPOCHS": "60", "TFEXP_INTER_THREADS": "2", "TFEXP_INTRA_THREADS": "3",
			"TFEXP_NUM_GPUS": "1", "TFEXP_CHECKPOINT_DIR": "/ck", "TFEXP_CONTROL": "/control",
		}, Env{
			Job: "long-1", Epochs: 60, Threads: contract.Allotment{Inter: 2, Intra: 3}, GPUs: 1, CheckpointDir: "/ck", ControlPath: "/control",
		}, ""},
		{"steps", map[string]string{"TFEXP_STEPS": "9"}, Env{Steps: 9, Threads: contract.Allotment{Inter: 1, Intra: 1}}, ""},
		{"both lengths", map[string]string{"TFEXP_STEPS": "9", "TFEXP_EPOCHS": "1"}, Env{},
			"both TFEXP_EPOCHS and TFEXP_STEPS"},
		{"no threads", map[string]string{"TFEXP_INTRA_THREADS": "0"}, Env{}, `TFEXP_INTRA_THREADS is "0"`},
		{"not a number", map[string]string{"TFEXP_EPOCHS": "1.5"}, Env{}, `TFEXP_EPOCHS is "1.5"`},
	} {
		got, err := FromEnv(func(name string) string { return test.vars[name] })
		switch {
		case test.fail == "" && err != nil, test.fail != "" && (err == nil || !strings.Contains(err.Error(), test.fail)):
			t.Errorf("%s: error %v, want %q", test.name, err, test.fail)
		case !cmp.Equal(got, test.want):
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}

// A part's environment is read as the part that it was made from.
func TestPartEnviron(t *testing.T) {
	want := contract.Part{Role: contract.RoleWorker, Task: 1, Cluster: contract.Cluster{"ps": {"h:1"}, "worker": {"h:2", "h:3"}}}
	list, err := want.Environ()
	if err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{}
	for _, entry := range list {
		name, value, _ := strings.Cut(entry, "=")
		vars[name] = value
	}
	env, err := FromEnv(func(name string) string { return vars[name] })
	if diff := cmp.Diff(want, env.Part); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	if IsChief(want) || want.Address() != "h:3" {
		t.Errorf("chief %v, address %s", IsChief(want), want.Address())
	}
	if first := (contract.Part{Role: contract.RoleWorker, Cluster: want.Cluster}); !IsChief(first) {
		t.Error("worker 0 is not the chief")
	}
	if first := (contract.Part{Role: contract.RoleWorker, Cluster: contract.Cluster{"chief": {"h:1"}, "worker": {"h:2"}}}); IsChief(first) {
		t.Error("worker 0 is the chief beside one")
	}
}
