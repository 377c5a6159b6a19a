package kubernetes

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Each fault ends the job with a sentence, or the job continues.
func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(*fakeCluster)
		state scheduler.State
		says  string
	}{
		"wrong name of an image": {func(f *fakeCluster) {
			f.wait = func(object) (string, string) { return "InvalidImageName", "couldn't parse image" }
		}, scheduler.Failed, "InvalidImageName: couldn't parse image"},
		"missing image": {func(f *fakeCluster) {
			f.wait = func(object) (string, string) { return "ImagePullBackOff", "not found" }
		}, scheduler.Failed, "ImagePullBackOff: not found"},
		"admission refused": {func(f *fakeCluster) {
			f.refuse = func(what, _ string) *fakeRefusal {
				if what == "create pods" {
					return &fakeRefusal{code: 403, message: `pods "x" is forbidden: violates PodSecurity "restricted"`}
				}
				return nil
			}
		}, scheduler.Failed, "violates PodSecurity"},
		"quota": {func(f *fakeCluster) {
			f.refuse = func(what, _ string) *fakeRefusal {
				if what == "create pods" {
					return &fakeRefusal{code: 403, message: `pods "x" is forbidden: exceeded quota: compute`}
				}
				return nil
			}
		}, scheduler.Failed, "did not start within 3s: "},
		"exit status": {func(f *fakeCluster) {
			f.run = func(context.Context, object, io.Writer) int { return 3 }
		}, scheduler.Failed, "exit status 3"},
		"throttled": {func(f *fakeCluster) {
			n := 0
			f.refuse = func(what, _ string) *fakeRefusal {
				if n++; what == "create jobs" && n%2 == 1 {
					return &fakeRefusal{code: 429, message: "too many requests", retryAfter: 1}
				}
				return nil
			}
		}, scheduler.Finished, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			c.fault(f)
			dir := t.TempDir()
			o := open(t, dir, settings{Kubeconfig: kubeconfigOf(t, f.URL), Patience: 3 * time.Second}, nil, jobIn(dir, "a"))
			if err := o.Start(0, grant(0, 1)); err != nil {
				t.Fatal(err)
			}
			if n := o.next(t, 15*time.Second); n.State != c.state || !strings.Contains(n.Reason, c.says) {
				t.Errorf("it ended as %v: %s", n.State, n.Reason)
			}
		})
	}
}

// A pod that is evicted is replaced, and its job continues.
func TestReplacesEvictedPods(t *testing.T) {
	f := newFake(t)
	runs := make(chan string, 5)
	f.run = func(ctx context.Context, pod object, _ io.Writer) int {
		runs <- metaOf(pod)["name"].(string)
		select {
		case <-ctx.Done():
			return 143
		case <-time.After(500 * time.Millisecond):
			return 0
		}
	}
	dir := t.TempDir()
	o := open(t, dir, settings{Kubeconfig: kubeconfigOf(t, f.URL)}, nil, jobIn(dir, "a"))
	if err := o.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	first := <-runs
	time.Sleep(50 * time.Millisecond)
	f.evict("research", first)
	select {
	case second := <-runs:
		if second == first {
			t.Error("the same pod runs again")
		}
	case <-time.After(3 * time.Second):
		t.Error("no other pod runs")
	}
	if n := o.next(t, 10*time.Second); n.State != scheduler.Finished {
		t.Errorf("it ended as %v: %s", n.State, n.Reason)
	}
	if w := <-o.warnings; w.code != evictionCode || !strings.Contains(w.text, "EvictionByEvictionAPI") {
		t.Errorf("warned of %+v", w)
	}
}

// A job runs on while the API server is away, watches break and their versions are forgotten.
func TestOutlivesTheServersAbsence(t *testing.T) {
	f := newFake(t)
	running, end := make(chan bool, 1), make(chan bool)
	f.run = func(_ context.Context, _ object, out io.Writer) int {
		io.WriteString(out, "one\n")
		running <- true
		<-end
		io.WriteString(out, "two\n")
		return 0
	}
	dir := t.TempDir()
	j := jobIn(dir, "a")
	o := open(t, dir, settings{Kubeconfig: kubeconfigOf(t, f.URL)}, nil, j)
	if err := o.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	<-running
	time.Sleep(100 * time.Millisecond)
	f.goAway(true)
	close(end)
	time.Sleep(300 * time.Millisecond)
	f.forget()
	f.goAway(false)
	if n := o.next(t, 15*time.Second); n.State != scheduler.Finished {
		t.Errorf("it ended as %v: %s", n.State, n.Reason)
	}
	if got := logOf(t, j); got != "one\ntwo\n" {
		t.Errorf("log %q", got)
	}
}

// Without a permission the run ends, and names the verb and the resource.
func TestNamesPermissions(t *testing.T) {
	f := newFake(t)
	f.refuse = func(what, _ string) *fakeRefusal {
		if what == "create jobs" {
			return &fakeRefusal{code: 403, reason: "Forbidden",
				message: `jobs.batch is forbidden: User "u" cannot create resource "jobs" in API group "batch" in the namespace "research"`}
		}
		return nil
	}
	dir := t.TempDir()
	o := open(t, dir, settings{Kubeconfig: kubeconfigOf(t, f.URL)}, nil, jobIn(dir, "a"))
	if err := o.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	n := o.next(t, 10*time.Second)
	if !strings.Contains(n.Reason, `no permission to create jobs in the namespace "research"`) {
		t.Errorf("it ended as %v: %s", n.State, n.Reason)
	}
	if _, _, err := o.Next(context.Background(), scheduler.Never); err == nil || !strings.Contains(err.Error(), "no permission") {
		t.Errorf("the run goes on: %v", err)
	}
}
