//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// ErrClosed is returned by calls of an engine's methods after Close.
var ErrClosed = errors.New("the process engine is closed")

// Options are the settings of an engine. The zero value has the defaults.
type Options struct {
	// CPUs[i] is the operating system's number of core i of the cluster. By default, these are the CPUs that this
	// process may use, ascending.
	CPUs []int
	// GPUs[i] is the name of GPU i of the cluster in CUDA_VISIBLE_DEVICES. By default, these are the GPUs that this
	// process may use; if it has none, their numbers.
	GPUs []string
	// Cluster divides the cores and GPUs among nodes; by default there is one node.
	Cluster scheduler.Cluster
	// Fleet supplies servers for nodes that come and go; nil if all nodes stay.
	Fleet Fleet
	// Registry is the file that lists the live jobs, for Sweep; empty for no file. One engine at a time may use it.
	// New replaces the file, so call Sweep before. Close removes it.
	Registry string
	// Grace is the time between SIGTERM and SIGKILL; 0 means launch.DefaultGrace.
	Grace time.Duration
	// LogLimit is the size of a job's output, in bytes, at which the job is ended as failed; 0 means
	// launch.DefaultLogLimit.
	LogLimit int64
	// Suspends is as in launch.JobsOptions.
	Suspends bool
	// Report is called with each progress line, at an instant of the engine's clock; it may be nil.
	Report launch.ProgressListener
	// Warn is called with warnings about sources of progress; it may be nil.
	Warn launch.ProgressWarner
}

// Engine runs jobs as processes. It implements scheduler.Engine with a monotonic clock that starts with New. At most
// one goroutine may call its methods at a time.
type Engine struct {
	*launch.Jobs[*program]

	opts    Options
	mark    string // first part of the marks of this engine's jobs
	forks   *forkThread
	records *registry
	strays  *orphanTracker
}

var engines atomic.Int64 // number of engines so far; part of the mark

// New returns an engine for jobs, which are numbered by their index. It starts the guardian if this process has
// none: Main must have been called. The caller must Close the engine.
func New(jobs []launch.Job, opts Options) (*Engine, error) {
	if len(opts.CPUs) == 0 {
		opts.CPUs = hardware.AllowedCPUs()
	}
	if len(opts.GPUs) == 0 {
		devices, _ := hardware.GPUs() // without GPUs the list is empty
		opts.GPUs = gpu.IDs(devices)
	}
	if opts.Grace <= 0 {
		opts.Grace = launch.DefaultGrace
	}
	if opts.LogLimit <= 0 {
		opts.LogLimit = launch.DefaultLogLimit
	}
	if text := missingFeature(); text != "" {
		return nil, errors.New(text)
	}
	becomeReaper()
	run, err := guard.ensure()
	if err != nil {
		return nil, err
	}
	records, err := openRegistry(opts.Registry, run)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		opts: opts, mark: fmt.Sprintf("%s.%d", run, engines.Add(1)),
		forks: newForkThread(), records: records, strays: trackOrphans(records),
	}
	e.Jobs = launch.NewJobs(jobs, launch.ProgramHands[*program](hands{e}), launch.JobsOptions{
		Closed: ErrClosed, Cluster: opts.Cluster, Grace: opts.Grace, Fleet: opts.Fleet, Saves: opts.Fleet != nil,
		Suspends: opts.Suspends, Here: true,
		Report: opts.Report, Warn: opts.Warn,
	})
	return e, nil
}

// Capabilities returns the capabilities of the engine: all except memory limits.
func (e *Engine) Capabilities() scheduler.Capabilities { return Capabilities() }

// Migrates implements scheduler.Migrator. All nodes are parts of this machine, so a program can be bound to the
// cores of another node. It gets other GPUs only if it is started again.
func (e *Engine) Migrates() (nodes, alternatives bool) {
	with := slices.ContainsFunc(e.opts.Cluster.Nodes, func(n scheduler.Node) bool { return n.GPUs > 0 })
	return e.opts.Suspends || !with, e.opts.Suspends
}

// cpus returns the operating system's numbers of cores of the cluster.
func (e *Engine) cpus(cores scheduler.CoreSet) ([]int, error) {
	var cpus []int
	var err error
	cores.Each(func(core int) {
		if core >= len(e.opts.CPUs) {
			err = fmt.Errorf("there is no core %d: the engine has cores 0 to %d", core, len(e.opts.CPUs)-1)
			return
		}
		cpus = append(cpus, e.opts.CPUs[core])
	})
	if err == nil && len(cpus) == 0 {
		err = errors.New("the grant has no cores")
	}
	return cpus, err
}

// gpus returns the names of GPUs of the cluster, for programs.
func (e *Engine) gpus(set scheduler.CoreSet) ([]string, error) {
	var ids []string
	var err error
	set.Each(func(g int) {
		switch {
		case len(e.opts.GPUs) == 0:
			ids = append(ids, strconv.Itoa(g))
		case g < len(e.opts.GPUs):
			ids = append(ids, e.opts.GPUs[g])
		default:
			err = fmt.Errorf("there is no GPU %d: the engine has GPUs 0 to %d", g, len(e.opts.GPUs)-1)
		}
	})
	return ids, err
}

// Close kills all jobs, waits until their processes are gone, and frees the engine's resources. Ends of jobs are not
// reported any more.
func (e *Engine) Close() error {
	if !e.Jobs.Close() {
		return nil
	}
	e.forks.close()
	e.strays.close()
	return e.records.close()
}

// The interfaces that the engine implements.
var (
	_ scheduler.Engine   = (*Engine)(nil)
	_ scheduler.Migrator = (*Engine)(nil)
	_ engine.Changer     = (*Engine)(nil)
)

// Fleet decides when servers come and go. A node is then some of this machine's cores.
type Fleet = launch.Fleet

// Main must be called first in main, and in TestMain of tests that use the engine, with the program's arguments. If
// this process was started as a guardian, Main runs the guardian until it is no longer needed, and returns true and
// the exit status. Otherwise it returns false at once.
func Main(args []string) (handled bool, code int) {
	hooked.Store(true)
	run := os.Getenv(guardianEnv)
	if run == "" || len(args) != 0 {
		return false, 0
	}
	return true, beGuardian(run, os.Stdin)
}
