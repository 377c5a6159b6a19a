package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fakeCluster is a fake API server with controllers and kubelets, all in this process. It acts as Kubernetes 1.36 does,
// and has only the parts that the tests of faults need.
type fakeCluster struct {
	*httptest.Server

	// refuse returns an answer that replaces the server's own, or nil. Its first argument is a call such as "create
	// jobs" or "watch pods".
	refuse func(what, name string) *fakeRefusal
	// lose reports whether to cut the connection after a call was carried out.
	lose func(what string) bool
	// place acts as the scheduler: it returns the node of a pod, or why the pod has no node yet.
	place func(pod tree) (node, why string)
	// wait returns why the container of a pod does not start yet: a reason such as ErrImageNeverPull, and a message.
	wait func(pod tree) (reason, message string)
	// run acts as the program of a pod's container. The end of ctx is its SIGTERM; it should return soon after.
	run func(ctx context.Context, pod tree, stdout io.Writer) (exit int)

	// old makes the server like old versions: it does not resize pods, and refuses to change the pods of a Job that has
	// run.
	old bool
	// groups has the preferred version of each other group of the API.
	groups map[string]string
	// infeasible is the reason for which the nodes refuse to resize pods; empty if they do not refuse.
	infeasible string
	// late is how long nodes take to report the end of a container.
	late time.Duration

	mu        sync.Mutex
	version   int
	forgotten int             // watches from versions before this one are refused
	objects   map[string]tree // by resource, namespace and name: "pods/research/x"
	changes   []fakeChange
	changed   chan struct{} // closed at each change
	broken    chan struct{} // closed to break the streams
	logs      map[string]*fakeLog
	ends      map[string]context.CancelFunc // ends running containers, by the UID of their pod
	dropped   map[any]bool                  // UIDs of pods of suspended Jobs: their ends are no failures
	calls     []string
	away      bool
}

type fakeRefusal struct {
	code            int
	reason, message string
	retryAfter      int // in seconds
}

type fakeChange struct {
	kind, resource string
	version        int
	object         tree
}

// fakeLog is the log of a container.
type fakeLog struct {
	lines []string
	at    []time.Time
	over  bool
}

func newFake(t testing.TB) *fakeCluster {
	f := &fakeCluster{version: 100, objects: map[string]tree{}, changed: make(chan struct{}),
		broken: make(chan struct{}), logs: map[string]*fakeLog{}, ends: map[string]context.CancelFunc{},
		dropped: map[any]bool{}}
	f.place = func(pod tree) (string, string) { return nodeOf(pod), "" }
	f.wait = func(tree) (string, string) { return "", "" }
	f.run = func(context.Context, tree, io.Writer) int { return 0 }
	f.refuse = func(string, string) *fakeRefusal { return nil }
	f.lose = func(string) bool { return false }
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
		f.breakStreams()
		f.Close()
	})
	return f
}

// goAway makes the server unreachable (true) or reachable again (false).
func (f *fakeCluster) goAway(away bool) {
	f.mu.Lock()
	f.away = away
	f.mu.Unlock()
	f.breakStreams()
}

// breakStreams ends all watches and all logs that are being followed.
func (f *fakeCluster) breakStreams() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.broken)
	f.broken = make(chan struct{})
}

// forget makes the server forget old versions. It answers watches from them with 410 Gone.
func (f *fakeCluster) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.version++
	f.forgotten = f.version
}

// called returns how often clients made a call such as "create jobs".
func (f *fakeCluster) called(what string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, call := range f.calls {
		if call == what {
			n++
		}
	}
	return n
}

// all returns copies of the objects of a resource, sorted by name.
func (f *fakeCluster) all(resource string) (all []tree) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(f.objects)) {
		if strings.HasPrefix(key, resource+"/") {
			all = append(all, copied(f.objects[key]))
		}
	}
	return all
}

// change changes an object as another client of the cluster would.
func (f *fakeCluster) change(resource, namespace, name string, how func(tree)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if o := f.objects[resource+"/"+namespace+"/"+name]; o != nil {
		o = copied(o)
		how(o)
		f.put("MODIFIED", resource, o)
		f.control(namespace)
	}
}

// tell adds an Event object about another object.
func (f *fakeCluster) tell(about tree, reason, message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.event(about, reason, message)
}

func (f *fakeCluster) event(about tree, reason, message string) {
	m := metaOf(about)
	f.put("ADDED", "events", tree{
		"metadata": tree{"name": fmt.Sprintf("%v.%d", m["name"], f.version), "namespace": m["namespace"]},
		"type":     "Warning", "reason": reason, "message": message,
		"involvedObject": tree{"uid": m["uid"], "name": m["name"]},
		"lastTimestamp":  time.Now().UTC().Format(time.RFC3339),
	})
}

// evict deletes a pod as the eviction API does, and records that in the pod's conditions.
func (f *fakeCluster) evict(namespace, name string) {
	f.change("pods", namespace, name, func(pod tree) {
		child(pod, "status")["conditions"] = []any{tree{"type": "DisruptionTarget", "status": "True",
			"reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting"}}
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.end(f.objects["pods/"+namespace+"/"+name])
}

// put stores an object and sends it to all watches.
func (f *fakeCluster) put(kind, resource string, o tree) {
	f.version++
	m := metaOf(o)
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
	f.changes = append(f.changes, fakeChange{kind, resource, f.version, copied(o)})
	close(f.changed)
	f.changed = make(chan struct{})
}

// control acts as the controller of Jobs for all Jobs of a namespace.
func (f *fakeCluster) control(namespace string) {
	for _, key := range slices.Sorted(maps.Keys(f.objects)) {
		if strings.HasPrefix(key, "jobs/"+namespace+"/") {
			f.controlJob(f.objects[key])
		}
	}
}

func (f *fakeCluster) controlJob(job tree) {
	spec, status, m := child(job, "spec"), child(job, "status"), metaOf(job)
	if conditionOf(status, "Complete") || conditionOf(status, "Failed") {
		return
	}
	if spec["completionMode"] == "Indexed" {
		f.controlIndexed(job)
		return
	}
	active, ending, succeeded, failed := []tree{}, 0, 0, 0
	for key, pod := range f.objects {
		if !strings.HasPrefix(key, "pods/") || child(metaOf(pod), "labels")["batch.kubernetes.io/job-name"] != m["name"] {
			continue
		}
		switch phase := child(pod, "status")["phase"]; {
		case phase == "Succeeded":
			succeeded++
		case f.dropped[metaOf(pod)["uid"]]:
			ending++
		case phase == "Failed" && !(spec["podFailurePolicy"] != nil && conditionOf(child(pod, "status"), "DisruptionTarget")):
			failed++
		case phase == "Failed":
		case metaOf(pod)["deletionTimestamp"] != nil:
			ending++
		default:
			active = append(active, pod)
		}
	}
	before := fmt.Sprint(status)
	switch {
	case succeeded > 0:
		setCondition(status, "Complete", "CompletionsReached", "")
	case failed > 0:
		setCondition(status, "Failed", "BackoffLimitExceeded", "Job has reached the specified backoff limit")
	case spec["suspend"] == true:
		setCondition(status, "Suspended", "JobSuspended", "Job suspended")
		if !f.old {
			delete(status, "startTime")
		}
		for _, pod := range active {
			f.dropped[metaOf(pod)["uid"]] = true
			f.end(pod)
		}
	case len(active) == 0 && ending == 0:
		status["conditions"] = []any{tree{"type": "Suspended", "status": "False", "reason": "JobResumed"}}
		status["startTime"] = time.Now().UTC().Format(time.RFC3339)
		if r := f.refuse("create pods", ""); r != nil {
			f.event(job, "FailedCreate", "Error creating: "+r.message)
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
func (f *fakeCluster) startPod(job tree, index string) {
	m := metaOf(job)
	template := copied(child(child(job, "spec"), "template"))
	pod := tree{"metadata": child(template, "metadata"), "spec": template["spec"], "status": tree{"phase": "Pending"}}
	pm := metaOf(pod)
	pm["name"], pm["namespace"] = fmt.Sprintf("%v-%05d", m["name"], f.version), m["namespace"]
	labels := child(pm, "labels")
	labels["batch.kubernetes.io/job-name"], labels["job-name"] = m["name"], m["name"]
	pm["ownerReferences"] = []any{tree{"kind": "Job", "name": m["name"], "uid": m["uid"], "controller": true}}
	if index != "" {
		child(pm, "annotations")[annotationIndex] = index
	}
	f.put("ADDED", "pods", pod)
	go f.live(copied(pod))
}

// controlIndexed acts as the controller of an indexed Job. It starts one pod for each index and never replaces a failed
// one.
func (f *fakeCluster) controlIndexed(job tree) {
	spec, status := child(job, "spec"), child(job, "status")
	before := fmt.Sprint(status)
	var completed, failed []string
	active, count := map[string]bool{}, int(spec["completions"].(float64))
	for key, pod := range f.objects {
		if !strings.HasPrefix(key, "pods/") || child(metaOf(pod), "labels")["job-name"] != metaOf(job)["name"] {
			continue
		}
		index := child(metaOf(pod), "annotations")[annotationIndex].(string)
		switch phase := child(pod, "status")["phase"]; {
		case phase == "Succeeded":
			completed = append(completed, index)
		case phase == "Failed" && !conditionOf(child(pod, "status"), "DisruptionTarget"):
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
			if r := f.refuse("create pods", ""); r != nil {
				f.event(job, "FailedCreate", "Error creating: "+r.message)
				continue
			}
			f.startPod(job, index)
		}
	}
	status["completedIndexes"], status["failedIndexes"] = strings.Join(completed, ","), strings.Join(failed, ",")
	switch {
	case len(completed) == count:
		setCondition(status, "Complete", "CompletionsReached", "")
	case len(completed)+len(failed) == count:
		setCondition(status, "Failed", "FailedIndexes", "Job has failed indexes")
	}
	if fmt.Sprint(status) != before {
		f.put("MODIFIED", "jobs", job)
	}
}

// live acts as the scheduler and the kubelet for a pod, until the pod's end.
func (f *fakeCluster) live(pod tree) {
	namespace, name := metaOf(pod)["namespace"].(string), metaOf(pod)["name"].(string)
	uid := metaOf(pod)["uid"].(string)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f.mu.Lock()
	f.ends[uid] = cancel
	log := &fakeLog{}
	f.logs[name] = log
	f.mu.Unlock()
	set := func(phase string, state tree) {
		f.change("pods", namespace, name, func(pod tree) {
			status := child(pod, "status")
			status["phase"] = phase
			status["containerStatuses"] = []any{tree{"name": "job", "state": state}}
		})
	}
	for last := ""; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
		node, why := f.place(pod)
		if node != "" {
			f.change("pods", namespace, name, func(pod tree) {
				child(pod, "spec")["nodeName"], child(pod, "status")["conditions"] = node, []any{}
			})
			break
		}
		if why != last {
			f.change("pods", namespace, name, func(pod tree) {
				child(pod, "status")["conditions"] = []any{tree{"type": "PodScheduled", "status": "False",
					"reason": "Unschedulable", "message": why}}
			})
		}
		last = why
	}
	for last := ""; ctx.Err() == nil; {
		reason, message := f.wait(pod)
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
		code = f.run(ctx, pod, fakeWriter{f, log})
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
	time.Sleep(f.late)
	if phase == "Failed" {
		f.mu.Lock()
		end["reason"], end["message"] = "Error", strings.Join(log.lines, "\n")
		f.mu.Unlock()
	}
	set(phase, tree{"terminated": end})
	time.Sleep(50 * time.Millisecond) // a real kubelet takes a second
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.objects["pods/"+namespace+"/"+name]; now != nil && metaOf(now)["deletionTimestamp"] != nil {
		f.put("DELETED", "pods", now)
		delete(f.logs, name)
		f.control(namespace)
	}
}

// end ends a pod: its program gets SIGTERM, and the pod is deleted after the program's end.
func (f *fakeCluster) end(pod tree) {
	if pod == nil || metaOf(pod)["deletionTimestamp"] != nil {
		return
	}
	pod = copied(pod)
	metaOf(pod)["deletionTimestamp"] = time.Now().UTC().Format(time.RFC3339)
	if cancel := f.ends[metaOf(pod)["uid"].(string)]; cancel != nil {
		f.put("MODIFIED", "pods", pod)
		cancel()
		return
	}
	f.put("DELETED", "pods", pod)
}

// fakeWriter writes lines into a log with the time of each line.
type fakeWriter struct {
	f   *fakeCluster
	log *fakeLog
}

func (w fakeWriter) Write(p []byte) (int, error) {
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

// nodeOf returns the node that a pod requests, or n1 if it requests none.
func nodeOf(pod tree) string {
	terms := child(child(child(child(pod, "spec"), "affinity"), "nodeAffinity"), "requiredDuringSchedulingIgnoredDuringExecution")
	for _, term := range anys(terms["nodeSelectorTerms"]) {
		for _, field := range anys(term.(tree)["matchFields"]) {
			for _, value := range anys(field.(tree)["values"]) {
				return value.(string)
			}
		}
	}
	return "n1"
}

// setCondition sets one condition of a status to True, and keeps the others.
func setCondition(status tree, kind, reason, message string) {
	all := slices.DeleteFunc(slices.Clone(anys(status["conditions"])), func(c any) bool { return c.(tree)["type"] == kind })
	status["conditions"] = append(all, tree{"type": kind, "status": "True", "reason": reason, "message": message})
}

// conditionOf reports whether a condition of a status is True.
func conditionOf(status tree, kind string) bool {
	return slices.ContainsFunc(anys(status["conditions"]), func(c any) bool {
		return c.(tree)["type"] == kind && c.(tree)["status"] == "True"
	})
}

// child returns a field of an object that is itself an object. It creates the field if it is missing.
func child(o tree, name string) tree {
	inner, ok := o[name].(tree)
	if !ok {
		inner = tree{}
		o[name] = inner
	}
	return inner
}

func metaOf(o tree) tree { return child(o, "metadata") }

func anys(v any) []any {
	all, _ := v.([]any)
	return all
}

func copied(o tree) (c tree) {
	raw, err := json.Marshal(o)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		panic(err)
	}
	return c
}

// placeOf returns the key under which an object of a resource is stored.
func placeOf(resource string, o tree) string {
	namespace, _ := metaOf(o)["namespace"].(string)
	return fmt.Sprintf("%s/%s/%v", resource, namespace, metaOf(o)["name"])
}
