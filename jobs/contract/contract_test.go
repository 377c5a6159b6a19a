package contract

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
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
		}, Env{Threads: Allotment{1, 1}, CheckpointEvery: Interval{Steps: 500}, Budget: pointer(1500 *
			time.Millisecond), Target: 0.05,
			Part: Part{"ps", 1, Cluster{"ps": {"h:1", "[::1]:2"}, "worker": {"127.0.0.1:3"}}}}, ""},
		{"no such task", part("ps", "1", `{"ps":["h:1"]}`), Env{}, "has 1 parts of role ps"},
		{"no such role", part("worker", "", `{"ps":["h:1"]}`), Env{}, "has 0 parts of role worker"},
		{"no cluster", part("worker", "0", ""), Env{}, "TFEXP_CLUSTER is not a JSON object"},
		{"no address", part("ps", "0", `{"ps":["h"]}`), Env{}, `"h" is not an address`},
		{"negative task", map[string]string{"TFEXP_ROLE": "ps", "TFEXP_TASK": "-1"}, Env{}, `TFEXP_TASK is "-1"`},
		{"an interval of time", map[string]string{"TFEXP_CHECKPOINT_EVERY": "10m"},
			Env{Threads: Allotment{1, 1}, CheckpointEvery: Interval{Time: 10 * time.Minute}}, ""},
		{"an interval of epochs", map[string]string{"TFEXP_CHECKPOINT_EVERY": "2epochs"},
			Env{Threads: Allotment{1, 1}, CheckpointEvery: Interval{Epochs: 2}}, ""},
		{"no interval", map[string]string{"TFEXP_CHECKPOINT_EVERY": "often"}, Env{}, `"often" is not an interval`},
		{"an interval of nothing", map[string]string{"TFEXP_CHECKPOINT_EVERY": "0steps"}, Env{}, "is not an interval"},
		{"no target", map[string]string{"TFEXP_TARGET_LOSS": "0"}, Env{}, `TFEXP_TARGET_LOSS is "0"`},
		{"no budget", map[string]string{"TFEXP_BUDGET": "-1"}, Env{}, `TFEXP_BUDGET is "-1"`},
		{"nothing", nil, Env{Threads: Allotment{1, 1}}, ""},
		{"all", map[string]string{
			"TFEXP_JOB": "long-1", "TFEXP_EPOCHS": "60", "TFEXP_INTER_THREADS": "2", "TFEXP_INTRA_THREADS": "3",
			"TFEXP_NUM_GPUS": "1", "TFEXP_CHECKPOINT_DIR": "/ck", "TFEXP_CONTROL": "/control",
		}, Env{
			Job: "long-1", Epochs: 60, Threads: Allotment{2, 3}, GPUs: 1, CheckpointDir: "/ck", ControlPath: "/control",
		}, ""},
		{"steps", map[string]string{"TFEXP_STEPS": "9"}, Env{Steps: 9, Threads: Allotment{1, 1}}, ""},
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

func TestSplit(t *testing.T) {
	for _, test := range []struct{ inter, intra, request, granted, wantInter, wantIntra int }{
		{1, 4, 4, 4, 1, 4}, // a plain request, granted
		{1, 4, 4, 2, 1, 2}, // and shrunk
		{1, 4, 4, 1, 1, 1},
		{1, 3, 4, 4, 1, 3}, // split
		{1, 3, 4, 2, 1, 1},
		{2, 2, 4, 3, 1, 2},
		{2, 6, 8, 4, 1, 3},
		{4, 4, 8, 4, 2, 2},
		{4, 1, 5, 2, 1, 1},
		{2, 2, 4, 1, 1, 1},
		{2, 3, 5, 4, 2, 2},  // 1.6 and 2.4 cores: inter has the largest remainder
		{2, 4, 6, 12, 4, 8}, // beyond the request, as a malleable job may get
		{1, 4, 4, 6, 1, 6},
		{1, 1, 2, 1, 1, 1},
		{0, 0, 1, 0, 1, 1},
	} {
		inter, intra := Split(test.inter, test.intra, test.request, test.granted)
		if inter != test.wantInter || intra != test.wantIntra {
			t.Errorf("Split(%d, %d, %d, %d) = %d, %d, want %d, %d",
				test.inter, test.intra, test.request, test.granted, inter, intra, test.wantInter, test.wantIntra)
		}
	}
}

// The pools share the cores in proportion to the requested sizes, each to the nearest whole number, none below 1. No
// pool shrinks with one more core. On the request the job has exactly the pools that it asked for.
func TestSplitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inter := rapid.IntRange(1, 64).Draw(t, "inter")
		intra := rapid.IntRange(1, 64).Draw(t, "intra")
		request := inter + intra
		lastInter, lastIntra := 1, 1
		for granted := 1; granted <= 2*request; granted++ {
			a, b := Split(inter, intra, request, granted)
			if a < 1 || b < 1 || granted >= 2 && a+b != granted {
				t.Fatalf("granted %d: %d and %d", granted, a, b)
			}
			if a < lastInter || b < lastIntra {
				t.Fatalf("granted %d: %d and %d after %d and %d", granted, a, b, lastInter, lastIntra)
			}
			// Twice the distance from the exact share, times the request.
			if off := 2 * max(a*request-granted*inter, granted*inter-a*request); off > request && a > 1 && b > 1 {
				t.Fatalf("granted %d: %d and %d are not the nearest to %d:%d", granted, a, b, inter, intra)
			}
			if granted == request && (a != inter || b != intra) {
				t.Fatalf("granted its request: %d and %d", a, b)
			}
			lastInter, lastIntra = a, b
		}
	})
}

// A part's environment is read as the part that it was made from.
func TestPartEnviron(t *testing.T) {
	want := Part{Role: RoleWorker, Task: 1, Cluster: Cluster{"ps": {"h:1"}, "worker": {"h:2", "h:3"}}}
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
	if want.Chief() || want.Address() != "h:3" {
		t.Errorf("chief %v, address %s", want.Chief(), want.Address())
	}
	if first := (Part{Role: RoleWorker, Cluster: want.Cluster}); !first.Chief() {
		t.Error("worker 0 is not the chief")
	}
	if first := (Part{Role: RoleWorker, Cluster: Cluster{"chief": {"h:1"}, "worker": {"h:2"}}}); first.Chief() {
		t.Error("worker 0 is the chief beside one")
	}
}
