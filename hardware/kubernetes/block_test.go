package kubernetes

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/kubernetes/api/apitest"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/pipeline/decodetest"
	"github.com/tfexp/tfexp/scheduler"
)

func blockOf(set map[string]any, nodes ...engine.NodeBlock) engine.Block {
	b := engine.Block{Values: engine.Values{All: map[string]any{"image_pull": "missing", "grace": 10 * time.Second,
		"deadline": time.Hour, "patience": time.Minute, "gpu_resource": "nvidia.com/gpu"}, Set: map[string]bool{}}, Nodes: nodes}
	for name, value := range set {
		b.All[name], b.Set[name] = value, true
	}
	return b
}

// Errors in arguments are reported at the lines of the arguments.
func TestProblems(t *testing.T) {
	two := engine.NodeBlock{Name: "n", Count: 2}
	for want, b := range map[string]engine.Block{
		"tolerations: Not a toleration":             blockOf(map[string]any{"threads": 1, "tolerations": []string{"a:Never"}}),
		"volumes: Not a volume":                     blockOf(map[string]any{"threads": 1, "volumes": map[string]string{"/d": "nfs:x"}}),
		"volumes: Not a folder for a volume":        blockOf(map[string]any{"threads": 1, "volumes": map[string]string{"/tfexp/x": "claim:x"}}),
		"checkpoints: Not a volume for checkpoints": blockOf(map[string]any{"threads": 1, "checkpoints": "claim:x:ro"}),
		"checkpoints: Checkpoints on one node":      blockOf(map[string]any{"checkpoints": "host:/c"}, two, engine.NodeBlock{Name: "m"}),
		": Nodes that are not known":                blockOf(map[string]any{"kubeconfig": "/does/not/exist"}),
	} {
		_, problems := Kind.Decode(b)
		if len(problems) != 1 || problems[0].Arg+": "+problems[0].Summary != want {
			t.Errorf("want %s, got %+v", want, problems)
		}
	}
	if _, problems := Kind.Decode(blockOf(map[string]any{"threads": 4, "tolerations": []string{"a", "b=c:NoExecute"},
		"volumes": map[string]string{"/d": "claim:x:ro"}, "checkpoints": "claim:c"})); len(problems) > 0 {
		t.Errorf("%+v", problems)
	}
}

// Jobs that do not fit into one pod are reported when the experiment is read.
func TestJobsOfOnePod(t *testing.T) {
	h := hardwareOf(Settings{}, nil)
	for want, j := range map[string]*engine.Job{
		"A pod runs on one node":  {Name: "a", Nodes: 2},
		"Folders of this machine": {Name: "a", Container: &launch.Container{Mounts: []launch.Mount{{Source: "/x"}}}},
	} {
		if got := Kind.CheckJob(h, j, engine.Host{}); len(got) != 1 || got[0].Summary != want {
			t.Errorf("want %s, got %+v", want, got)
		}
	}
}

// Only hardware with a volume for checkpoints can pause jobs.
func TestPausesNeedCheckpoints(t *testing.T) {
	if Kind.Capabilities(hardwareOf(Settings{}, nil)).Pause {
		t.Error("it pauses jobs that cannot go on")
	}
	if !Kind.Capabilities(hardwareOf(Settings{Checkpoints: "claim:c"}, nil)).Pause {
		t.Error("it does not pause")
	}
}

// If the experiment names no nodes, they are read from the cluster, and requests of other pods are subtracted. Nodes
// that do not fit are an error before anything runs.
func TestNodes(t *testing.T) {
	f := apitest.New(t)
	f.Add("pods", tree{"metadata": tree{"name": "other", "namespace": "x"}, "spec": tree{"nodeName": "n2",
		"containers": []any{tree{"resources": tree{"requests": tree{"cpu": "1500m"}}}}}, "status": tree{"phase": "Running"}})
	f.Change("nodes", "", "n1", func(n tree) { apitest.Child(n, "spec")["unschedulable"] = true })
	config := f.Kubeconfig(t)
	b := blockOf(map[string]any{"kubeconfig": config})
	if got := Kind.Nodes(b, scheduler.Node{}); len(got) != 1 || got[0].Threads != 2 || got[0].Memory != 8<<30 {
		t.Errorf("%+v", got)
	}
	for _, n := range []scheduler.Node{{Threads: 3}, {Threads: 1, GPUs: 1}, {Threads: 1, Memory: 9 << 30}} {
		hw := hardwareOf(Settings{Kubeconfig: config}, []scheduler.Node{n})
		_, err := Kind.Images(t.Context(), []engine.ImageNeed{{Hardware: hw, Image: "busybox"}}, false)
		var missing *engine.Unavailable
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), "n1 cannot be used: it is cordoned; n2 has 2 cores, 8192 MiB, 0 GPUs free") {
			t.Errorf("%+v: %v", n, err)
		}
	}
	hw := hardwareOf(Settings{Kubeconfig: config}, []scheduler.Node{{Threads: 2}})
	if found, err := Kind.Images(t.Context(), []engine.ImageNeed{{Hardware: hw, Image: "x@sha256:1"}}, false); err != nil || found[0] != "sha256:1" {
		t.Errorf("%q, %v", found, err)
	}
}

// The queues that policies and users name are checked before anything runs.
func TestQueues(t *testing.T) {
	f := apitest.New(t)
	f.StartKueue(t, "team-a", 1)
	const file = `
experiment "e" {}
job "a" {
  command = ["x"]
  epochs  = 1
}
workload "w" {
  submit { job = job.a }
}
hardware "h" {
  engine     = "kubernetes"
  kubeconfig = "%s"
  threads    = 1
  image      = "x:1"
}
policy "p" {
%s
}
`
	for policy, want := range map[string]string{
		"order = \"cluster\"\nqueue = \"team-a\"": "", "order = \"cluster\"": "", "order = \"fcfs\"": "",
		"order = \"cluster\"\nqueues = { ann = \"team-c\" }": `the queue "team-c" cannot be used`,
	} {
		spec, text := decodetest.Beside(t, fmt.Sprintf(file, f.Kubeconfig(t), policy), nil)
		if text != "" {
			t.Fatal(text)
		}
		hw := spec.Cells[0].Hardware.ForEngine()
		_, err := Kind.Images(t.Context(), []engine.ImageNeed{{Hardware: hw, Image: "x:1"}}, false)
		var missing *engine.Unavailable
		if want == "" && err != nil || want != "" && (!errors.As(err, &missing) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(missing.Hint, "get localqueues")) {
			t.Errorf("%s: %v", policy, err)
		}
	}
}

// If the server cannot be reached at the start, the error says so.
func TestNoServer(t *testing.T) {
	hw := hardwareOf(Settings{Kubeconfig: filepath.Join(t.TempDir(), "none")}, nil)
	_, err := Kind.Images(t.Context(), []engine.ImageNeed{{Hardware: hw, Image: "x"}}, false)
	var missing *engine.Unavailable
	if !errors.As(err, &missing) {
		t.Errorf("%v", err)
	}
}

// A rehearsal of a Job finds what the cluster refuses before anything runs.
func TestRefusedAtPlanTime(t *testing.T) {
	f := apitest.New(t)
	hw := hardwareOf(Settings{Kubeconfig: f.Kubeconfig(t), Namespace: "away"}, []scheduler.Node{{Threads: 2}})
	for code, want := range map[int]string{http.StatusNotFound: `namespaces "away" not found`, http.StatusCreated: "",
		http.StatusBadRequest: ""} { // an admission controller that refuses rehearsals
		f.Refuse = func(what, _ string) *apitest.Refusal {
			if what == "create jobs" && code != http.StatusCreated {
				return &apitest.Refusal{Code: code, Message: `namespaces "away" not found`}
			}
			return nil
		}
		_, err := Kind.Images(t.Context(), []engine.ImageNeed{{Hardware: hw, Image: "busybox"}}, false)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%d: %v", code, err)
		}
	}
	if n := len(f.All("jobs")); n != 0 {
		t.Errorf("%d Jobs were created", n)
	}
}

// Pods have the user and the Secrets of the hardware block, and then fulfill the Pod Security Standard "restricted".
func TestUserOfPods(t *testing.T) {
	s := Settings{User: "1000:0", PullSecrets: []string{"registry"}}
	got, err := json.Marshal(s.Pod("x", tree{}, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"imagePullSecrets":[{"name":"registry"}]`, `"securityContext":{"fsGroup":0,"runAsGroup":0,` +
		`"runAsNonRoot":true,"runAsUser":1000,"seccompProfile":{"type":"RuntimeDefault"}}`} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, wrong := range []string{"root", "0", "0:1", "1:x", "-1", "1:"} {
		if _, err := Security(wrong); err == nil {
			t.Errorf("the user %q is accepted", wrong)
		}
	}
}

// Names that are equal in their first 63 characters have different folders for checkpoints.
func TestDistinctNames(t *testing.T) {
	long := strings.Repeat("x", 70)
	if a, b := distinct(long+"-1"), distinct(long+"-2"); a == b || distinct("a_b") != "a_b" || distinct("a b") == distinct("a/b") {
		t.Errorf("%q and %q", a, b)
	}
}
