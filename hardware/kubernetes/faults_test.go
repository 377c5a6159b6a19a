package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/kubernetes/api/apitest"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// settingsOn returns settings for the fake cluster, with timeouts that suit a test.
func settingsOn(t testing.TB, f *apitest.Cluster) Settings {
	return Settings{Kubeconfig: f.Kubeconfig(t), Image: "x:1", Patience: 3 * time.Second, Grace: time.Second}
}

// scripted returns a job for the fake cluster. f.run acts as its program. Its log is in a folder of the test.
func scripted(t testing.TB, name string) launch.Job {
	return launch.Job{Name: name, Argv: []string{"program", name}, Threads: 1, Container: &launch.Container{Image: "x:1"},
		LogPath: filepath.Join(t.TempDir(), name+".log")}
}

// until returns a program that runs until end is closed or its pod is ended.
func until(end <-chan struct{}) func(context.Context, tree, io.Writer) int {
	return func(ctx context.Context, _ tree, _ io.Writer) int {
		select {
		case <-end:
			return 0
		case <-ctx.Done():
			return 143
		}
	}
}

// begun opens an engine on the fake cluster and starts its only job.
func begun(t *testing.T, f *apitest.Cluster, set Settings) *opened {
	t.Helper()
	o := open(t, t.TempDir(), set, nil, scripted(t, "a"))
	if err := o.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	return o
}

// finished fails the test unless the next job to end has finished.
func (o *opened) finished(t *testing.T) {
	t.Helper()
	if n := o.next(t, 20*time.Second); n.State != scheduler.Finished {
		t.Errorf("the job failed: %s", n.Reason)
	}
}

// failed fails the test unless the next job to end has failed for a reason that contains all parts.
func (o *opened) failed(t *testing.T, parts ...string) {
	t.Helper()
	n := o.next(t, 20*time.Second)
	if n.State == scheduler.Finished {
		t.Fatal("the job finished")
	}
	for _, part := range parts {
		if !strings.Contains(n.Reason, part) {
			t.Errorf("the reason is %q, without %q", n.Reason, part)
		}
	}
}

// Some faults only cost time: streams break off, the server forgets old versions, or it is away for less than the
// patience. The job finishes, its log is complete, and it was started once.
func TestServerDisturbed(t *testing.T) {
	t.Parallel()
	for name, disturb := range map[string]func(*apitest.Cluster){
		"streams break": func(f *apitest.Cluster) { f.BreakStreams() },
		"410 Gone":      func(f *apitest.Cluster) { f.Forget(); f.BreakStreams() },
		"away": func(f *apitest.Cluster) {
			f.GoAway(true)
			time.Sleep(time.Second)
			f.GoAway(false)
		},
		"away, and then 410": func(f *apitest.Cluster) {
			f.GoAway(true)
			time.Sleep(300 * time.Millisecond)
			f.Forget()
			f.GoAway(false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, end := apitest.New(t), make(chan struct{})
			f.Run = func(ctx context.Context, pod tree, out io.Writer) int {
				fmt.Fprintln(out, "first")
				code := until(end)(ctx, pod, out)
				fmt.Fprintln(out, "last")
				return code
			}
			job := scripted(t, "a")
			o := open(t, t.TempDir(), settingsOn(t, f), nil, job)
			if err := o.Start(0, grant(0, 1)); err != nil {
				t.Fatal(err)
			}
			apitest.Eventually(t, "the pod runs", f.Runs)
			disturb(f)
			close(end)
			o.finished(t)
			if n := f.Called("create jobs"); n != 1 {
				t.Errorf("%d Jobs were created", n)
			}
			if text := outputOf(t, job); text != "first\nlast\n" {
				t.Errorf("the log is %q", text)
			}
		})
	}
}

// If the server stays away for longer than the patience, the run ends with an error about the server.
func TestServerStaysAway(t *testing.T) {
	t.Parallel()
	f := apitest.New(t)
	f.Run = until(make(chan struct{}))
	set := settingsOn(t, f)
	set.Patience = 500 * time.Millisecond
	o := begun(t, f, set)
	apitest.Eventually(t, "the pod runs", f.Runs)
	f.GoAway(true)
	defer f.GoAway(false)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		_, _, err := o.Next(ctx, scheduler.Never)
		if err == nil {
			continue
		}
		var away *engine.Unavailable
		if !errors.As(err, &away) || !strings.Contains(err.Error(), "has not answered") {
			t.Errorf("the run ends with %v", err)
		}
		return
	}
}

// Calls that the server refuses temporarily are repeated: for 429 after the time that the server states, and for 5xx.
func TestServerOverloaded(t *testing.T) {
	t.Parallel()
	for _, code := range []int{429, 500, 503, 504} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			f := apitest.New(t)
			var refusals atomic.Int32
			f.Refuse = func(what, _ string) *apitest.Refusal {
				if (what == "create jobs" || what == "patch jobs") && refusals.Add(1)%2 == 1 {
					return &apitest.Refusal{Code: code, Reason: "TooManyRequests", Message: "slow down", RetryAfter: (code - 428) & 1}
				}
				return nil
			}
			began := time.Now()
			begun(t, f, settingsOn(t, f)).finished(t)
			if n := refusals.Load(); n < 2 {
				t.Errorf("only %d calls were refused", n)
			}
			if code == 429 && time.Since(began) < time.Second {
				t.Error("the server was called again before the time that it had asked for")
			}
		})
	}
}

// If a pod can never start, its job ends at once with the reason that the cluster gives.
func TestPodCannotStart(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		refuse *apitest.Refusal // the answer to the controller of Jobs when it creates pods
		wait   [2]string
		want   []string
	}{
		"image missing": {wait: [2]string{"ErrImageNeverPull", `Container image "x:1" is not present with pull policy of Never`},
			want: []string{"x:1", "not present"}},
		"image misnamed":    {wait: [2]string{"InvalidImageName", "couldn't parse image"}, want: []string{"couldn't parse image"}},
		"image not fetched": {wait: [2]string{"ImagePullBackOff", `Back-off pulling image "x:1"`}, want: []string{"x:1"}},
		"secret missing":    {wait: [2]string{"CreateContainerConfigError", `secret "s" not found`}, want: []string{`secret "s" not found`}},
		"admission": {refuse: &apitest.Refusal{Message: `admission webhook "policy.example" denied the request: no labels`},
			want: []string{"policy.example", "no labels"}},
		"pod security": {refuse: &apitest.Refusal{Message: `pods "x" is forbidden: violates PodSecurity "restricted:latest"`},
			want: []string{"PodSecurity"}},
		"quota": {refuse: &apitest.Refusal{Message: `pods "x" is forbidden: exceeded quota: team, requested: cpu=1, used: cpu=4, limited: cpu=4`},
			want: []string{"exceeded quota", "limited: cpu=4"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := apitest.New(t)
			f.Wait = func(tree) (string, string) { return c.wait[0], c.wait[1] }
			f.Refuse = func(what, _ string) *apitest.Refusal {
				if what == "create pods" {
					return c.refuse
				}
				return nil
			}
			o := begun(t, f, settingsOn(t, f))
			o.failed(t, c.want...)
		})
	}
}

// If the user lacks a permission, the error names it.
func TestForbidden(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"list nodes", "list pods", "create jobs", "patch jobs"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			f := apitest.New(t)
			verb, resource, _ := strings.Cut(what, " ")
			f.Refuse = func(asked, _ string) *apitest.Refusal {
				if asked != what {
					return nil
				}
				return &apitest.Refusal{Code: 403, Reason: "Forbidden", Message: fmt.Sprintf(
					`%s.batch is forbidden: User "u" cannot %s resource %q in API group "" in the namespace "research"`, resource, verb, resource)}
			}
			o, err := tryOpen(t.TempDir(), settingsOn(t, f), nil, scripted(t, "a"))
			text := ""
			if err != nil {
				text = err.Error()
			} else {
				defer o.Close()
				if err := o.Start(0, grant(0, 1)); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				for text == "" { // the run may end before the end of the job is reported
					_, news, err := o.Next(ctx, scheduler.Never)
					if err != nil {
						text = err.Error()
					}
					for _, n := range news {
						text += n.Reason
					}
				}
			}
			if !strings.Contains(text, "no permission to "+what) {
				t.Errorf("the error is %q", text)
			}
		})
	}
}

// A server that has just started may refuse for a moment calls that it has allowed before. The calls are repeated.
func TestServerStartsWithoutRoles(t *testing.T) {
	t.Parallel()
	f := apitest.New(t)
	var lists, logs atomic.Int32
	f.Refuse = func(what, _ string) *apitest.Refusal {
		n := int32(0)
		switch what {
		case "list pods":
			n = lists.Add(1)
		case "get pods/log":
			n = logs.Add(1)
		}
		if 2 < n && n < 5 {
			return &apitest.Refusal{Code: 403, Reason: "Forbidden", Message: `User "u" cannot ` + what}
		}
		return nil
	}
	end := make(chan struct{})
	f.Run = until(end)
	o := begun(t, f, settingsOn(t, f))
	apitest.Eventually(t, "the pod runs", f.Runs)
	f.GoAway(true)
	f.GoAway(false)
	close(end)
	o.finished(t)
	if _, err := o.sweep(t.Context(), o.own()); err != nil {
		t.Error(err)
	}
	if lists.Load() < 5 {
		t.Errorf("only %d lists", lists.Load())
	}
}

// If a pod is evicted or deleted by somebody, another pod follows and runs to the end of the job.
func TestPodTakenAway(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(*apitest.Cluster, string){
		"evicted": func(f *apitest.Cluster, name string) { f.Evict("research", name) },
		"deleted": func(f *apitest.Cluster, name string) {
			f.EndPod("research", name)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := apitest.New(t)
			var starts atomic.Int32
			f.Run = func(ctx context.Context, _ tree, _ io.Writer) int {
				if starts.Add(1) > 1 {
					return 0
				}
				<-ctx.Done()
				return 143
			}
			o := begun(t, f, settingsOn(t, f))
			apitest.Eventually(t, "the pod runs", f.Runs)
			take(f, apitest.Meta(f.All("pods")[0])["name"].(string))
			o.finished(t)
			if n := starts.Load(); n != 2 {
				t.Errorf("%d pods ran", n)
			}
			select {
			case w := <-o.warnings:
				if w.code != evictionCode {
					t.Error(w)
				}
			default:
				t.Error("nothing was said")
			}
		})
	}
}

// If the answer to the creation of a Job is lost, the Job is used and not created twice.
func TestLostAnswer(t *testing.T) {
	t.Parallel()
	f := apitest.New(t)
	var lost atomic.Bool
	f.Lose = func(what string) bool { return what == "create jobs" && !lost.Swap(true) }
	begun(t, f, settingsOn(t, f)).finished(t)
	if !lost.Load() {
		t.Error("no answer was lost")
	}
	if n := f.Called("create jobs"); n != 2 {
		t.Errorf("the Job was created by %d calls", n)
	}
}

// The next run in the same folder removes the objects of a run that was killed. Objects of other runs stay.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	f := apitest.New(t)
	f.Run = until(make(chan struct{}))
	dir, set := t.TempDir(), settingsOn(t, f)
	killed, err := tryOpen(dir, set, nil, scripted(t, "a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := killed.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	other := begun(t, f, set) // a run in another folder
	_ = other
	apitest.Eventually(t, "both run", func() bool { return len(f.All("pods")) == 2 && f.Runs() })
	killed.cancel() // a killed process makes no further call
	next, err := tryOpen(dir, set, nil, scripted(t, "b"))
	if err != nil {
		t.Fatal(err)
	}
	if len(next.removed) != 1 || !strings.Contains(next.removed[0], "job a of cell") {
		t.Errorf("removed: %q", next.removed)
	}
	if jobs, pods := f.All("jobs"), f.All("pods"); len(jobs) != 1 || len(pods) != 1 {
		t.Errorf("%d Jobs and %d pods are left, and those of the other run are one each", len(jobs), len(pods))
	}
	next.Close()
	next.session.Close()
	killed.Close()
}

// At the end of a run the cluster has no objects of it.
func TestNothingLeft(t *testing.T) {
	t.Parallel()
	f := apitest.New(t)
	f.Run = until(make(chan struct{}))
	o, err := tryOpen(t.TempDir(), settingsOn(t, f), nil, scripted(t, "a"), scripted(t, "b"))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	apitest.Eventually(t, "the pod runs", f.Runs)
	if err := errors.Join(o.Close(), o.session.Close()); err != nil {
		t.Error(err)
	}
	for _, resource := range []string{"jobs", "pods", "services", "secrets"} {
		if left := f.All(resource); len(left) > 0 {
			t.Errorf("%d %s are left", len(left), resource)
		}
	}
}

// A pause ends the pod by SIGTERM and a resume starts another pod. The log has the output of both. If a server refuses
// to change a Job that has run, tfexp creates another Job.
func TestPauseAndResume(t *testing.T) {
	t.Parallel()
	for _, old := range []bool{false, true} {
		t.Run(fmt.Sprintf("old %t", old), func(t *testing.T) {
			t.Parallel()
			f, end := apitest.New(t), make(chan struct{})
			f.Old = old
			var starts atomic.Int32
			f.Run = func(ctx context.Context, pod tree, out io.Writer) int {
				fmt.Fprintln(out, "start", starts.Add(1))
				code := until(end)(ctx, pod, out)
				fmt.Fprintln(out, "exit", code)
				return code
			}
			set := settingsOn(t, f)
			set.Checkpoints = "claim:checkpoints"
			job := scripted(t, "a")
			job.CheckpointDir = t.TempDir()
			o := open(t, t.TempDir(), set, nil, job)
			if err := o.Start(0, grant(0, 1)); err != nil {
				t.Fatal(err)
			}
			apitest.Eventually(t, "the first pod runs", f.Runs)
			if err := o.Pause(0); err != nil {
				t.Fatal(err)
			}
			apitest.Eventually(t, "the first pod is gone", func() bool { return len(f.All("pods")) == 0 })
			if err := o.Resume(0, grant(0, 1)); err != nil {
				t.Fatal(err)
			}
			apitest.Eventually(t, "the second pod runs", f.Runs)
			close(end)
			o.finished(t)
			if text := outputOf(t, job); text != "start 1\nexit 143\nstart 2\nexit 0\n" {
				t.Errorf("the log is %q", text)
			}
			want := 1
			if old {
				want = 2
			}
			if n := f.Called("create jobs"); n != want {
				t.Errorf("%d Jobs were created, want %d", n, want)
			}
		})
	}
}

// outputOf returns the output of a job's program.
func outputOf(t *testing.T, job launch.Job) string {
	t.Helper()
	raw, err := os.ReadFile(job.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string // output of the program, without the lines that tfexp adds
	for line := range strings.Lines(string(raw)) {
		if !strings.HasPrefix(line, "tfexp: ") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// A running pod is resized in place. If the server, the permissions or the node prevent that, the pod is started again,
// and a warning says why.
func TestResize(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(*apitest.Cluster)
		starts  int32
		warning string
	}{
		"in place": {func(*apitest.Cluster) {}, 1, ""},
		"old":      {func(f *apitest.Cluster) { f.Old = true }, 2, ""},
		"forbidden": {func(f *apitest.Cluster) {
			f.Refuse = func(what, _ string) *apitest.Refusal {
				if what != "patch pods/resize" {
					return nil
				}
				return &apitest.Refusal{Code: 403, Reason: "Forbidden", Message: `User "u" cannot patch resource "pods/resize"`}
			}
		}, 2, "pods/resize"},
		"infeasible": {func(f *apitest.Cluster) { f.Infeasible = "Node didn't have enough capacity: cpu" }, 2, "enough capacity"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, end := apitest.New(t), make(chan struct{})
			c.prepare(f)
			var starts atomic.Int32
			f.Run = func(ctx context.Context, pod tree, out io.Writer) int {
				starts.Add(1)
				return until(end)(ctx, pod, out)
			}
			o := open(t, t.TempDir(), settingsOn(t, f), []scheduler.Node{{Threads: 2}}, scripted(t, "a"))
			if err := o.Start(0, grant(0, 1)); err != nil {
				t.Fatal(err)
			}
			apitest.Eventually(t, "the pod runs", f.Runs)
			if err := o.Resize(0, grant(0, 2)); err != nil {
				t.Fatal(err)
			}
			apitest.Eventually(t, "a pod with two cores runs", func() bool {
				pods := f.All("pods")
				return len(pods) == 1 && f.Runs() && starts.Load() == c.starts && fmt.Sprint(apitest.Elements(apitest.Child(pods[0],
					"spec")["containers"])[0].(tree)["resources"].(tree)["limits"].(tree)["cpu"]) == "2"
			})
			close(end)
			o.finished(t)
			if n := starts.Load(); n != c.starts {
				t.Errorf("%d pods ran, want %d", n, c.starts)
			}
			close(o.warnings)
			said := ""
			for w := range o.warnings {
				said += w.text
			}
			if !strings.Contains(said, c.warning) {
				t.Errorf("warnings: %q", said)
			}
		})
	}
}
