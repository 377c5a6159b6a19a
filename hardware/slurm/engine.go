//go:build unix

package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/supply"
)

// ErrClosed is returned by calls to an engine after Close.
var ErrClosed = errors.New("the Slurm engine is closed")

// Engine runs jobs as steps on the nodes of a pool. It implements scheduler.Engine and supply.Provider on a monotonic
// clock. Only one goroutine at a time may call its methods.
type Engine struct {
	*launch.Jobs[*step]

	pool    *nodePool
	cluster scheduler.Cluster
	first   []int // by node: the number of its first core; firstG: of its first GPU
	firstG  []int
	dir     string          // folder for scripts and outputs
	ctx     context.Context // cancelled when the engine is closed
	cancel  context.CancelFunc
	waiters sync.WaitGroup
	reader  sync.WaitGroup

	mu     sync.Mutex // guards the fields below, and those fields of step that say so
	open   []*output  // outputs of running steps
	nodes  []nodeState
	starts int // steps so far; part of the names of their files
}

var engines atomic.Int64 // number of engines so far; part of the names of their folders

func newEngine(p *nodePool, task engine.Task) (*Engine, error) {
	dir := filepath.Join(p.session.run.Dir, fmt.Sprintf("%s%d-%d", folderPrefix, os.Getpid(), engines.Add(1)))
	if err := folder.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make a folder for steps: %w", err)
	}
	e := &Engine{
		pool: p, cluster: task.Hardware.Cluster, dir: dir, nodes: make([]nodeState, len(task.Hardware.Cluster.Nodes)),
	}
	e.Jobs = launch.NewJobs(task.Jobs, launch.ProgramHands[*step](hands{e}), launch.JobsOptions{
		Closed: ErrClosed, Cluster: task.Hardware.Cluster, Saves: true, Suspends: task.Suspends, Report: task.Report, Warn: task.Warn,
	})
	e.ctx, e.cancel = context.WithCancel(context.Background())
	core, gpu := 0, 0
	for _, n := range e.cluster.Nodes {
		e.first, e.firstG = append(e.first, core), append(e.firstG, gpu)
		core, gpu = core+n.Threads, gpu+n.GPUs
	}
	p.setEngine(e)
	e.reader.Go(e.read)
	return e, nil
}

// Next implements scheduler.Engine. It also returns notices of nodes, and of progress after Watch was called. A node
// that will be taken away is given back as soon as nothing runs on it. The scheduler has been warned by then and starts
// nothing on it.
func (e *Engine) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	e.pool.releaseVacant(e.vacant())
	at, news, err := e.NextBeside(ctx, until, e.pool.pendingNodes)
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, n := range news {
		if n.Kind == scheduler.NodeWarned && e.nodes[n.Node] == nodeUp {
			e.nodes[n.Node] = nodeLeaving
		}
	}
	return at, news, err
}

// vacant returns the nodes that will be taken away and on which no step runs.
func (e *Engine) vacant() (nodes []int) {
	e.mu.Lock()
	for v, state := range e.nodes {
		if state == nodeLeaving {
			nodes = append(nodes, v)
		}
	}
	e.mu.Unlock()
	if len(nodes) == 0 {
		return nil
	}
	used := map[int]bool{}
	for _, s := range e.Living() {
		used[e.Part(s).Node] = true
	}
	return slices.DeleteFunc(nodes, func(v int) bool { return used[v] })
}

// Close kills all jobs and waits until their steps have ended. The allocation stays.
func (e *Engine) Close() error {
	if !e.Jobs.Close() {
		return nil
	}
	e.waiters.Wait()
	e.cancel()
	e.reader.Wait()
	e.pool.setEngine(nil)
	return folder.RemoveAll(e.dir)
}

// The engine keeps the scheduler's contracts.
var (
	_ scheduler.Engine   = (*Engine)(nil)
	_ supply.Provider    = (*Engine)(nil)
	_ scheduler.Migrator = (*Engine)(nil)
	_ engine.Changer     = (*Engine)(nil)
)
