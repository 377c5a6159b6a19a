// Package docker is the engine that runs jobs as containers, by the API of one or more Docker daemons, which are the
// nodes of a cluster. It needs Docker 20.10 or later.
//
// Each job has a separate container. It is bound to its cores by a cpuset (or limited by a quota) and limited in
// memory. It has no network and no privileges unless requested. It is paused by the freezer, and removed at its end.
// Its output is copied to the log, and progress lines become reports. Its control file is in a mounted folder, so
// the program sees changes at once.
//
// Containers belong to the daemon, so they continue when tfexp is killed. They have labels with their folder of
// results, by which the next run finds and removes them.
//
// If a daemon goes away, the engine waits some time for it. It then checks the containers: a job whose container is
// gone has failed, with a message that says so.
package docker

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// Defaults of Options.
const (
	DefaultPatience = 30 * time.Second
	DefaultSampling = time.Second
)

// ErrClosed is returned by calls of an engine's methods after Close.
var ErrClosed = errors.New("the Docker engine is closed")

// Node is a node of the cluster: a daemon, or some of its cores and GPUs.
type Node struct {
	Host *Host
	// CPUs[i] is the operating system's number of core i of the node.
	CPUs []int
	// GPUs[i] is the name of GPU i of the node, for the daemon and programs: its UUID, or its index if the UUID is
	// unknown.
	GPUs []string
}

// Privileges are the rights of a container.
type Privileges string

// NoPrivileges are no capabilities, and no way to gain any. DefaultPrivileges are the capabilities that Docker gives
// by default. AllPrivileges are all rights of the machine.
const (
	NoPrivileges      Privileges = "none"
	DefaultPrivileges Privileges = "default"
	AllPrivileges     Privileges = "all"
)

// Options are the settings of an engine. The zero value has the defaults.
type Options struct {
	// Folder, Session and Cell are labels of the containers, for clean-up and for users.
	Folder, Session, Cell string
	// Quota says that jobs are limited by CPU time on all cores. If it is false, jobs are bound to their own cores.
	Quota bool
	// Pids is the greatest number of processes and threads in a container; 0 means no limit.
	Pids int
	// Network is the name of a network of the daemon; empty means "none".
	Network string
	// User is "uid:gid" or a name; empty means the image's.
	User       string
	Privileges Privileges // empty means NoPrivileges
	Platform   string     // of the image, "linux/arm64"; empty means the daemon's own
	// Cluster has the nodes; it is needed with a fleet.
	Cluster scheduler.Cluster
	// Fleet supplies servers for nodes that come and go; nil if all nodes stay.
	Fleet Fleet
	// Suspends is as in launch.JobsOptions.
	Suspends bool
	// Grace is the time between SIGTERM and SIGKILL; 0 means launch.DefaultGrace.
	Grace time.Duration
	// LogLimit is the size of a job's output, in bytes, at which the job is ended as failed; 0 means
	// launch.DefaultLogLimit.
	LogLimit int64
	// Patience is how long the engine waits for a daemon that has gone away; 0 means DefaultPatience.
	Patience time.Duration
	// Sampling is the time between two samples of a container; 0 means DefaultSampling.
	Sampling time.Duration
	// Observe is called with the usage of containers, one call at a time; it may be nil.
	Observe func(engine.Sample)
	// Report is called with each progress line, at an instant of the engine's clock; it may be nil.
	Report launch.ProgressListener
	// Warn is called with warnings about sources of progress; it may be nil.
	Warn launch.ProgressWarner
}

// Engine runs jobs as containers. It implements scheduler.Engine with a monotonic clock that starts with New. At
// most one goroutine may call its methods at a time.
type Engine struct {
	*launch.Jobs[*jobContainer]

	opts    Options
	nodes   []*daemonNode
	run     string          // part of the names of this engine's containers
	ctx     context.Context // done when the engine is closed and all jobs have ended
	cancel  context.CancelFunc
	samples sync.WaitGroup

	observing sync.Mutex // held while Observe is called

	mu       sync.Mutex      // guards the fields below, and fields of jobContainer that say so
	attempts []int           // number of attempts by job
	away     []*jobContainer // containers that a daemon which is away may still have
	made     int             // number of containers so far, for their names
}

// New returns an engine for jobs, which are numbered by their index, on nodes, whose cores are numbered through. The
// caller must Close the engine, and after it the hosts.
func New(jobs []launch.Job, nodes []Node, opts Options) (*Engine, error) {
	if len(nodes) == 0 {
		return nil, errors.New("the Docker engine needs a host")
	}
	opts.Grace = cmp.Or(opts.Grace, launch.DefaultGrace)
	opts.LogLimit = cmp.Or(opts.LogLimit, launch.DefaultLogLimit)
	opts.Patience = cmp.Or(opts.Patience, DefaultPatience)
	opts.Sampling = cmp.Or(opts.Sampling, DefaultSampling)
	opts.Network = cmp.Or(opts.Network, "none")
	opts.Privileges = cmp.Or(opts.Privileges, NoPrivileges)
	var name [4]byte
	rand.Read(name[:])
	e := &Engine{opts: opts, run: hex.EncodeToString(name[:]), attempts: make([]int, len(jobs))}
	away := slices.ContainsFunc(nodes, func(n Node) bool { return !n.Host.Local() })
	e.Jobs = launch.NewJobs(contained(jobs), launch.ProgramHands[*jobContainer](hands{e}), launch.JobsOptions{
		Closed: ErrClosed, Cluster: opts.Cluster, Grace: opts.Grace, Fleet: opts.Fleet, Saves: opts.Fleet != nil,
		Here: !away, Suspends: opts.Suspends, Report: opts.Report, Warn: opts.Warn,
	})
	e.ctx, e.cancel = context.WithCancel(context.Background())
	first, firstGPU := 0, 0
	for _, n := range nodes {
		e.nodes = append(e.nodes, newDaemonNode(e.ctx, n, first, firstGPU))
		first += len(n.CPUs)
		firstGPU += len(n.GPUs)
	}
	for _, n := range e.nodes {
		e.samples.Go(func() { e.sampleNode(n) })
	}
	return e, nil
}

// contained returns the jobs with the programs and paths that they have in their containers.
func contained(jobs []launch.Job) []launch.Job {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		j := &jobs[i]
		if j.ContainerArgv != nil {
			j.Argv = j.ContainerArgv
		}
		if j.ControlPath != "" { // in a separate folder, which is mounted
			j.ControlPath = filepath.Join(j.ControlPath+".d", "control")
		}
	}
	return jobs
}

// Capabilities returns the capabilities of the engine.
func Capabilities() scheduler.Capabilities {
	return scheduler.Capabilities{Pause: true, Resize: true, Memory: true, GPUs: true}
}

// Start starts a job's container, or one for each of its parts. The error is a phrase that says why it could not be
// started; it is also the last line of the log. A job that has failed may be started again; its log continues.
func (e *Engine) Start(job int, grant scheduler.Grant) error {
	e.mu.Lock()
	if job >= 0 && job < len(e.attempts) {
		e.attempts[job]++
	}
	e.mu.Unlock()
	return e.Jobs.Start(job, grant)
}

// Change implements engine.Changer.
func (e *Engine) Change(job int, to launch.Job) error {
	return e.Jobs.Change(job, contained([]launch.Job{to})[0])
}

// Close kills all jobs, waits until their containers are removed, and frees the engine's resources. Ends of jobs are
// not reported any more.
func (e *Engine) Close() error {
	if !e.Jobs.Close() {
		return nil
	}
	dead := map[*daemonNode]bool{}
	for _, jc := range e.away {
		if !dead[jc.node] && jc.node.Host.Alive(e.ctx) {
			e.remove(jc.node.Host, jc.id)
		} else {
			dead[jc.node] = true // the next run removes it
		}
	}
	e.cancel()
	e.samples.Wait()
	return nil
}

// The interfaces that the engine implements.
var (
	_ scheduler.Engine   = (*Engine)(nil)
	_ scheduler.Migrator = (*Engine)(nil)
	_ engine.Changer     = (*Engine)(nil)
)

// Fleet decides when servers come and go. A node is then some cores of a daemon's machine.
type Fleet = launch.Fleet
