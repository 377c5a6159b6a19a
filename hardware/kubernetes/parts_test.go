package kubernetes

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/kubernetes/api/apitest"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	environ "github.com/tfexp/tfexp/jobs/program"
	"github.com/tfexp/tfexp/scheduler"
	placed "github.com/tfexp/tfexp/scheduler/cluster"
)

// twoNodes are the nodes of the tests of jobs with roles.
var twoNodes = []scheduler.Node{{Name: "n1", Threads: 2}, {Name: "n2", Threads: 2}}

// withRoles returns a job with two workers and a parameter server that shares the cores of worker 0, and the grant of
// its parts: worker 0 and the server on the first node, worker 1 with two cores on the second.
func withRoles(j launch.Job) (launch.Job, scheduler.Grant) {
	j.Roles = []scheduler.Role{{Name: "worker", Count: 2, Threads: 1}, {Name: "ps", Count: 1}}
	return j, inParts(
		scheduler.Part{Role: "worker", Task: 0, Node: 0, Cores: scheduler.CoreSet{{Lo: 0, Hi: 1}}},
		scheduler.Part{Role: "worker", Task: 1, Node: 1, Cores: scheduler.CoreSet{{Lo: 2, Hi: 4}}},
		scheduler.Part{Role: "ps", Task: 0, Node: 0})
}

func inParts(parts ...scheduler.Part) scheduler.Grant {
	return scheduler.Grant{Layout: &placed.Layout{Parts: parts}}
}

// partOf returns the part of the job that a pod is, as its program sees it.
func partOf(t *testing.T, pod tree) contract.Part {
	t.Helper()
	env := map[string]string{}
	for _, v := range apitest.Elements(apitest.Elements(apitest.Child(pod, "spec")["containers"])[0].(tree)["env"]) {
		env[v.(tree)["name"].(string)], _ = v.(tree)["value"].(string)
	}
	e, err := environ.FromEnv(func(name string) string { return env[name] })
	if err != nil {
		t.Error(err)
	}
	return e.Part
}

// Each part of a job with roles is a pod of its own size on its own node. All parts know the names of all pods, which a
// Service makes known. At the end of the leading part, nothing of the job remains.
func TestParts(t *testing.T) {
	f := apitest.New(t)
	end := make(chan bool)
	f.Run = func(ctx context.Context, pod tree, _ io.Writer) int {
		if p := partOf(t, pod); p.Role == "worker" && p.Task == 0 {
			<-end
			return 0
		}
		<-ctx.Done()
		return 143
	}
	dir := t.TempDir()
	j, g := withRoles(jobIn(dir, "a"))
	o := open(t, dir, Settings{Kubeconfig: f.Kubeconfig(t)}, twoNodes, j)
	if err := o.Start(0, g); err != nil {
		t.Fatal(err)
	}
	apitest.Eventually(t, "three pods", func() bool { return len(f.All("pods")) == 3 })
	services := f.All("services")
	if len(services) != 1 {
		t.Fatalf("%d Services", len(services))
	}
	service := apitest.Meta(services[0])["name"].(string)
	owners := apitest.Elements(apitest.Meta(services[0])["ownerReferences"])
	var lead tree
	for _, made := range f.All("jobs") {
		if len(owners) == 1 && apitest.Meta(made)["uid"] == owners[0].(tree)["uid"] {
			lead = made
		}
	}
	if lead == nil || apitest.Child(services[0], "spec")["clusterIP"] != "None" {
		t.Errorf("the Service %v has no owner among the Jobs", services[0])
	}
	sizes := map[string]string{}
	for _, pod := range f.All("pods") {
		p := partOf(t, pod)
		spec := apitest.Child(pod, "spec")
		if name := fmt.Sprintf("%s.%s:2222", spec["hostname"], spec["subdomain"]); p.Address() != name || spec["subdomain"] != service ||
			apitest.Child(apitest.Meta(pod), "labels")[labelService] != service || apitest.Child(apitest.Child(services[0], "spec"), "selector")[labelService] != service {
			t.Errorf("the pod %s of the Service %s expects to be found at %s", name, service, p.Address())
		}
		if want := []string{"worker-0." + service + ":2222", "worker-1." + service + ":2222"}; !slices.Equal(p.Cluster["worker"], want) {
			t.Errorf("workers at %q, want %q", p.Cluster["worker"], want)
		}
		size := apitest.Child(apitest.Elements(spec["containers"])[0].(tree), "resources")
		sizes[fmt.Sprintf("%s-%d", p.Role, p.Task)] = fmt.Sprintf("%s %v of %v", apitest.NodeOf(pod), apitest.Child(size, "requests")["cpu"], apitest.Child(size, "limits")["cpu"])
	}
	if want := map[string]string{"worker-0": "n1 1 of 1", "worker-1": "n2 2 of 2", "ps-0": "n1 0 of 1"}; !maps.Equal(sizes, want) {
		t.Errorf("sizes %v, want %v", sizes, want)
	}
	close(end)
	if n := o.next(t, 10*time.Second); n.State != scheduler.Finished {
		t.Errorf("it ended as %v: %s", n.State, n.Reason)
	}
	apitest.Eventually(t, "the ends of the Jobs", func() bool { return len(f.All("jobs")) == 0 })
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	if left := len(f.All("jobs")) + len(f.All("pods")) + len(f.All("services")); left > 0 {
		t.Errorf("%d objects are left", left)
	}
}

// If the pod of a part is taken away, all parts of the job start again, because they have lost their connections to it.
// A job with an elastic role continues without it.
func TestLostPart(t *testing.T) {
	for _, elastic := range []bool{false, true} {
		t.Run(fmt.Sprint("elastic ", elastic), func(t *testing.T) {
			f := apitest.New(t)
			end := make(chan bool)
			var starts atomic.Int32
			f.Run = func(ctx context.Context, pod tree, out io.Writer) int {
				starts.Add(1)
				fmt.Fprintln(out, "runs")
				select {
				case <-end:
					return 0
				case <-ctx.Done():
					return 143
				}
			}
			dir := t.TempDir()
			j, g := withRoles(jobIn(dir, "a"))
			j.Roles[0].Elastic, j.Roles[0].Min = elastic, 1
			o := open(t, dir, Settings{Kubeconfig: f.Kubeconfig(t), Checkpoints: "claim:c"}, twoNodes, j)
			if err := o.Start(0, g); err != nil {
				t.Fatal(err)
			}
			lost := ""
			apitest.Eventually(t, "the pod of worker 1", func() bool {
				for _, pod := range f.All("pods") {
					if p := partOf(t, pod); p.Role == "worker" && p.Task == 1 && apitest.Child(pod, "status")["phase"] == "Running" {
						lost = apitest.Meta(pod)["name"].(string)
					}
				}
				return lost != ""
			})
			awaitLog(t, launch.Job{LogPath: strings.TrimSuffix(j.LogPath, ".log") + ".worker-1.log"}, "runs")
			f.Evict("research", lost)
			const why = "worker-1: the cluster took its pod away"
			if !elastic {
				if w := <-o.warnings; w.code != evictionCode || !strings.HasPrefix(w.text, why) ||
					!strings.HasSuffix(w.text, "; all parts of the job start again from the last checkpoint") {
					t.Errorf("%+v", w)
				}
				if err := o.Pause(0); err != nil { // waits until the job has started again
					t.Fatal(err)
				}
				if err := o.Resume(0, g); err != nil {
					t.Fatal(err)
				}
				apitest.Eventually(t, "another start of all parts", func() bool { return starts.Load() >= 6 && running(f) == 3 })
				close(end)
				if n := o.next(t, 10*time.Second); n.State != scheduler.Finished {
					t.Errorf("it ended as %v: %s", n.State, n.Reason)
				}
				return
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			_, news, err := o.Next(ctx, scheduler.Never)
			if err != nil || len(news) != 1 || news[0].Kind != scheduler.PartEnded || news[0].Task != 1 ||
				!strings.HasPrefix(news[0].Reason, why) {
				t.Fatalf("%+v, %v", news, err)
			}
			if err := o.Reshape(0, inParts(g.Layout.Parts[0], g.Layout.Parts[2])); err != nil {
				t.Fatal(err)
			}
			close(end)
			if n := o.next(t, 10*time.Second); n.State != scheduler.Finished {
				t.Errorf("it ended as %v: %s", n.State, n.Reason)
			}
		})
	}
}

// running returns the number of running pods.
func running(f *apitest.Cluster) (n int) {
	for _, pod := range f.All("pods") {
		if apitest.Child(pod, "status")["phase"] == "Running" {
			n++
		}
	}
	return n
}

// Roles whose names differ only where host names cannot have different hosts.
func TestHostNames(t *testing.T) {
	names := map[string]bool{}
	for _, role := range []string{"worker", "Worker", "wor_ker", "wor-ker", strings.Repeat("a", 40), strings.Repeat("a", 41)} {
		name := hostName(scheduler.Part{Role: role, Task: 12})
		if names[name] || len(name) > 63 || name != ObjectName(name[:len(name)-3])+"-12" && len(role) < 30 {
			t.Errorf("role %q: host %q", role, name)
		}
		names[name] = true
	}
	if !names["worker-12"] {
		t.Error(names)
	}
}

// The parts of a job on two nodes of a real cluster find each other by name, are paused, and find each other again.
func TestRealParts(t *testing.T) {
	set, image := realCluster(t)
	nodes, err := readNodes(&set)
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes) < 2 {
		t.Skip("the cluster has one node: start it with two")
	}
	dir := t.TempDir()
	set.Checkpoints = "host:" + t.TempDir()
	j, g := withRoles(shell(dir, "a", image, `
trap 'exit 143' TERM
host() { echo "$TFEXP_CLUSTER" | sed "s/.*\"$1\":\[\([^]]*\)\].*/\1/" | tr -d '"' | cut -d, -f$2 | cut -d: -f1; }
case $TFEXP_ROLE in
ps) while :; do echo weights | nc -l -p 2222; done ;;
worker)
  until nc $(host ps 1) 2222 </dev/null >/tmp/got && grep -q weights /tmp/got; do sleep 0.1; done
  echo "worker $TFEXP_TASK has weights"
  [ $TFEXP_TASK = 0 ] || while :; do echo "worker 1" | nc -l -p 2222; done
  until nc $(host worker 2) 2222 </dev/null >/tmp/got && grep -q "worker 1" /tmp/got; do sleep 0.1; done
  echo "worker 0 has met worker 1"
  [ -e $TFEXP_CHECKPOINT_DIR/state ] && exit 0
  touch $TFEXP_CHECKPOINT_DIR/state
  while :; do sleep 0.1; done ;;
esac`))
	o := open(t, dir, set, []scheduler.Node{{Name: nodes[0].Name, Threads: 1}, {Name: nodes[1].Name, Threads: 1}}, j)
	g.Layout.Parts[1].Cores = scheduler.CoreSet{{Lo: 1, Hi: 2}}
	if err := o.Start(0, g); err != nil {
		t.Fatal(err)
	}
	awaitLog(t, j, "worker 0 has met worker 1")
	if err := o.Pause(0); err != nil {
		t.Fatal(err)
	}
	if err := o.Resume(0, g); err != nil {
		t.Fatal(err)
	}
	if n := o.next(t, time.Minute); n.State != scheduler.Finished {
		t.Errorf("it ended as %v: %s", n.State, n.Reason)
	}
	if got := logOf(t, j); strings.Count(got, "worker 0 has met worker 1\n") != 2 {
		t.Errorf("log %q", got)
	}
	if text, _ := os.ReadFile(strings.TrimSuffix(j.LogPath, ".log") + ".worker-1.log"); !strings.Contains(string(text), "worker 1 has weights") {
		t.Errorf("log of worker 1: %q", text)
	}
}

// A job whose Job has run until its deadline fails. It does not start again.
func TestDeadline(t *testing.T) {
	for _, roles := range []bool{false, true} {
		f := apitest.New(t)
		f.Run = func(ctx context.Context, _ tree, _ io.Writer) int { <-ctx.Done(); return 143 }
		dir := t.TempDir()
		j, g := withRoles(jobIn(dir, "a"))
		if !roles {
			j, g = jobIn(dir, "a"), grant(0, 1)
		}
		o := open(t, dir, Settings{Kubeconfig: f.Kubeconfig(t)}, twoNodes, j)
		if err := o.Start(0, g); err != nil {
			t.Fatal(err)
		}
		apitest.Eventually(t, "all pods", func() bool { return running(f) == max(len(g.Parts(scheduler.Cluster{})), 1) })
		for _, made := range f.All("jobs") {
			f.Change("jobs", "research", apitest.Meta(made)["name"].(string), func(o tree) {
				apitest.SetCondition(apitest.Child(o, "status"), "FailureTarget", "DeadlineExceeded", "Job was active longer than specified deadline")
			})
		}
		for _, pod := range f.All("pods") {
			f.EndPod("research", apitest.Meta(pod)["name"].(string))
		}
		if n := o.next(t, 10*time.Second); n.State != scheduler.Failed || !strings.Contains(n.Reason, `deadline = "1h0m0s"`) {
			t.Errorf("roles %t: it ended as %v: %s", roles, n.State, n.Reason)
		}
	}
}
