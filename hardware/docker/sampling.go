package docker

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"slices"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"golang.org/x/sync/errgroup"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
)

// cpuSample is the CPU time of a container at an instant.
type cpuSample struct {
	used time.Duration
	at   time.Time
}

// sampleNode samples the containers of a node until the engine is closed. It calls the daemon regularly, so it also
// finds out if a daemon no longer answers.
func (e *Engine) sampleNode(n *daemonNode) {
	tick := time.NewTicker(e.opts.Sampling)
	defer tick.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-tick.C:
		}
		list := slices.DeleteFunc(e.Living(), func(jc *jobContainer) bool { return jc.node != n })
		// Call for all containers at once, because the daemon answers only after its own sample, once a second.
		var looks errgroup.Group
		for _, jc := range list {
			looks.Go(func() error { return e.sampleContainer(jc) })
		}
		if err := looks.Wait(); err != nil && IsUnreachable(err) && e.ctx.Err() == nil {
			n.cancelCalls()
		}
	}
}

// sampleContainer samples one container.
func (e *Engine) sampleContainer(jc *jobContainer) error {
	ctx, cancel := context.WithTimeout(e.ctx, DialLimit)
	defer cancel()
	reply, err := jc.api().ContainerStatsOneShot(ctx, jc.id)
	if errdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	s, now, err := readStats(reply.Body)
	if err != nil || now.at.IsZero() {
		return err // it has just ended, or not started yet
	}
	e.mu.Lock()
	before := jc.cpu
	if before.at.IsZero() {
		before.at = now.at.Add(-time.Since(jc.started))
	}
	jc.cpu = now
	e.mu.Unlock()
	part := e.Part(jc)
	out := engine.Sample{At: e.Now(), Job: jc.Number, Memory: resident(s), Limit: saturated(s.Limit), Cores: part.Cores.Count()}
	if part.Role != "" {
		out.Part = launch.PartName(part)
	}
	if e.Paused(jc) {
		out.Cores = 0
	}
	over := e.Gone(jc)
	out.CPU = percent(before, now)
	if e.opts.Observe != nil && !over {
		e.observing.Lock()
		defer e.observing.Unlock()
		e.opts.Observe(out)
	}
	return nil
}

// readStats reads a daemon's statistics about a container. The instant is zero if the container does not run.
func readStats(r io.Reader) (container.MemoryStats, cpuSample, error) {
	var s container.StatsResponse
	if err := json.NewDecoder(r).Decode(&s); err != nil || s.CPUStats.CPUUsage.TotalUsage == 0 {
		return s.MemoryStats, cpuSample{}, err
	}
	return s.MemoryStats, cpuSample{time.Duration(saturated(s.CPUStats.CPUUsage.TotalUsage)), s.Read}, nil
}

// percent returns the CPU usage between two samples, in percent of one core. A counter that has decreased counts as
// 0.
func percent(before, now cpuSample) float64 {
	if span := now.at.Sub(before.at); span > 0 && now.used > before.used {
		return 100 * float64(now.used-before.used) / float64(span)
	}
	return 0
}

func saturated(n uint64) int64 { return int64(min(n, math.MaxInt64)) }

// resident returns the memory in use, as the docker command shows it: without pages of files that were not used
// lately (cgroup v1, then v2).
func resident(m container.MemoryStats) int64 {
	for _, name := range []string{"total_inactive_file", "inactive_file"} {
		if cached, ok := m.Stats[name]; ok && cached < m.Usage {
			return saturated(m.Usage - cached)
		}
	}
	return saturated(m.Usage)
}
