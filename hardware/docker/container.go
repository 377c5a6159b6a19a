package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"

	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/hardware/launch"
)

// jobContainer is the container of a job, or of one of its parts. The engine's mu guards cpu. Other fields do not
// change, or only one goroutine uses them.
type jobContainer struct {
	launch.JobState
	node     *daemonNode
	id       string
	out      *launch.Log
	cpus     []int // CPU numbers of the daemon's machine
	started  time.Time
	followed chan struct{} // closed when all output has been read
	cpu      cpuSample     // the last sample
}

func (jc *jobContainer) api() *client.Client { return jc.node.Host.Client() }

// maxCallTries is how often a call is tried if the daemon breaks it off. freezeLimit is how long it is tried if the
// daemon cannot freeze a container: on a busy machine, cgroups version 1 does not always stop all threads.
const (
	maxCallTries = 3
	freezeLimit  = 10 * time.Second
	freezePause  = 20 * time.Millisecond
)

// callDaemon makes a call about a container. If the container has ended, it returns nil; the end is reported
// separately. If the daemon is away, it waits for it. If the daemon does not come back, the job ends.
func (e *Engine) callDaemon(jc *jobContainer, call func(context.Context) error) error {
	begin := time.Now()
	for tries := 0; tries < maxCallTries; {
		ctx, cancel := context.WithTimeout(e.ctx, CallLimit)
		err := call(ctx)
		cancel()
		if err == nil {
			return nil
		}
		if IsUnreachable(err) {
			if tries++; !e.awaitDaemon(jc.node) {
				return nil
			}
			continue
		}
		if strings.Contains(err.Error(), "unable to freeze") && time.Since(begin) < freezeLimit {
			time.Sleep(freezePause)
			continue
		}
		if strings.Contains(err.Error(), "not running") || e.hasEnded(jc) {
			return nil
		}
		return errors.New(DaemonMessage(err))
	}
	return nil
}

// inspectContainer returns the state of a container; nil if it no longer exists. known is false if the daemon does
// not answer.
func (e *Engine) inspectContainer(jc *jobContainer) (state *container.State, known bool) {
	ctx, cancel := context.WithTimeout(e.ctx, CallLimit)
	defer cancel()
	c, err := jc.api().ContainerInspect(ctx, jc.id)
	if errdefs.IsNotFound(err) {
		return nil, true
	}
	if err != nil || c.ContainerJSONBase == nil {
		return nil, false
	}
	return c.State, true
}

// remove removes a container. If that fails, Sweep will remove it in a later run.
func (e *Engine) remove(h *Host, id string) {
	ctx, cancel := context.WithTimeout(e.ctx, CallLimit)
	defer cancel()
	_ = h.Client().ContainerRemove(ctx, id, container.RemoveOptions{Force: true, RemoveVolumes: true})
}

// startError returns the error for a container that the daemon refuses to start, with a remedy.
func startError(h *Host, j *launch.Job, err error) error {
	text := secret.Redact(DaemonMessage(err)) // a plugin of the daemon may quote the request
	switch {
	case IsUnreachable(err):
		return h.Explain(err)
	case errdefs.IsNotFound(err) && strings.Contains(text, "No such image"):
		return fmt.Errorf("the Docker daemon at %s has no image %q: build or pull it", h.URL, j.Container.Image)
	case strings.Contains(text, "bind source path does not exist"), strings.Contains(text, "invalid mount"):
		return fmt.Errorf("a mount cannot be made: %s; make the folder, or correct mounts in the job block", text)
	case strings.Contains(text, "emory limit") || strings.Contains(text, "inimum memory"):
		return fmt.Errorf("the memory limit is refused: %s; raise memory in the job block", text)
	case strings.Contains(text, "executable file not found"), strings.Contains(text, "no such file or directory"):
		return fmt.Errorf("the image %q cannot run %q: %s", j.Container.Image, j.Argv[0], text)
	}
	return errors.New(text)
}
