package kubernetes

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// ErrClosed is returned by calls to an engine after Close.
var ErrClosed = errors.New("the Kubernetes engine is closed")

// Engine runs jobs as Jobs of a cluster. It implements scheduler.Engine on a monotonic clock. Its methods may be called
// from one goroutine at a time.
type Engine struct {
	*launch.Jobs[*program]

	*cluster
	run, id, cell string // labels of objects
	folder        string
	hw            *engine.Hardware
	warnings      launch.ProgressWarner
	resizes       bool            // whether the cluster resizes running pods
	ctx           context.Context // done when the engine is closed
	cancel        context.CancelFunc
	calls         sync.WaitGroup // the watch of pods
	blind         chan struct{}  // closed when pods are not watched any more
	blindness     error          // the reason, afterwards

	mu      sync.Mutex // guards what follows
	nodes   []string   // the cluster's name of each node
	objects []*madeJob // by job: its Job; nil before the first start
	starts  int        // so far, for labels
	started map[string]*program
	kept    map[string]bool // keys of the secret of the engine
	// Of jobs that the cluster starts; see Submit.
	launches    []launch.Job
	submissions map[int]*submission
	byStart     map[string]*submission // by the label of their pods
	submitted   chan struct{}          // closed when the last submission is done
	asks        chan struct{}          // has an element when Kueue is to be asked at once
	queues      map[string]bool        // that are there
	kueue       string                 // the version of Kueue's API
}

// madeJob is the Job of a job.
type madeJob struct {
	name, uid string
	shape     string // of its template: a Job is used again for the same
}

func newEngine(ctx context.Context, s *session, k *cluster, nodes []string, task engine.Task) (*Engine, error) {
	var name [4]byte
	rand.Read(name[:])
	k = &cluster{k.patient(k.set.Patience), k.set, k.namespace}
	e := &Engine{
		cluster: k, hw: task.Hardware, warnings: task.Warn, kept: map[string]bool{},
		run: s.id, id: hex.EncodeToString(name[:]), cell: label(task.Cell), folder: s.run.Dir, nodes: nodes,
		objects: make([]*madeJob, len(task.Jobs)), started: map[string]*program{}, blind: make(chan struct{}),
	}
	var core apiResources
	if err := k.do(ctx, call{verb: "get"}, &core); err != nil {
		return nil, orDone(ctx, fmt.Errorf("read what the API server can do: %w", err))
	}
	for _, r := range core.Resources {
		e.resizes = e.resizes || r.Name == "pods/resize"
	}
	e.launches = contained(task.Jobs)
	e.Jobs = launch.NewJobs(e.launches, launch.ProgramHands[*program](hands{e}), launch.JobsOptions{
		Closed: ErrClosed, Cluster: task.Hardware.Cluster, Grace: k.set.Grace + stopMargin, Suspends: true,
		Saves: true, Report: task.Report, Warn: task.Warn,
	})
	e.ctx, e.cancel = context.WithCancel(context.Background())
	listed := make(chan error, 1)
	e.calls.Go(func() { e.watch(listed) })
	select {
	case err := <-listed:
		if err != nil {
			e.Close()
			return nil, orDone(ctx, err)
		}
	case <-ctx.Done():
		e.Close()
		return nil, ctx.Err()
	}
	return e, nil
}

// stopMargin is how long a pod is waited for after the end of its grace, which the cluster itself keeps.
const stopMargin = 5 * time.Second

// contained returns jobs as they run in their images.
func contained(jobs []launch.Job) []launch.Job {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		if jobs[i].ContainerArgv != nil {
			jobs[i].Argv = jobs[i].ContainerArgv
		}
	}
	return jobs
}

// Change implements engine.Changer.
func (e *Engine) Change(job int, to launch.Job) error {
	to = contained([]launch.Job{to})[0]
	e.mu.Lock()
	e.launches[job] = to
	e.mu.Unlock()
	return e.Jobs.Change(job, to)
}

// label returns a text in the form that the value of a label may have.
func label(text string) string {
	text = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '_' {
			return c
		}
		return '-'
	}, text)
	return strings.Trim(text[:min(len(text), 63)], "-._")
}

// own are the labels of the engine's objects.
func (e *Engine) own() map[string]string {
	return map[string]string{labelManager: "tfexp", labelRun: e.run, labelEngine: e.id}
}

// closePatience is how long an API server is waited for that is away while an engine is closed.
const closePatience = 20 * time.Second

// Close ends all jobs at once and waits until their pods are gone. What cannot be removed now is removed by the session,
// or by the next run.
func (e *Engine) Close() error {
	e.patience.Store(int64(closePatience))
	if !e.Jobs.Close() {
		return nil
	}
	_, err := e.sweep(context.Background(), e.own())
	e.cancel()
	e.calls.Wait()
	var away *awayError
	if errors.As(err, &away) {
		return nil
	}
	return err
}

// The engine keeps the scheduler's contracts.
var (
	_ scheduler.Engine   = (*Engine)(nil)
	_ scheduler.Migrator = (*Engine)(nil)
	_ engine.Changer     = (*Engine)(nil)
)
