package kubernetes

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/hardware/kubernetes/api/apitest"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// jobIn returns a job whose files are in a folder.
func jobIn(dir, name string) launch.Job {
	return launch.Job{Name: name, Argv: []string{"train"}, Threads: 1, LogPath: filepath.Join(dir, name+".log"),
		ControlPath: filepath.Join(dir, name+".control"), CheckpointDir: filepath.Join(dir, name+".checkpoint"),
		Container: &launch.Container{Image: "busybox"}}
}

func logOf(t testing.TB, j launch.Job) string {
	t.Helper()
	text, err := os.ReadFile(j.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A job runs and its output is copied. Nothing of it remains in the cluster.
func TestRunsToItsEnd(t *testing.T) {
	f := apitest.New(t)
	f.Run = func(_ context.Context, pod tree, out io.Writer) int {
		fmt.Fprintln(out, "hello")
		time.Sleep(50 * time.Millisecond)
		fmt.Fprintln(out, "bye")
		return 0
	}
	dir := t.TempDir()
	j := jobIn(dir, "a")
	o := open(t, dir, Settings{Kubeconfig: f.Kubeconfig(t)}, []scheduler.Node{{Threads: 2}}, j)
	if err := o.Start(0, grant(0, 2)); err != nil {
		t.Fatal(err)
	}
	if n := o.next(t, 10*time.Second); n.State != scheduler.Finished {
		t.Errorf("it ended as %v: %s", n.State, n.Reason)
	}
	if got := logOf(t, j); got != "hello\nbye\n" {
		t.Errorf("log %q", got)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if left := len(f.All("jobs")) + len(f.All("pods")); left > 0 {
		t.Errorf("%d objects are left", left)
	}
}

// A job holds its cores until the node reports its end, but its service time ends with its program.
func TestNodeReportsLate(t *testing.T) {
	f := apitest.New(t)
	f.Late = 2 * time.Second
	end := make(chan bool)
	f.Run = func(_ context.Context, _ tree, out io.Writer) int {
		fmt.Fprintln(out, "hello")
		<-end
		fmt.Fprintln(out, "bye")
		return 0
	}
	dir := t.TempDir()
	j := jobIn(dir, "a")
	o := open(t, dir, Settings{Kubeconfig: f.Kubeconfig(t)}, nil, j)
	if err := o.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	awaitLog(t, j, "hello")
	close(end)
	awaitLog(t, j, "bye")
	said := o.Now()
	n := o.next(t, time.Minute)
	usage, _ := o.Usage(0)
	if n.At < said || n.At-usage.Service < f.Late/2 {
		t.Errorf("the program said bye at %s, its end is at %s, its service took %s", said, n.At, usage.Service)
	}
}

// A pause suspends the Job. A resume continues it with a new pod.
func TestPausesAsSuspension(t *testing.T) {
	f := apitest.New(t)
	runs := make(chan string, 5)
	f.Run = func(ctx context.Context, pod tree, out io.Writer) int {
		runs <- apitest.Meta(pod)["name"].(string)
		fmt.Fprintln(out, "started")
		select {
		case <-ctx.Done():
			fmt.Fprintln(out, "checkpoint")
			return 143
		case <-time.After(300 * time.Millisecond):
			return 0
		}
	}
	dir := t.TempDir()
	j := jobIn(dir, "a")
	o := open(t, dir, Settings{Kubeconfig: f.Kubeconfig(t), Checkpoints: "host:/c"}, []scheduler.Node{{Threads: 2}}, j)
	if err := o.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	first := <-runs
	jobs := f.All("jobs")
	time.Sleep(50 * time.Millisecond)
	if err := o.Pause(0); err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	if err := o.Resume(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	if second := <-runs; second == first {
		t.Error("the same pod runs again")
	}
	if n := o.next(t, 10*time.Second); n.State != scheduler.Finished {
		t.Errorf("it ended as %v: %s", n.State, n.Reason)
	}
	if now := f.Called("create jobs"); now != 1 || len(jobs) != 1 {
		t.Errorf("%d Jobs were made for one job, %d at first", now, len(jobs))
	}
	if got := logOf(t, j); strings.Count(got, "started\n") != 2 || !strings.Contains(got, "checkpoint") {
		t.Errorf("log %q", got)
	}
}

// After tfexp was killed, the next session removes the objects that it created.
func TestRemovesLeftovers(t *testing.T) {
	f := apitest.New(t)
	running := make(chan bool, 1)
	f.Run = func(ctx context.Context, _ tree, _ io.Writer) int {
		running <- true
		<-ctx.Done()
		return 143
	}
	dir := t.TempDir()
	set := Settings{Kubeconfig: f.Kubeconfig(t)}
	o, err := tryOpen(dir, set, nil, jobIn(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	<-running
	o.cancel() // as if tfexp were killed: it makes no further call
	again, err := tryOpen(dir, set, nil, jobIn(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if len(again.removed) != 1 || !strings.Contains(again.removed[0], "job a of cell cell-1") {
		t.Errorf("removed %q", again.removed)
	}
	if len(f.All("jobs")) > 0 || len(f.All("pods")) > 0 {
		t.Error("objects are left")
	}
	o.Close()
	again.Close()
}

// A running pod is resized in place, and its control file has the new size.
func TestResizesInPlace(t *testing.T) {
	f := apitest.New(t)
	running, end := make(chan bool, 1), make(chan bool)
	f.Run = func(ctx context.Context, _ tree, _ io.Writer) int {
		running <- true
		select {
		case <-end:
			return 0
		case <-ctx.Done():
			return 143
		}
	}
	dir := t.TempDir()
	o := open(t, dir, Settings{Kubeconfig: f.Kubeconfig(t)}, []scheduler.Node{{Threads: 4}}, jobIn(dir, "a"))
	if err := o.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	<-running
	time.Sleep(50 * time.Millisecond)
	if err := o.Resize(0, grant(0, 3)); err != nil {
		t.Fatal(err)
	}
	control := func() any { return apitest.Child(apitest.Meta(f.All("pods")[0]), "annotations")[annotationControl] }
	for range 500 { // the control file changes soon after the resize
		if control() == "1 3\n" {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if text := control(); text != "1 3\n" {
		t.Errorf("control file %q", text)
	}
	close(end)
	if n := o.next(t, 10*time.Second); n.State != scheduler.Finished {
		t.Errorf("it ended as %v: %s", n.State, n.Reason)
	}
	if f.Called("patch pods/resize") != 1 {
		t.Errorf("%d resizes", f.Called("patch pods/resize"))
	}
}

// A refusal that quotes a Secret does not show its value.
func TestQuotedSecret(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	token, err := secret.Hide("open sesame")
	if err != nil {
		t.Fatal(err)
	}
	f := apitest.New(t)
	f.Refuse = func(what, _ string) *apitest.Refusal {
		if what == "create secrets" {
			return &apitest.Refusal{Code: http.StatusForbidden, Reason: "Forbidden", Message: "denied: stringData 0: open sesame"}
		}
		return nil
	}
	dir := t.TempDir()
	j := jobIn(dir, "a")
	j.Env = []string{"KEY=" + token}
	o := open(t, dir, Settings{Kubeconfig: f.Kubeconfig(t)}, nil, j)
	said := ""
	if err := o.Start(0, grant(0, 1)); err != nil {
		said = err.Error()
	} else {
		said = o.next(t, 10*time.Second).Reason
	}
	if !strings.Contains(said, "denied: stringData 0: (sensitive)") {
		t.Errorf("it says %q", said)
	}
}

// Sensitive values are in a Secret that belongs to the Job, and not in the Job itself.
func TestSensitiveValues(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	token, err := secret.Hide("open sesame")
	if err != nil {
		t.Fatal(err)
	}
	f := apitest.New(t)
	end := make(chan bool)
	f.Run = func(context.Context, tree, io.Writer) int { <-end; return 0 }
	dir := t.TempDir()
	j := jobIn(dir, "a")
	j.Env = []string{"KEY=" + token}
	j.Argv = append(j.Argv, "--password="+token)
	o := open(t, dir, Settings{Kubeconfig: f.Kubeconfig(t)}, nil, j)
	if err := o.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	apitest.Eventually(t, "the pod", func() bool { return len(f.All("pods")) == 1 })
	jobs, secrets := f.All("jobs"), f.All("secrets")
	if text := fmt.Sprint(jobs, f.All("pods")); len(secrets) != 1 || strings.Contains(text, "open sesame") || strings.Contains(text, token) {
		t.Fatalf("%d Secrets; the Job and its pod: %s", len(secrets), text)
	}
	if owners := apitest.Elements(apitest.Meta(secrets[0])["ownerReferences"]); len(owners) != 1 || owners[0].(tree)["uid"] != apitest.Meta(jobs[0])["uid"] {
		t.Errorf("owners %v", owners)
	}
	values, got := apitest.Child(secrets[0], "stringData"), map[string]any{}
	for _, v := range apitest.Elements(apitest.Elements(apitest.Child(f.All("pods")[0], "spec")["containers"])[0].(tree)["env"]) {
		from := apitest.Child(apitest.Child(v.(tree), "valueFrom"), "secretKeyRef")
		if from["name"] == apitest.Meta(secrets[0])["name"] {
			got[v.(tree)["name"].(string)] = values[fmt.Sprint(from["key"])]
		}
	}
	if got["KEY"] != "open sesame" || got["TFEXP_SENSITIVE_ARGUMENT_1"] != "--password=open sesame" {
		t.Errorf("the pod sees %v", got)
	}
	close(end)
	if n := o.next(t, 10*time.Second); n.State != scheduler.Finished {
		t.Errorf("it ended as %v: %s", n.State, n.Reason)
	}
}
