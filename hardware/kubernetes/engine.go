package kubernetes

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// ErrClosed is returned by calls to an engine after Close.
var ErrClosed = errors.New("the Kubernetes engine is closed")

// Engine runs the jobs of a cell as Jobs of a cluster. It implements scheduler.Engine on a monotonic clock. Only one
// goroutine at a time may call its methods.
type Engine struct {
	*launch.Jobs[*program]

	*cluster
	*submissions
	run, id, cell string // values of labelRun, labelEngine and labelCell
	folder        string
	hw            *engine.Hardware
	warnings      launch.ProgressWarner
	resizes       bool            // whether the cluster resizes running pods
	ctx           context.Context // done when the engine is closed
	cancel        context.CancelFunc
	calls         sync.WaitGroup // goroutines that watch pods and submit jobs
	starts        atomic.Int64   // number of pods and Services so far
	blind         chan struct{}  // closed when the watch of pods has failed
	blindness     error          // why it failed, once blind is closed

	turn sync.Mutex // held while the scheduler acts on a job, and while a job starts to be renewed
	// renewals has how often jobs with roles were renewed, by job. An element of renewing is closed when the job has
	// started again. Both are guarded by turn.
	renewals map[int]int
	renewing map[int]chan struct{}

	mu      sync.Mutex // guards what follows
	nodes   []string   // names in the cluster, by node of the hardware
	objects map[programKey]*madeJob
	// services has the names of the Services of jobs with roles, by job.
	services map[int]string
	started  map[string]*program
}

func newEngine(ctx context.Context, s *session, k *cluster, nodes []string, task engine.Task) (*Engine, error) {
	k = k.patient(k.set.Patience)
	e := &Engine{
		cluster: k, hw: task.Hardware, warnings: task.Warn,
		run: s.id, id: strings.ToLower(rand.Text()[:8]), cell: label(task.Cell), folder: s.run.Dir, nodes: nodes,
		objects: map[programKey]*madeJob{}, started: map[string]*program{}, services: map[int]string{},
		renewals: map[int]int{}, renewing: map[int]chan struct{}{},
		blind: make(chan struct{}),
	}
	e.submissions = &submissions{e: e, jobs: map[int]*submission{}, byStart: map[string]*submission{},
		queues: map[string]bool{}}
	var err error
	if e.resizes, err = k.Serves(ctx, "pods/resize"); err != nil {
		return nil, UnavailableOrDone(ctx, err)
	}
	e.Jobs = launch.NewJobs(task.Jobs, launch.ProgramHands[*program](hands{e}), launch.JobsOptions{
		Closed: ErrClosed, Cluster: task.Hardware.Cluster, Grace: k.set.Grace + stopMargin, Suspends: true,
		Saves: true, Report: task.Report, Warn: task.Warn,
	})
	e.ctx, e.cancel = context.WithCancel(context.Background())
	listed := make(chan bool)
	e.calls.Go(func() { e.watch(listed) })
	select {
	case <-listed:
		return e, nil
	case <-e.blind:
		err = e.blindness
	case <-ctx.Done():
		err = ctx.Err()
	}
	e.Close()
	return nil, UnavailableOrDone(ctx, err)
}

// watch follows the pods of the engine until it is closed. It closes listed when it has seen all pods. If that or a
// later list fails, it sets blindness and closes blind, and the run ends.
func (e *Engine) watch(listed chan<- bool) {
	err := e.FollowPods(e.ctx, e.own(), func() { close(listed) }, e.tell)
	if err == nil {
		return
	}
	e.blindness = Unavailable(fmt.Errorf("follow the pods of the run: %w", err))
	e.Break(e.blindness)
	close(e.blind)
}

// tell passes the new state of a pod to its program. gone means that the pod was deleted.
func (e *Engine) tell(p *api.Pod, gone bool) {
	e.submissions.tell(p, gone) // first, so that adopt misses no state
	e.mu.Lock()
	of := cmp.Or(e.started[p.Metadata.Labels[labelStart]], e.started[p.Metadata.UID])
	e.mu.Unlock()
	if of != nil {
		of.see(p, gone)
	}
}

// stopMargin is how long tfexp waits for the end of a pod after its grace, before it deletes the pod.
const stopMargin = 5 * time.Second

// own returns the labels of the engine's objects.
func (e *Engine) own() map[string]string {
	return map[string]string{LabelManager: "tfexp", labelRun: e.run, labelEngine: e.id}
}

// closePatience is how long Close repeats calls while the API server does not answer.
const closePatience = 20 * time.Second

// Close ends all jobs at once and waits until their pods are gone. If objects remain, the session or the next run
// removes them.
func (e *Engine) Close() error {
	e.SetPatience(closePatience)
	if !e.Jobs.Close() {
		return nil
	}
	_, err := e.sweep(context.Background(), e.own())
	e.cancel()
	e.calls.Wait()
	if _, away := errors.AsType[*api.AwayError](err); away {
		return nil
	}
	return err
}

// Engine implements these interfaces.
var (
	_ scheduler.Engine   = (*Engine)(nil)
	_ scheduler.Migrator = (*Engine)(nil)
	_ engine.Changer     = (*Engine)(nil)
)
