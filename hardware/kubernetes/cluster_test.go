package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// realCluster returns settings and the name of an image for the cluster of KUBECONFIG. It skips the test if there is
// no cluster. The image must have /bin/sh.
func realCluster(t *testing.T) (Settings, string) {
	t.Helper()
	k, err := connect(&Settings{})
	if os.Getenv("KUBECONFIG") == "" {
		err = errors.New("KUBECONFIG is not set")
	}
	if err == nil {
		err = k.WithPatience(time.Second).Do(context.Background(), api.Call{Verb: "get"}, nil)
	}
	need.This(t, "kubernetes", err, `eval "$(.ci/kubernetes start)"`)
	return Settings{}, cmp.Or(os.Getenv("TFEXP_TEST_IMAGE"), "tfexp/busybox:latest")
}

// shell returns a job that runs a shell script.
func shell(dir, name, image, script string) launch.Job {
	j := jobIn(dir, name)
	j.Argv, j.Container = []string{"/bin/sh", "-c", script}, &launch.Container{Image: image}
	return j
}

// A real pod runs, is resized in place and is asked to end with SIGTERM. Another pod continues from its checkpoint.
func TestRealPods(t *testing.T) {
	set, image := realCluster(t)
	set.Checkpoints = "host:" + t.TempDir()
	dir := t.TempDir()
	j := shell(dir, "a", image, `
trap 'echo checkpoint; echo 1 > $TFEXP_CHECKPOINT_DIR/state; exit 143' TERM
[ -e $TFEXP_CHECKPOINT_DIR/state ] && { echo resumed; exit 0; }
echo started $TFEXP_INTRA_THREADS
while :; do cat $TFEXP_CONTROL; sleep 0.2; done`)
	o := open(t, dir, set, []scheduler.Node{{Threads: 2}}, j)
	if err := o.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	awaitLog(t, j, "started 1")
	if err := o.Resize(0, grant(0, 2)); err != nil {
		t.Fatal(err)
	}
	awaitLog(t, j, "\n1 2\n")
	if err := o.Pause(0); err != nil {
		t.Fatal(err)
	}
	awaitLog(t, j, "checkpoint")
	if err := o.Resume(0, grant(0, 2)); err != nil {
		t.Fatal(err)
	}
	if n := o.next(t, time.Minute); n.State != scheduler.Finished || !strings.HasSuffix(logOf(t, j), "resumed\n") {
		t.Errorf("it ended as %v (%s) with the log %q", n.State, n.Reason, logOf(t, j))
	}
}

// The exit status of a program is the result of its job. Errors name a missing program and a missing image.
func TestRealFailures(t *testing.T) {
	set, image := realCluster(t)
	dir := t.TempDir()
	missing := shell(dir, "b", image, "")
	missing.Argv = []string{"/no/such/program"}
	o := open(t, dir, set, []scheduler.Node{{Threads: 1}}, shell(dir, "a", image, "echo out; exit 3"), missing,
		shell(dir, "c", "tfexp/no-such-image:latest", "true"))
	for i, want := range []string{"exit status 3", `"/no/such/program" could not be started`, "ErrImageNeverPull"} {
		if err := o.Start(i, grant(0, 1)); err != nil {
			t.Fatal(err)
		}
		if n := o.next(t, time.Minute); n.State != scheduler.Failed || !strings.Contains(n.Reason, want) {
			t.Errorf("job %d ended as %v: %s", i, n.State, n.Reason)
		}
	}
}

// awaitLog waits until the log of a job contains a text.
func awaitLog(t *testing.T, j launch.Job, text string) {
	t.Helper()
	for range 300 {
		if raw, err := os.ReadFile(j.LogPath); err == nil && strings.Contains(string(raw), text) {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("no %q in the log %q", text, logOf(t, j))
}

// The scheduler of a real cluster decides. Of three jobs that each fill a node, two wait, and the conditions of their
// pods say why.
func TestRealOwnOrder(t *testing.T) {
	set, image := realCluster(t)
	dir := t.TempDir()
	var programs []launch.Job
	for _, name := range []string{"a", "b", "c"} {
		programs = append(programs, shell(dir, name, image, "echo "+name+"; sleep 2"))
	}
	nodes, err := readNodes(&set)
	if err != nil {
		t.Fatal(err)
	}
	for i := range programs {
		programs[i].Threads = nodes[0].Threads
	}
	c, err := ownOrder(t, set, nil, nodes[0].Threads, make([]scheduler.Job, 3), programs)
	if err != nil {
		t.Fatal(err)
	}
	waited := 0
	for i, j := range programs {
		if text := strings.Join(c.reasons(i), "; "); strings.Contains(text, "Unschedulable: ") {
			waited++
		}
		if got := logOf(t, j); got != j.Name+"\n" {
			t.Errorf("log %q", got)
		}
	}
	if story := c.story(); waited == 0 || strings.Count(story, "finish") != 3 {
		t.Errorf("%s; %d waited", story, waited)
	}
}

// Kueue decides, with two queues of one core each that lend to each other. The second job of the first queue borrows a
// core. The job of the second queue takes it back. The paused job later continues from its checkpoint.
func TestRealKueue(t *testing.T) {
	set, image := realCluster(t)
	k, err := connect(&set)
	if err == nil {
		set.Namespace = "research"
		err = k.Do(t.Context(), api.Call{Verb: "get", Path: "/apis/kueue.x-k8s.io"}, nil)
	}
	need.This(t, "kueue", err, ".ci/kueue start")
	dir := t.TempDir()
	set.Checkpoints = "host:" + t.TempDir()
	var programs []launch.Job
	for _, name := range []string{"a1", "a2", "b"} {
		programs = append(programs, shell(dir, name, image, `
n=$(cat $TFEXP_CHECKPOINT_DIR/n || echo 0)
trap 'echo $n >$TFEXP_CHECKPOINT_DIR/n; echo saved $n; exit 143' TERM
while [ $n -lt 60 ]; do sleep 0.2; n=$((n+1)); done`))
	}
	programs[2].Argv = []string{"/bin/sh", "-c", "sleep 3"}
	jobs := []scheduler.Job{{User: "ann"}, {User: "ann"}, {User: "ben", Arrival: 5 * time.Second}}
	c, err := ownOrder(t, set, policy.Settings{"queue": "team-a", "queues": []schema.Setting{{Name: "ben", Value: "team-b"}}},
		2, jobs, programs)
	if err != nil {
		t.Fatal(err)
	}
	story := c.story()
	t.Log(story)
	gave := strings.Index(story, "pause ")
	if gave < 0 {
		t.Fatal("no job gave way")
	}
	victim := story[gave+len("pause "):][:1]
	at := -1
	for _, part := range []string{"pause " + victim, "start 2", "finish 2", "resume " + victim, "finish " + victim} {
		if next := strings.Index(story, part); next < at || next < 0 {
			t.Errorf("%s is missing, or too early", part)
		} else {
			at = next
		}
	}
	reasons := c.reasons(int(victim[0] - '0'))
	if text := strings.Join(reasons, "; "); victim == "2" || !strings.Contains(text, "Preempted") ||
		!strings.Contains(text, "reclamation within the cohort") {
		t.Errorf("%s: %q", victim, reasons)
	}
	t.Logf("%q", reasons)
}
