package kubernetes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/results/folder"
)

// Labels of all objects of the engine. labelRun identifies the run, labelEngine the engine of a cell. labelCell and
// labelJob are for people.
const (
	labelManager = "app.kubernetes.io/managed-by"
	labelRun     = "tfexp.dev/run"
	labelEngine  = "tfexp.dev/engine"
	labelCell    = "tfexp.dev/cell"
	labelJob     = "tfexp.dev/job"
	labelStart   = "tfexp.dev/start"   // identifies one pod of a program
	labelService = "tfexp.dev/service" // the Service of a job with roles
)

// annotationFolder is the annotation with the results folder of a run.
const annotationFolder = "tfexp.dev/folder"

// cluster is a namespace of a cluster.
type cluster struct {
	*client
	set       *settings
	namespace string
}

// connect returns a client for the cluster of a hardware. It makes no call.
func connect(s *settings) (*cluster, error) {
	a, err := find(s.Kubeconfig, s.Context)
	if errors.Is(err, errNoCluster) {
		return nil, &engine.Unavailable{Engine: kindName, Err: err, Hint: configHint()}
	}
	if err != nil {
		return nil, err
	}
	return &cluster{client: a.dial(), set: s, namespace: cmp.Or(s.Namespace, a.Namespace, "default")}, nil
}

func (k *cluster) close() { k.http.CloseIdleConnections() }

// noteFile is a file in the results folder. It lists the clusters in which the run has Jobs, for the next run.
const noteFile = "kubernetes.json"

// noted is an entry of noteFile.
type noted struct {
	Kubeconfig string `json:"kubeconfig,omitempty"`
	Context    string `json:"context,omitempty"`
	Namespace  string `json:"namespace"`
}

// session is the engine during a run.
type session struct {
	run engine.Run
	id  string // the value of labelRun

	mu       sync.Mutex // guards what follows
	clusters map[string]*cluster
	notes    []noted
}

// runID returns the value of labelRun for a results folder of this machine.
func runID(dir string) string {
	host, _ := os.Hostname() // without a name, the folder alone counts
	sum := sha256.Sum256([]byte(host + "\n" + dir))
	return hex.EncodeToString(sum[:6])
}

// openSession removes the Jobs that a killed run has left.
func openSession(run engine.Run) (engine.Session, []string, error) {
	s := &session{run: run, id: runID(run.Dir), clusters: map[string]*cluster{}}
	raw, err := engine.ReadNote(run.Dir, noteFile)
	var old []noted
	if err == nil {
		err = json.Unmarshal(raw, &old)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, nil, fmt.Errorf("read %s: %w", noteFile, err)
	}
	var removed []string
	for _, n := range old {
		k, err := connect(&settings{Kubeconfig: n.Kubeconfig, Context: n.Context, Namespace: n.Namespace})
		if err == nil {
			k.client = k.patient(leftoverPatience)
			var gone []string
			gone, err = k.sweep(context.Background(), map[string]string{labelRun: s.id})
			removed = append(removed, gone...)
			k.close()
		}
		if err != nil {
			return nil, removed, unavailable(fmt.Errorf("clean up after an earlier run: %w", err))
		}
	}
	if len(old) > 0 {
		return s, removed, folder.Remove(filepath.Join(run.Dir, noteFile))
	}
	return s, nil, nil
}

// leftoverPatience is how long calls are repeated to a server that may have Jobs of an earlier run.
const leftoverPatience = time.Minute

// goneLimit is how long sweep waits for the ends of pods.
const goneLimit = 2 * time.Minute

// sweep removes the Jobs, pods, Services and Secrets with some labels, and waits until no pod is left. It returns
// descriptions of the removed Jobs: "Job tfexp-… (job a-1 of cell …)".
func (k *cluster) sweep(ctx context.Context, labels map[string]string) (removed []string, err error) {
	for _, resource := range []string{"jobs", "services", "secrets"} {
		objects, err := listed[job](ctx, k, resource, labels)
		if err != nil && (resource == "jobs" || !refused(err, http.StatusForbidden)) {
			return removed, err // a user who may not list other objects has created none
		}
		for _, o := range objects {
			if err := k.remove(ctx, resource, o.Metadata.Name, inBackground); err != nil {
				return removed, err
			}
			if resource == "jobs" {
				removed = append(removed, fmt.Sprintf("Job %s (job %s of cell %s)", o.Metadata.Name, o.Metadata.Labels[labelJob],
					o.Metadata.Labels[labelCell]))
			}
		}
	}
	for began := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		pods, err := listed[pod](ctx, k, "pods", labels)
		if err != nil {
			return removed, err
		}
		if len(pods) == 0 {
			return removed, nil
		}
		for i := range pods {
			p := &pods[i]
			if p.Metadata.Deleted != nil && time.Since(began) < time.Second {
				continue
			}
			if err := k.deletePod(ctx, p.Metadata.Name); err != nil {
				return removed, err
			}
		}
		if time.Since(began) > goneLimit {
			return removed, fmt.Errorf("pod %s does not end: its node may be away (kubectl -n %s get pods -l %s)",
				pods[0].Metadata.Name, k.namespace, selector(labels))
		}
	}
}

// on returns a call about Jobs, pods or other objects of the namespace.
func (k *cluster) on(verb, resource, name string) call {
	what := call{verb: verb, resource: resource, namespace: k.namespace, name: name}
	if resource == "jobs" {
		what.group = batch
	}
	return what
}

// listed lists the objects of the namespace that have some labels.
func listed[T any](ctx context.Context, k *cluster, resource string, labels map[string]string) ([]T, error) {
	what := k.on("list", resource, "")
	what.query = byLabels(labels)
	items, _, err := all[T](ctx, k.client, what)
	return items, err
}

// byLabels returns a query for the objects with some labels.
func byLabels(labels map[string]string) url.Values {
	return url.Values{"labelSelector": {selector(labels)}}
}

// remove deletes an object of the namespace. It is no error if the object does not exist.
func (k *cluster) remove(ctx context.Context, resource, name string, options any) error {
	what := k.on("delete", resource, name)
	what.body = options
	err := k.do(ctx, what, nil)
	if refused(err, 404) {
		return nil
	}
	return err
}

// batch is the API group of Jobs.
const batch = "batch/v1"

// inBackground makes the cluster delete the pods of a deleted Job.
var inBackground = tree{"propagationPolicy": "Background"}

// deleteJob deletes a Job. The cluster then deletes its pods.
func (k *cluster) deleteJob(ctx context.Context, name string) error {
	return k.remove(ctx, "jobs", name, inBackground)
}

// deletePod deletes a pod; its program gets SIGKILL after one second.
func (k *cluster) deletePod(ctx context.Context, name string) error {
	return k.remove(ctx, "pods", name, tree{"gracePeriodSeconds": 1})
}

// Engine makes an engine for a cell or a sample.
func (s *session) Engine(ctx context.Context, task engine.Task) (engine.Engine, error) {
	k, err := s.cluster(task.Hardware)
	if err != nil {
		return nil, unavailable(err)
	}
	rooms, err := k.rooms(ctx, s.id)
	if err != nil {
		return nil, orDone(ctx, err)
	}
	nodes, err := assign(task.Hardware, rooms)
	if err != nil {
		return nil, unavailable(err)
	}
	return newEngine(ctx, s, k, nodes, task)
}

// orDone returns the error of the context if it is done, or else the error of the cluster with a hint.
func orDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return unavailable(err)
}

// cluster returns the cluster of a hardware, and adds it to noteFile.
func (s *session) cluster(hw *engine.Hardware) (*cluster, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.clusters[hw.Name]; k != nil {
		return k, nil
	}
	set := settingsOf(hw)
	k, err := connect(set)
	if err != nil {
		return nil, err
	}
	k.client = k.patient(set.Patience)
	n := noted{Kubeconfig: set.Kubeconfig, Context: k.access.Context, Namespace: k.namespace}
	if !slices.Contains(s.notes, n) {
		raw, err := json.Marshal(append(slices.Clone(s.notes), n))
		if err != nil {
			return nil, err
		}
		if err := folder.Write(filepath.Join(s.run.Dir, noteFile), append(raw, '\n'), 0o644); err != nil {
			return nil, fmt.Errorf("note the cluster of the run: %w", err)
		}
		s.notes = append(s.notes, n)
	}
	s.clusters[hw.Name] = k
	return k, nil
}

// Local reports that jobs use no GPU of this machine.
func (s *session) Local(*engine.Hardware) bool { return false }

// Close removes the remaining objects of the run. If that fails, noteFile stays for the next run.
func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, k := range s.clusters {
		k.patience.Store(int64(firstPatience))
		_, err := k.sweep(context.Background(), map[string]string{labelRun: s.id})
		errs = append(errs, err)
		k.close()
	}
	s.clusters = nil
	if err := errors.Join(errs...); err != nil {
		if s.run.Warn != nil {
			s.run.Warn("Jobs may be left in the cluster, which the next run removes: " + err.Error())
		}
		return nil
	}
	if len(s.notes) > 0 {
		return folder.Remove(filepath.Join(s.run.Dir, noteFile))
	}
	return nil
}
