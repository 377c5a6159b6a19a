package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/scheduler"
)

// session is the docker engine in a run of tfexp.
type session struct {
	run engine.Run
	// urls are the addresses of the daemons of the run's hardware. hosts has the connections, by address in the
	// file.
	urls  []string
	hosts map[string]*Host
	id    string     // label of the run's containers
	list  daemonList // note in the folder of results
}

// openSession connects to the daemons of the run's hardware. It removes leftover containers of killed runs, of this
// experiment and of others in the same parent folder, because they would use CPU time during measurements.
func openSession(run engine.Run) (_ engine.Session, removed []string, err error) {
	s := &session{run: run, hosts: map[string]*Host{}, id: rand.Text()}
	for _, h := range run.Hardware {
		for _, url := range settingsOf(h).Hosts {
			if !slices.Contains(s.urls, url) {
				s.urls = append(s.urls, url)
			}
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
		}
	}()
	before, err := readDaemonList(run.Dir)
	if err != nil {
		return nil, nil, err
	}
	left := daemonList{Hosts: s.urls}
	if before != nil { // a second sweep of the same daemon finds nothing
		left.Hosts, left.Sessions = slices.Concat(s.urls, before.Hosts), before.Sessions
	}
	removed, silent, err := s.sweep(run.Dir, left)
	if err != nil {
		return nil, removed, fmt.Errorf("clean up after an earlier run: %w", err)
	}
	s.list = daemonList{Hosts: slices.Concat(s.urls, silent), Sessions: []string{s.id}}
	if len(silent) > 0 {
		s.list.Sessions = append(s.list.Sessions, left.Sessions...)
	}
	slices.Sort(s.list.Hosts)
	s.list.Hosts = slices.Compact(s.list.Hosts)
	removed = append(removed, s.sweepOtherRuns()...)
	if len(s.list.Hosts) == 0 {
		return s, removed, removeDaemonList(run.Dir)
	}
	return s, removed, s.writeDaemonList()
}

// Engine makes an engine on the daemons of a hardware. The error is an *engine.Unavailable if a daemon has gone away
// and does not come back.
func (s *session) Engine(ctx context.Context, task engine.Task) (engine.Engine, error) {
	set := settingsOf(task.Hardware)
	opts := Options{
		Folder: s.run.Dir, Session: s.id, Cell: task.Cell, Quota: set.CPUs == "quota", Network: set.Network, Pids: set.Pids, User: set.User,
		Platform: set.Platform, Privileges: set.Privileges, Observe: task.Observe, Report: task.Report,
		Warn: task.Warn, Cluster: task.Hardware.Cluster, Suspends: task.Suspends, Fleet: task.Fleet,
	}
	used := map[*Host]scheduler.Node{} // cores and GPUs that nodes before use, by daemon
	var nodes []Node
	for i, url := range set.Hosts {
		host := s.hosts[url]
		if host == nil {
			return nil, &engine.Unavailable{Engine: kindName, Err: fmt.Errorf("no daemon answers at %q", url),
				Hint: "tfexp doctor says why"}
		}
		if !host.AwaitReturn(ctx, DefaultPatience) && ctx.Err() == nil {
			return nil, &engine.Unavailable{
				Engine: kindName, Err: fmt.Errorf("the daemon at %s stopped answering and did not come back", host.URL),
				Hint: "start it again (" + StartInstructions() + "); then continue with tfexp resume",
			}
		}
		n := task.Hardware.Cluster.Nodes[i]
		before := used[host]
		all := scheduler.Node{Threads: before.Threads + n.Threads, GPUs: before.GPUs + n.GPUs}
		nodes = append(nodes, Node{
			Host: host, CPUs: cpusOf(host, all.Threads)[before.Threads:], GPUs: s.gpusOf(host, all.GPUs)[before.GPUs:],
		})
		used[host] = all
	}
	if opts.User == "" && s.Local(task.Hardware) {
		opts.User = fmt.Sprintf("%d:%d", os.Getuid(), os.Getgid())
	}
	return New(task.Jobs, nodes, opts)
}

// Local reports whether all daemons of a hardware are on this machine.
func (s *session) Local(h *engine.Hardware) bool {
	return !slices.ContainsFunc(settingsOf(h).Hosts, func(url string) bool {
		return s.hosts[url] == nil ||
			!s.hosts[url].Local()
	})
}

// gpusOf returns the daemon's names of the first n usable GPUs. On this machine, these are UUIDs of the GPUs that
// tfexp may use; on other machines, indexes.
func (s *session) gpusOf(h *Host, n int) []string {
	if n == 0 {
		return nil
	}
	if h.Local() {
		if devices, err := s.run.GPUs(); err == nil && len(devices) >= n {
			return gpu.IDs(devices[:n])
		}
	}
	ids := make([]string, n)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	return ids
}

// cpusOf returns the CPU numbers of a daemon's machine that jobs may use. On this machine, these are the CPUs that
// tfexp may use.
func cpusOf(h *Host, threads int) []int {
	if allowed := hardware.AllowedCPUs(); h.Local() && len(allowed) >= threads {
		return allowed[:threads]
	}
	cpus := make([]int, threads)
	for i := range cpus {
		cpus[i] = i
	}
	return cpus
}

// Close closes the connections. If the run has left no container, it removes the note.
func (s *session) Close() error {
	var errs []error
	clean := true
	for _, url := range s.list.Hosts {
		clean = clean && s.hosts[url] != nil && s.hasNoContainers(s.hosts[url])
	}
	if clean {
		errs = append(errs, removeDaemonList(s.run.Dir))
	}
	for _, h := range s.hosts {
		errs = append(errs, h.Close())
	}
	s.hosts = nil
	return errors.Join(errs...)
}

func (s *session) hasNoContainers(h *Host) bool {
	ctx, cancel := context.WithTimeout(context.Background(), DialLimit)
	defer cancel()
	left, err := h.Containers(ctx, s.run.Dir)
	return err == nil && len(left) == 0
}
