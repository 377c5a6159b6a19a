// Package apitest has a fake cluster for tests: an API server with controllers and nodes.
package apitest

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/kubernetes/api"
)

// Cluster is a fake API server with controllers and kubelets, all in this process. It acts as Kubernetes 1.36 does,
// and has only the parts that the tests of faults need.
type Cluster struct {
	*httptest.Server

	// Refuse returns an answer that replaces the server's own, or nil. Its first argument is a call such as "create
	// jobs" or "watch pods".
	Refuse func(what, name string) *Refusal
	// Lose reports whether to cut the connection after a call was carried out.
	Lose func(what string) bool
	// Place acts as the scheduler: it returns the node of a pod, or why the pod has no node yet.
	Place func(pod tree) (node, why string)
	// Wait returns why the container of a pod does not start yet: a reason such as ErrImageNeverPull, and a message.
	Wait func(pod tree) (reason, message string)
	// Run acts as the program of a pod's container. The end of ctx is its SIGTERM; it should return soon after.
	Run func(ctx context.Context, pod tree, stdout io.Writer) (exit int)

	// Old makes the server like old versions: it does not resize pods, and refuses to change the pods of a Job that has
	// run.
	Old bool
	// Groups has the preferred version of each other group of the API.
	Groups map[string]string
	// Infeasible is the reason for which the nodes refuse to resize pods; empty if they do not refuse.
	Infeasible string
	// Late is how long nodes take to report the end of a container.
	Late time.Duration

	mu        sync.Mutex
	version   int
	forgotten int             // watches from versions before this one are refused
	objects   map[string]tree // by resource, namespace and name: "pods/research/x"
	changes   []change
	changed   chan struct{} // closed at each change
	broken    chan struct{} // closed to break the streams
	logs      map[string]*podLog
	ends      map[string]context.CancelFunc // ends running containers, by the UID of their pod
	dropped   map[any]bool                  // UIDs of pods of suspended Jobs: their ends are no failures
	calls     []string
	away      bool
}

// Refusal is an error answer of the server.
type Refusal struct {
	Code            int
	Reason, Message string
	RetryAfter      int // in seconds
}

type change struct {
	kind, resource string
	version        int
	object         tree
}

// podLog is the log of a container.
type podLog struct {
	lines []string
	at    []time.Time
	over  bool
}

// New starts a cluster with two nodes, n1 and n2, of 4 cores and 8 GiB each. It ends with the test.
func New(t testing.TB) *Cluster {
	f := &Cluster{version: 100, objects: map[string]tree{}, changed: make(chan struct{}),
		broken: make(chan struct{}), logs: map[string]*podLog{}, ends: map[string]context.CancelFunc{},
		dropped: map[any]bool{}}
	f.Place = func(pod tree) (string, string) { return NodeOf(pod), "" }
	f.Wait = func(tree) (string, string) { return "", "" }
	f.Run = func(context.Context, tree, io.Writer) int { return 0 }
	f.Refuse = func(string, string) *Refusal { return nil }
	f.Lose = func(string) bool { return false }
	for _, name := range []string{"n1", "n2"} {
		f.put("ADDED", "nodes", tree{"metadata": tree{"name": name}, "spec": tree{}, "status": tree{
			"allocatable": tree{"cpu": "4", "memory": "8Gi", "pods": "110"},
			"conditions":  []any{tree{"type": "Ready", "status": "True"}},
		}})
	}
	f.Server = httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(func() {
		f.mu.Lock()
		for _, end := range f.ends {
			end()
		}
		f.mu.Unlock()
		f.BreakStreams()
		f.Close()
	})
	return f
}

// Kubeconfig writes a kubeconfig for the server, and returns its path.
func (f *Cluster) Kubeconfig(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`{"current-context": "x", "contexts": [{"name": "x", "context": {"cluster": "c", "namespace": "research"}}],
"clusters": [{"name": "c", "cluster": {"server": %q}}]}`, f.URL)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// GoAway makes the server unreachable (true) or reachable again (false).
func (f *Cluster) GoAway(away bool) {
	f.mu.Lock()
	f.away = away
	f.mu.Unlock()
	f.BreakStreams()
}

// BreakStreams ends all watches and all logs that are being followed.
func (f *Cluster) BreakStreams() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.broken)
	f.broken = make(chan struct{})
}

// Forget makes the server forget old versions. It answers watches from them with 410 Gone.
func (f *Cluster) Forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	f.forgotten = f.version
}

// Called returns how often clients made a call such as "create jobs".
func (f *Cluster) Called(what string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, call := range f.calls {
		if call == what {
			n++
		}
	}
	return n
}

// All returns copies of the objects of a resource, sorted by name.
func (f *Cluster) All(resource string) (all []tree) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(f.objects)) {
		if strings.HasPrefix(key, resource+"/") {
			all = append(all, Copy(f.objects[key]))
		}
	}
	return all
}

// Change changes an object as another client of the cluster would.
func (f *Cluster) Change(resource, namespace, name string, how func(tree)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.objects[resource+"/"+namespace+"/"+name]; o != nil {
		o = Copy(o)
		how(o)
		f.put("MODIFIED", resource, o)
		f.control(namespace)
	}
}

// tell adds an Event object about another object.
func (f *Cluster) tell(about tree, reason, message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.event(about, reason, message)
}

func (f *Cluster) event(about tree, reason, message string) {
	m := Meta(about)
	f.put("ADDED", "events", tree{
		"metadata": tree{"name": fmt.Sprintf("%v.%d", m["name"], f.version), "namespace": m["namespace"]},
		"type":     "Warning", "reason": reason, "message": message,
		"involvedObject": tree{"uid": m["uid"], "name": m["name"]},
		"lastTimestamp":  time.Now().UTC().Format(time.RFC3339),
	})
}

// Evict deletes a pod as the eviction API does, and records that in the pod's conditions.
func (f *Cluster) Evict(namespace, name string) {
	f.Change("pods", namespace, name, func(pod tree) {
		Child(pod, "status")["conditions"] = []any{tree{"type": "DisruptionTarget", "status": "True",
			"reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"}}
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end(f.objects["pods/"+namespace+"/"+name])
}

// Add adds an object as another client of the cluster would.
func (f *Cluster) Add(resource string, o tree) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.put("ADDED", resource, o)
}

// EndPod deletes a pod as another client of the cluster would.
func (f *Cluster) EndPod(namespace, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end(f.objects["pods/"+namespace+"/"+name])
}

// put stores an object and sends it to all watches.
func (f *Cluster) put(kind, resource string, o tree) {
	f.version++
	m := Meta(o)
	m["resourceVersion"] = strconv.Itoa(f.version)
	if m["uid"] == nil {
		m["uid"] = fmt.Sprintf("uid-%d", f.version)
		m["creationTimestamp"] = time.Now().UTC().Format(time.RFC3339)
	}
	key := placeOf(resource, o)
	if kind == "DELETED" {
		delete(f.objects, key)
	} else {
		f.objects[key] = o
	}
	f.changes = append(f.changes, change{kind, resource, f.version, Copy(o)})
	close(f.changed)
	f.changed = make(chan struct{})
}

// control acts as the controller of Jobs for all Jobs of a namespace.
func (f *Cluster) control(namespace string) {
	for _, key := range slices.Sorted(maps.Keys(f.objects)) {
		if strings.HasPrefix(key, "jobs/"+namespace+"/") {
			f.controlJob(f.objects[key])
		}
	}
}

func (f *Cluster) controlJob(job tree) {
	spec, status, m := Child(job, "spec"), Child(job, "status"), Meta(job)
	if conditionOf(status, "Complete") || conditionOf(status, "Failed") {
		return
	}
	if spec["completionMode"] == "Indexed" {
		f.controlIndexed(job)
		return
	}
	active, ending, succeeded, failed := []tree{}, 0, 0, 0
	for key, pod := range f.objects {
		if !strings.HasPrefix(key, "pods/") || Child(Meta(pod), "labels")["batch.kubernetes.io/job-name"] != m["name"] {
			continue
		}
		switch phase := Child(pod, "status")["phase"]; {
		case phase == "Succeeded":
			succeeded++
		case f.dropped[Meta(pod)["uid"]]:
			ending++
		case phase == "Failed" && !(spec["podFailurePolicy"] != nil && conditionOf(Child(pod, "status"), "DisruptionTarget")):
			failed++
		case phase == "Failed":
		case Meta(pod)["deletionTimestamp"] != nil:
			ending++
		default:
			active = append(active, pod)
		}
	}
	before := fmt.Sprint(status)
	switch {
	case succeeded > 0:
		SetCondition(status, "Complete", "CompletionsReached", "")
	case failed > 0:
		SetCondition(status, "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
	case spec["suspend"] == true:
		SetCondition(status, "Suspended", "JobSuspended", "Job suspended")
		if !f.Old {
			delete(status, "startTime")
		}
		for _, pod := range active {
			f.dropped[Meta(pod)["uid"]] = true
			f.end(pod)
		}
	case len(active) == 0 && ending == 0:
		status["conditions"] = []any{tree{"type": "Suspended", "status": "False", "reason": "JobResumed"}}
		status["startTime"] = time.Now().UTC().Format(time.RFC3339)
		if r := f.Refuse("create pods", ""); r != nil {
			f.event(job, "FailedCreate", "Error creating: "+r.Message)
			break
		}
		f.startPod(job, "")
		status["active"] = 1
	}
	if fmt.Sprint(status) != before {
		f.put("MODIFIED", "jobs", job)
	}
}

// startPod creates a pod of a Job. index is empty if the Job is not indexed.
func (f *Cluster) startPod(job tree, index string) {
	m := Meta(job)
	template := Copy(Child(Child(job, "spec"), "template"))
	pod := tree{"metadata": Child(template, "metadata"), "spec": template["spec"], "status": tree{"phase": "Pending"}}
	pm := Meta(pod)
	pm["name"], pm["namespace"] = fmt.Sprintf("%v-%05d", m["name"], f.version), m["namespace"]
	labels := Child(pm, "labels")
	labels["batch.kubernetes.io/job-name"], labels["job-name"] = m["name"], m["name"]
	pm["ownerReferences"] = []any{tree{"kind": "Job", "name": m["name"], "uid": m["uid"], "controller": true}}
	if index != "" {
		Child(pm, "annotations")[api.IndexAnnotation] = index
	}
	f.put("ADDED", "pods", pod)
	go f.live(Copy(pod))
}

// controlIndexed acts as the controller of an indexed Job. It starts one pod for each index and never replaces a failed
// one.
func (f *Cluster) controlIndexed(job tree) {
	spec, status := Child(job, "spec"), Child(job, "status")
	before := fmt.Sprint(status)
	var completed, failed []string
	active, count := map[string]bool{}, int(spec["completions"].(float64))
	for key, pod := range f.objects {
		if !strings.HasPrefix(key, "pods/") || Child(Meta(pod), "labels")["job-name"] != Meta(job)["name"] {
			continue
		}
		index := Child(Meta(pod), "annotations")[api.IndexAnnotation].(string)
		switch phase := Child(pod, "status")["phase"]; {
		case phase == "Succeeded":
			completed = append(completed, index)
		case phase == "Failed" && !conditionOf(Child(pod, "status"), "DisruptionTarget"):
			failed = append(failed, index)
		case phase != "Failed":
			active[index] = true
		}
	}
	for i := 0; i < count && spec["suspend"] != true; i++ {
		index := strconv.Itoa(i)
		if done := slices.Contains(completed, index) || slices.Contains(failed, index); !done && !active[index] &&
			len(active) < int(spec["parallelism"].(float64)) {
			active[index] = true
			if r := f.Refuse("create pods", ""); r != nil {
				f.event(job, "FailedCreate", "Error creating: "+r.Message)
				continue
			}
			f.startPod(job, index)
		}
	}
	status["completedIndexes"], status["failedIndexes"] = strings.Join(completed, ","), strings.Join(failed, ",")
	switch {
	case len(completed) == count:
		SetCondition(status, "Complete", "CompletionsReached", "")
	case len(completed)+len(failed) == count:
		SetCondition(status, "Failed", "FailedIndexes", "Job has failed indexes")
	}
	if fmt.Sprint(status) != before {
		f.put("MODIFIED", "jobs", job)
	}
}

// live acts as the scheduler and the kubelet for a pod, until the pod's end.
func (f *Cluster) live(pod tree) {
	namespace, name := Meta(pod)["namespace"].(string), Meta(pod)["name"].(string)
	uid := Meta(pod)["uid"].(string)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f.mu.Lock()
	f.ends[uid] = cancel
	log := &podLog{}
	f.logs[name] = log
	f.mu.Unlock()
	set := func(phase string, state tree) {
		f.Change("pods", namespace, name, func(pod tree) {
			status := Child(pod, "status")
			status["phase"] = phase
			status["containerStatuses"] = []any{ // an admission controller has added a container
				tree{"name": "a-sidecar", "state": tree{"running": tree{}}}, tree{"name": "job", "state": state}}
		})
	}
	for last := ""; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		node, why := f.Place(pod)
		if node != "" {
			f.Change("pods", namespace, name, func(pod tree) {
				Child(pod, "spec")["nodeName"], Child(pod, "status")["conditions"] = node, []any{}
			})
			break
		}
		if why != last {
			f.Change("pods", namespace, name, func(pod tree) {
				Child(pod, "status")["conditions"] = []any{tree{"type": "PodScheduled", "status": "False",
					"reason": "Unschedulable", "message": why}}
			})
		}
		last = why
	}
	for last := ""; ctx.Err() == nil; {
		reason, message := f.Wait(pod)
		if reason == "" {
			break
		}
		if reason != last {
			set("Pending", tree{"waiting": tree{"reason": reason, "message": message}})
			f.tell(pod, "Failed", message)
		}
		last = reason
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
	code := 0
	if ctx.Err() == nil {
		set("Running", tree{"running": tree{"startedAt": time.Now().UTC().Format(time.RFC3339)}})
		code = f.Run(ctx, pod, logWriter{f, log})
	}
	f.mu.Lock()
	log.over = true
	delete(f.ends, uid)
	f.mu.Unlock()
	phase := "Succeeded"
	if code != 0 || ctx.Err() != nil {
		phase = "Failed"
	}
	end := tree{"exitCode": code, "reason": "Completed", "finishedAt": time.Now().UTC().Format(time.RFC3339)}
	time.Sleep(f.Late)
	if phase == "Failed" {
		f.mu.Lock()
		end["reason"], end["message"] = "Error", strings.Join(log.lines, "\n")
		f.mu.Unlock()
	}
	set(phase, tree{"terminated": end})
	time.Sleep(50 * time.Millisecond) // a real kubelet takes a second
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.objects["pods/"+namespace+"/"+name]; now != nil && Meta(now)["deletionTimestamp"] != nil {
		f.put("DELETED", "pods", now)
		delete(f.logs, name)
		f.control(namespace)
	}
}

// end ends a pod: its program gets SIGTERM, and the pod is deleted after the program's end.
func (f *Cluster) end(pod tree) {
	if pod == nil || Meta(pod)["deletionTimestamp"] != nil {
		return
	}
	pod = Copy(pod)
	Meta(pod)["deletionTimestamp"] = time.Now().UTC().Format(time.RFC3339)
	if cancel := f.ends[Meta(pod)["uid"].(string)]; cancel != nil {
		f.put("MODIFIED", "pods", pod)
		cancel()
		return
	}
	f.put("DELETED", "pods", pod)
}

// logWriter writes lines into a log with the time of each line.
type logWriter struct {
	f   *Cluster
	log *podLog
}

func (w logWriter) Write(p []byte) (int, error) {
	w.f.mu.Lock()
	defer w.f.mu.Unlock()
	for line := range strings.Lines(string(p)) {
		w.log.lines = append(w.log.lines, strings.TrimSuffix(line, "\n"))
		w.log.at = append(w.log.at, time.Now())
	}
	close(w.f.changed)
	w.f.changed = make(chan struct{})
	return len(p), nil
}

// PlaceAtMost makes the scheduler of the fake cluster place at most a number of pods at a time.
func (f *Cluster) PlaceAtMost(most int) {
	var mu sync.Mutex
	placed := map[any]bool{} // by name of the pod
	f.Place = func(mine tree) (string, string) {
		mu.Lock()
		defer mu.Unlock()
		held := 0
		for _, pod := range f.All("pods") {
			phase := Child(pod, "status")["phase"]
			if placed[Meta(pod)["name"]] && phase != "Succeeded" && phase != "Failed" {
				held++
			}
		}
		if held >= most {
			return "", "0/2 nodes are available: 2 Insufficient cpu."
		}
		placed[Meta(mine)["name"]] = true
		return "n1", ""
	}
}

// Runs reports whether a pod is running.
func (f *Cluster) Runs() bool {
	for _, pod := range f.All("pods") {
		if Child(pod, "status")["phase"] == "Running" && Meta(pod)["deletionTimestamp"] == nil {
			return true
		}
	}
	return false
}

// Eventually waits until a condition holds.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("in vain: %s", what)
		}
	}
}
