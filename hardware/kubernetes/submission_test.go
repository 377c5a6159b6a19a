package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/kubernetes/api/apitest"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/pods"
)

// ownOrder runs jobs on one node in the order that the cluster chooses, and checks the schedule.
func ownOrder(t *testing.T, set Settings, args policy.Settings, threads int, jobs []scheduler.Job, programs []launch.Job) (
	*choices, error) {
	t.Helper()
	on := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: threads}}}
	o := open(t, t.TempDir(), set, on.Nodes, programs...)
	task := stages.Task{Policy: policy.Policy{Order: pods.Cluster, Settings: args}.Complete(),
		Hardware: stages.Hardware{Kind: Name, Settings: &set}, Setup: record.Setup{}}
	task.Setup.Cluster = on
	for i := range jobs {
		jobs[i].Number, jobs[i].Name, jobs[i].Threads = i, programs[i].Name, max(programs[i].Threads, 1)
	}
	c := &choices{check: validate.New(on, jobs, nil)}
	r := scheduler.Run{Policy: task.Decider(t.Context()), Cluster: on, Jobs: jobs, Engine: o.Engine, Recorder: c}
	outcome, err := r.Execute(t.Context())
	if err == nil {
		c.check.Close(&outcome)
	}
	for _, v := range c.check.Violations() {
		t.Error(v)
	}
	return c, err
}

// story returns the events in one line, such as "start 0, start 1, finish 0".
func (c *choices) story() string {
	var all []string
	for _, e := range c.Events {
		if e.Kind != scheduler.Arrive {
			all = append(all, fmt.Sprintf("%s %d", e.Kind, e.Job))
		}
	}
	return strings.Join(all, ", ")
}

// reasons returns the reasons of all decisions about a job.
func (c *choices) reasons(job int) (all []string) {
	for _, d := range c.Decisions {
		if d.Job == job {
			all = append(all, d.Reason)
		}
	}
	return all
}

// A job whose node the cluster chooses may use several nodes. Each is a term of its own: the API refuses others.
func TestSeveralNodes(t *testing.T) {
	body := apitest.Copy(tree{"spec": tree{"template": tree{"spec": tree{"affinity": onNodes("n1", "n2")}}}})
	if terms := apitest.NodeTerms(apitest.Child(apitest.Child(body, "spec"), "template")); len(terms) != 2 || apitest.NamesMany(body) {
		t.Errorf("%v", terms)
	}
}

// Jobs start when the scheduler of the cluster places their pods. The reasons of the decisions come from the cluster.
func TestClusterDecides(t *testing.T) {
	f := apitest.New(t)
	f.PlaceAtMost(1)
	f.Run = func(context.Context, tree, io.Writer) int {
		time.Sleep(100 * time.Millisecond)
		return 0
	}
	dir := t.TempDir()
	c, err := ownOrder(t, Settings{Kubeconfig: f.Kubeconfig(t)}, nil, 1, make([]scheduler.Job, 2),
		[]launch.Job{jobIn(dir, "a"), jobIn(dir, "b")})
	if err != nil {
		t.Fatal(err)
	}
	story := c.story()
	if !slices.Contains([]string{"start 0, finish 0, start 1, finish 1", "start 1, finish 1, start 0, finish 0"}, story) {
		t.Error(story)
	}
	second := c.reasons(int(story[6] ^ 1 - '0'))
	if len(second) != 1 || !strings.Contains(second[0], "the cluster placed it on n; before, it waited: Unschedulable: 0/2") {
		t.Errorf("%q", second)
	}
	apitest.Eventually(t, "nothing is left", func() bool { return len(f.All("jobs"))+len(f.All("pods")) == 0 })
	if n := f.Called("create jobs"); n != 2 {
		t.Errorf("%d Jobs were made", n)
	}
}

// If a pod is evicted, its cores become free and its job waits again. The job continues in another pod, from its
// checkpoint or from its beginning.
func TestClusterTakesPodsAway(t *testing.T) {
	for checkpoints, want := range map[string]string{
		"host:/c": "start 0, pause 0, resume 0, finish 0",
		"":        "start 0, revoke 0, start 0, finish 0",
	} {
		t.Run(want, func(t *testing.T) {
			f := apitest.New(t)
			var runs atomic.Int32
			f.Run = func(ctx context.Context, pod tree, _ io.Writer) int {
				if runs.Add(1) > 1 {
					return 0
				}
				time.Sleep(50 * time.Millisecond)
				f.Evict("research", apitest.Meta(pod)["name"].(string))
				<-ctx.Done()
				return 143
			}
			c, err := ownOrder(t, Settings{Kubeconfig: f.Kubeconfig(t), Checkpoints: checkpoints}, nil, 1,
				make([]scheduler.Job, 1), []launch.Job{jobIn(t.TempDir(), "a")})
			if err != nil {
				t.Fatal(err)
			}
			var reasons []string
			for _, e := range c.Events {
				reasons = append(reasons, e.Reason)
			}
			if text := strings.Join(append(reasons, c.reasons(0)...), " "); c.story() != want ||
				!strings.Contains(text, "EvictionByEvictionAPI") {
				t.Errorf("%s: %s", c.story(), text)
			}
		})
	}
}

// Jobs in a queue of Kueue start when Kueue admits them. A Job that Kueue evicts is paused and stays in the queue.
func TestKueueDecides(t *testing.T) {
	f := apitest.New(t)
	evict := f.StartKueue(t, "team-a", 1)
	var runs atomic.Int32
	f.Run = func(ctx context.Context, _ tree, _ io.Writer) int {
		if runs.Add(1) == 1 {
			time.Sleep(50 * time.Millisecond)
			evict()
			<-ctx.Done()
			return 143
		}
		time.Sleep(20 * time.Millisecond)
		return 0
	}
	dir := t.TempDir()
	c, err := ownOrder(t, Settings{Kubeconfig: f.Kubeconfig(t), Checkpoints: "host:/c"},
		policy.Settings{"queues": []schema.Setting{{Name: "ann", Value: "team-a"}}}, 2,
		[]scheduler.Job{{User: "ann"}, {User: "ann"}}, []launch.Job{jobIn(dir, "a"), jobIn(dir, "b")})
	if err != nil {
		t.Fatal(err)
	}
	first := 0
	if strings.HasPrefix(c.story(), "start 1") {
		first = 1
	}
	if text := strings.Join(c.reasons(first), "; "); !strings.Contains(text, "Preempted: due to reclamation within the cohort") ||
		!strings.Contains(c.story(), fmt.Sprintf("start %[1]d, pause %[1]d", first)) {
		t.Errorf("%s: %s", c.story(), text)
	}
	if n := f.Called("create jobs"); n != 2 {
		t.Errorf("%d Jobs were made for two", n)
	}
}

// If the cluster permanently refuses the pods of a job, the job fails with the reason, also when the cluster decides.
func TestClusterRefusesPods(t *testing.T) {
	f := apitest.New(t)
	f.Refuse = func(what, _ string) *apitest.Refusal {
		if what != "create pods" {
			return nil
		}
		return &apitest.Refusal{Code: 403, Reason: "Forbidden", Message: "pods is forbidden: violates PodSecurity"}
	}
	c, err := ownOrder(t, Settings{Kubeconfig: f.Kubeconfig(t)}, nil, 1, make([]scheduler.Job, 1),
		[]launch.Job{jobIn(t.TempDir(), "a")})
	if err != nil {
		t.Fatal(err)
	}
	if last := c.Events[len(c.Events)-1]; last.Kind != scheduler.Fail || !strings.Contains(last.Reason, "violates PodSecurity") {
		t.Errorf("%s: %s", c.story(), last.Reason)
	}
}

// A missing queue ends the run with an error and a hint.
func TestNoQueue(t *testing.T) {
	for want, with := range map[string]bool{"the cluster has no Kueue": false, `localqueues "team-b" not found`: true} {
		f := apitest.New(t)
		if with {
			f.StartKueue(t, "team-a", 1)
		}
		_, err := ownOrder(t, Settings{Kubeconfig: f.Kubeconfig(t)}, policy.Settings{"queue": "team-b"}, 1,
			make([]scheduler.Job, 1), []launch.Job{jobIn(t.TempDir(), "a")})
		var missing *engine.Unavailable
		if !errors.As(err, &missing) || !strings.Contains(err.Error(), want) || missing.Hint == "" {
			t.Errorf("%v", err)
		}
	}
}

// The cluster may place jobs for which the hardware has no room yet. They start when others have ended.
func TestMoreThanTheHardware(t *testing.T) {
	f := apitest.New(t)
	f.Run = func(context.Context, tree, io.Writer) int {
		time.Sleep(200 * time.Millisecond)
		return 0
	}
	dir := t.TempDir()
	c, err := ownOrder(t, Settings{Kubeconfig: f.Kubeconfig(t)}, nil, 1, make([]scheduler.Job, 2),
		[]launch.Job{jobIn(dir, "a"), jobIn(dir, "b")})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(c.story(), "finish"); got != 2 {
		t.Error(c.story())
	}
}
