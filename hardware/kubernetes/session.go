package kubernetes

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/results/folder"
)

// Labels of all objects of the engine. LabelManager is "tfexp" also for other objects of tfexp. labelRun identifies the
// run, and labelEngine the engine of a cell. labelCell and labelJob are for people.
const (
	LabelManager = "app.kubernetes.io/managed-by"
	labelRun     = "tfexp.dev/run"
	labelEngine  = "tfexp.dev/engine"
	labelCell    = "tfexp.dev/cell"
	labelJob     = "tfexp.dev/job"
	labelStart   = "tfexp.dev/start"   // identifies one pod of a program
	labelService = "tfexp.dev/service" // the Service of a job with roles
)

// AnnotationFolder is the annotation with the results folder of a run.
const AnnotationFolder = "tfexp.dev/folder"

// cluster is the namespace of a hardware.
type cluster struct {
	api.Namespace
	set *Settings
}

// connect returns the cluster of a hardware. It makes no call.
func connect(s *Settings) (*cluster, error) {
	n, err := s.Connect()
	if err != nil {
		return nil, err
	}
	return &cluster{n, s}, nil
}

// patient returns the cluster with another patience.
func (k *cluster) patient(patience time.Duration) *cluster {
	return &cluster{api.Namespace{Client: k.WithPatience(patience), Name: k.Namespace.Name}, k.set}
}

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
	if errors.Is(err, os.ErrNotExist) {
		return s, nil, nil
	}
	var old []noted
	if err == nil {
		err = json.Unmarshal(raw, &old)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", noteFile, err)
	}
	var removed []string
	for _, n := range old {
		k, err := connect(&Settings{Kubeconfig: n.Kubeconfig, Context: n.Context, Namespace: n.Namespace})
		if err == nil {
			k.SetPatience(leftoverPatience)
			var gone []string
			gone, err = s.clear(k)
			removed = append(removed, gone...)
		}
		if err != nil {
			return nil, removed, Unavailable(fmt.Errorf("clean up after an earlier run (if its cluster does not exist any "+
				"more, remove %s): %w", s.noteFile(), err))
		}
	}
	return s, removed, folder.Remove(s.noteFile())
}

func (s *session) noteFile() string { return filepath.Join(s.run.Dir, noteFile) }

// clear removes the objects of the run from a cluster, and closes its connections.
func (s *session) clear(k *cluster) (removed []string, err error) {
	defer k.Close()
	return k.sweep(context.Background(), map[string]string{labelRun: s.id})
}

// leftoverPatience is how long calls are repeated to a server that may have Jobs of an earlier run.
const leftoverPatience = time.Minute

// goneLimit is how long sweep waits for the ends of pods.
const goneLimit = 2 * time.Minute

// sweep removes the Jobs, pods, Services and Secrets with some labels, and waits until no pod is left. It returns
// descriptions of the removed Jobs: "Job tfexp-… (job a-1 of cell …)".
func (k *cluster) sweep(ctx context.Context, labels map[string]string) (removed []string, err error) {
	for _, resource := range []string{"jobs", "services", "secrets"} {
		objects, err := api.Labelled[api.Job](ctx, k.Namespace, resource, labels)
		if err != nil && (resource == "jobs" || !api.Refused(err, http.StatusForbidden)) {
			return removed, err // a user who may not list other objects has created none
		}
		for _, o := range objects {
			if err := k.Delete(ctx, resource, o.Metadata.Name); err != nil {
				return removed, err
			}
			if resource == "jobs" {
				removed = append(removed, fmt.Sprintf("Job %s (job %s of cell %s)", o.Metadata.Name,
					o.Metadata.Labels[labelJob], o.Metadata.Labels[labelCell]))
			}
		}
	}
	for began := time.Now(); ; time.Sleep(200 * time.Millisecond) {
		pods, err := api.Labelled[api.Pod](ctx, k.Namespace, "pods", labels)
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
			if err := k.Delete(ctx, "pods", p.Metadata.Name); err != nil {
				return removed, err
			}
		}
		if time.Since(began) > goneLimit {
			return removed, fmt.Errorf("pod %s does not end: its node may be away (kubectl -n %s get pods -l %s)",
				pods[0].Metadata.Name, k.Namespace.Name, api.Selector(labels))
		}
	}
}

// Engine makes an engine for a cell or a sample.
func (s *session) Engine(ctx context.Context, task engine.Task) (engine.Engine, error) {
	k, err := s.cluster(task.Hardware)
	if err != nil {
		return nil, Unavailable(err)
	}
	rooms, err := k.rooms(ctx, s.id)
	if err != nil {
		return nil, UnavailableOrDone(ctx, err)
	}
	nodes, err := assign(task.Hardware, rooms)
	if err != nil {
		return nil, Unavailable(err)
	}
	return newEngine(ctx, s, k, nodes, task)
}

// UnavailableOrDone returns the error of the context if it is done, or else the error of the cluster with a hint.
func UnavailableOrDone(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return Unavailable(err)
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
	k = k.patient(set.Patience)
	n := noted{Kubeconfig: set.Kubeconfig, Context: k.Access.Context, Namespace: k.Namespace.Name}
	if !slices.Contains(s.notes, n) {
		raw, err := json.Marshal(append(slices.Clone(s.notes), n))
		if err != nil {
			return nil, err
		}
		if err := folder.Write(s.noteFile(), append(raw, '\n'), 0o644); err != nil {
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
		k.SetPatience(api.FirstPatience)
		_, err := s.clear(k)
		errs = append(errs, err)
	}
	s.clusters = nil
	if err := errors.Join(errs...); err != nil {
		if s.run.Warn != nil {
			s.run.Warn("Jobs may be left in the cluster, which the next run removes: " + err.Error())
		}
		return nil
	}
	if len(s.notes) > 0 {
		return folder.Remove(s.noteFile())
	}
	return nil
}

// Unavailable wraps an error of the cluster as an engine.Unavailable with a hint for the user.
func Unavailable(err error) error {
	if _, known := errors.AsType[*engine.Unavailable](err); known || err == nil {
		return err
	}
	hint := "run tfexp doctor: it lists missing parts and permissions"
	switch _, away := errors.AsType[*api.AwayError](err); {
	case away:
		hint = "kubectl cluster-info shows whether the server can be reached; then continue with tfexp resume"
	case api.Refused(err, http.StatusForbidden):
		hint = "tfexp doctor lists the permissions that the engine needs; docs/kubernetes.md has a file with them"
	case api.Refused(err, http.StatusUnauthorized):
		hint = loginHint
	}
	return &engine.Unavailable{Engine: Name, Err: err, Hint: hint}
}

// tree is an object of the API, or a part of an object, that the engine only writes.
type tree = map[string]any
