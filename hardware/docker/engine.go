// Package docker runs jobs as containers, through the API of one or more
// Docker daemons (the nodes of a cluster). It needs Docker 20.10 or later.
//
// Each job is a separate container: bound to its cores by a cpuset (or limited
// by a quota), limited in memory, without network and privileges unless asked.
// It is paused with the freezer, and removed when it has ended. A program's
// output is streamed into its log, and its progress lines into reports. Its
// control file is in a mounted folder, so the program sees a change of the
// allotment at once.
//
// Containers live under the daemon, so that killing tfexp does not end them.
// They carry labels with the folder of results that they belong to. By these
// labels the next start finds and removes leftover containers.
//
// The engine waits a while for a daemon that goes away. It then checks the
// containers: a job whose container is gone has failed, with a message that
// says so.
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

// ErrClosed is returned by calls to an engine after Close.
var ErrClosed = errors.New("the Docker engine is closed")

// Node is a node of the cluster: a daemon, or some of its cores and GPUs.
type Node struct {
	Host *Host
	// CPUs[i] is the operating system's number of the node's core i.
	CPUs []int
	// GPUs[i] is the name of the node's GPU i for the daemon and the program:
	// its UUID or, where that is not known, its index.
	GPUs []string
}

// Privileges are a container's rights beyond computing.
type Privileges string

// The privileges of a container: none at all (no capability, and no way to
// gain one), those that Docker gives by default, or all of the machine's.
const (
	NoPrivileges      Privileges = "none"
	DefaultPrivileges Privileges = "default"
	AllPrivileges     Privileges = "all"
)

// Options are the settings of an engine. The zero value is usable.
type Options struct {
	// Folder, Session and Cell label the containers, for clean-up and for people.
	Folder, Session, Cell string
	// Quota limits jobs by CPU time on all cores, instead of binding them to
	// their own.
	Quota bool
	// Pids is how many processes and threads a container may have; 0 means no limit.
	Pids int
	// Network is a network of the daemon; empty means "none".
	Network string
	// User is "uid:gid" or a name; empty means the image's.
	User       string
	Privileges Privileges // by default NoPrivileges
	Platform   string     // of the image, "linux/arm64"; empty: the daemon's own
	// Cluster has the nodes; needed with a fleet.
	Cluster scheduler.Cluster
	// Fleet has the servers of nodes that come and go; nil when all stand.
	Fleet Fleet
	// Suspends is as in launch.JobsOptions.
	Suspends bool
	// Grace is the time between SIGTERM and SIGKILL; by default launch.DefaultGrace.
	Grace time.Duration
	// LogLimit is the size in bytes at which a job's output ends it as
	// failed; by default launch.DefaultLogLimit.
	LogLimit int64
	// Patience is how long a daemon that went away is waited for; by default
	// DefaultPatience.
	Patience time.Duration
	// Sampling is the time between two looks at the containers; by default
	// DefaultSampling.
	Sampling time.Duration
	// Observe receives what containers use, one call at a time; it may be nil.
	Observe func(engine.Sample)
	// Report receives the progress lines of jobs as they come, on the engine's
	// clock; it may be nil.
	Report launch.ProgressListener
	// Warn receives warnings about the sources of progress; it may be nil.
	Warn launch.ProgressWarner
}

// Engine runs jobs as containers. It implements scheduler.Engine on a
// monotonic clock that starts with New. Its methods may be called from one
// goroutine at a time.
type Engine struct {
	*launch.Jobs[*jobContainer]

	opts    Options
	nodes   []*daemonNode
	run     string          // names this engine's containers
	ctx     context.Context // done when the engine is closed and all jobs have ended
	cancel  context.CancelFunc
	samples sync.WaitGroup

	observing sync.Mutex // held while Observe is called

	mu       sync.Mutex      // guards what follows, and the fields of jobContainer that say so
	attempts []int           // by job
	away     []*jobContainer // that a daemon which is away may still have
	made     int             // containers, for their names
}

// New returns an engine for jobs, numbered by their index, on daemons whose
// cores are numbered through all nodes. The caller must Close the engine, and
// afterwards the hosts.
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

// contained returns jobs as they run in their containers.
func contained(jobs []launch.Job) []launch.Job {
	jobs = slices.Clone(jobs)
	for i := range jobs {
		j := &jobs[i]
		if j.ContainerArgv != nil {
			j.Argv = j.ContainerArgv
		}
		if j.ControlPath != "" { // in a separate folder, which the container sees
			j.ControlPath = filepath.Join(j.ControlPath+".d", "control")
		}
	}
	return jobs
}

// Capabilities returns the capabilities of the engine.
func Capabilities() scheduler.Capabilities {
	return scheduler.Capabilities{Pause: true, Resize: true, Memory: true, GPUs: true}
}

// Start runs a job's container, or one for each of its parts. The error says in a phrase why it could not
// be started, and is the last line of its log as well. A job that has failed
// may be started again; its log continues.
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

// Close kills all jobs at once, waits until their containers are removed, and
// gives the engine's resources back. Ends that were not asked for are lost.
func (e *Engine) Close() error {
	if !e.Jobs.Close() {
		return nil
	}
	dead := map[*daemonNode]bool{}
	for _, jc := range e.away {
		if !dead[jc.node] && jc.node.Host.Alive(e.ctx) {
			e.remove(jc.node.Host, jc.id)
		} else {
			dead[jc.node] = true // it is left for the next start
		}
	}
	e.cancel()
	e.samples.Wait()
	return nil
}

// The engine keeps the scheduler's contracts.
var (
	_ scheduler.Engine   = (*Engine)(nil)
	_ scheduler.Migrator = (*Engine)(nil)
	_ engine.Changer     = (*Engine)(nil)
)

// Fleet says when servers come and go. A node is then some cores of a daemon's machine.
type Fleet = launch.Fleet
