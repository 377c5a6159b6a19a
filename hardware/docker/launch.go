package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/tfexp/tfexp/hardware/docker/daemon"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/scheduler"
)

// Where a container sees what is tfexp's.
const (
	controlDir    = "/tfexp/control"
	checkpointDir = "/tfexp/checkpoint"
)

// stream is a container's output.
type stream struct {
	body  io.Reader
	close func()
}

// launch starts a job's container.
func (e *Engine) launch(number int, grant scheduler.Grant) (*running, error) {
	j := &e.jobs[number]
	n, cpus, err := e.place(grant)
	if err != nil {
		return nil, err
	}
	r := &running{number: number, node: n, limit: j.Limit, cpus: cpus, cores: len(cpus), started: time.Now()}
	r.expire = func() {
		e.mu.Lock()
		paused := r.paused
		e.mu.Unlock()
		if !paused { // else the alarm went off while the job was being paused
			e.terminate(r, scheduler.Failed, fmt.Sprintf("time limit of %s", j.Limit))
		}
	}
	fail := func(reason string) { go e.kill(r, scheduler.Failed, reason) } // kill takes the engine's lock
	r.progress = e.Follow(number, j)
	r.out, err = launch.OpenLog(j.LogPath, e.opts.LogLimit, e.attempts[number] > 1, fail, r.progress.Output())
	if err != nil {
		return nil, err
	}
	if err := e.create(r, j, grant, cpus); err != nil {
		if r.id != "" {
			e.remove(n.Host, r.id)
		}
		r.out.Close(err.Error())
		return nil, err
	}
	r.progress.Begin()
	return r, nil
}

// create makes the container, listens to it and starts it.
func (e *Engine) create(r *running, j *launch.Job, grant scheduler.Grant, cpus []int) error {
	if len(j.Argv) == 0 {
		return errors.New("the job has no program")
	}
	h := r.node.Host
	if r.node.away.Load() && !e.back(r.node) {
		return &daemon.Error{Host: h.URL, Text: "it is away"}
	}
	if h.Local() { // else it does not see this machine's folders
		if err := j.Prepare(len(cpus)); err != nil {
			return err
		}
	}
	gpus, err := r.node.gpus(grant.GPUs)
	if err != nil {
		return err
	}
	config, host := e.settings(h, j, grant, cpus, gpus)
	ctx, cancel := context.WithTimeout(e.ctx, daemon.CallLimit)
	defer cancel()
	name := fmt.Sprintf("tfexp-%s-%s-%d", e.run, safeName(j.Name), e.attempts[r.number])
	made, err := h.Client().ContainerCreate(ctx, config, host, nil, daemon.ParsePlatform(e.opts.Platform), name)
	if err != nil && daemon.Gone(err) && e.back(r.node) {
		made, err = h.Client().ContainerCreate(ctx, config, host, nil, daemon.ParsePlatform(e.opts.Platform), name)
	}
	if err != nil {
		return startError(h, j, err)
	}
	r.id = made.ID
	if !h.Local() {
		if err := e.send(ctx, r, len(cpus)); err != nil {
			return fmt.Errorf("write control file: %w", err)
		}
	}
	err = r.follow(func(ctx context.Context) (stream, error) {
		a, err := h.Client().ContainerAttach(ctx, r.id, container.AttachOptions{Stream: true, Stdout: true, Stderr: true})
		if err != nil {
			return stream{}, err
		}
		return stream{a.Reader, a.Close}, nil
	}, r.node.waiting())
	if err != nil {
		return startError(h, j, err)
	}
	if err := h.Client().ContainerStart(ctx, r.id, container.StartOptions{}); err != nil {
		return startError(h, j, err)
	}
	return nil
}

// settings describe the container of a job under a grant, of which cpus and
// gpus are the parts as the daemon knows them.
func (e *Engine) settings(h *daemon.Host, j *launch.Job, grant scheduler.Grant, cpus []int,
	gpus []string) (*container.Config, *container.HostConfig) {
	init := true // it hands signals on, which a program that is process 1 ignores
	host := &container.HostConfig{
		NetworkMode: container.NetworkMode(e.opts.Network),
		Init:        &init,
		// The daemon's own default may keep nothing that could be read again.
		LogConfig: container.LogConfig{Type: "json-file", Config: map[string]string{
			"max-size": strconv.FormatInt(2*e.opts.LogLimit, 10), "max-file": "1",
		}},
		Resources: container.Resources{Memory: j.Memory, MemorySwap: j.Memory},
	}
	e.limit(&host.Resources, cpus)
	switch e.opts.Privileges {
	case NoPrivileges:
		host.CapDrop, host.SecurityOpt = []string{"ALL"}, []string{"no-new-privileges"}
	case AllPrivileges:
		host.Privileged = true
	}
	if len(gpus) > 0 {
		host.DeviceRequests = []container.DeviceRequest{{DeviceIDs: gpus, Capabilities: [][]string{{"gpu"}}}}
	}
	var inside launch.Paths
	if j.ControlPath != "" {
		inside.Control = controlDir + "/" + filepath.Base(j.ControlPath)
	}
	if j.CheckpointDir != "" && h.Local() {
		inside.Checkpoint = checkpointDir
	}
	bind := func(source, target string, readOnly bool) {
		host.Mounts = append(host.Mounts, mount.Mount{Type: mount.TypeBind, Source: source, Target: target,
			ReadOnly: readOnly})
	}
	if h.Local() {
		if inside.Control != "" { // its folder, since the file is replaced
			bind(launch.Absolute(filepath.Dir(j.ControlPath)), controlDir, true)
		}
		if inside.Checkpoint != "" {
			bind(launch.Absolute(j.CheckpointDir), checkpointDir, false)
		}
	}
	for _, m := range j.Container.Mounts {
		bind(m.Source, m.Target, m.ReadOnly)
	}
	return &container.Config{
		Image: j.Container.Image, Entrypoint: j.Arguments(grant), Env: j.Environ(len(cpus), visible(gpus), inside),
		WorkingDir: j.Container.Dir, User: e.opts.User, AttachStdout: true, AttachStderr: true,
		Labels: map[string]string{daemon.LabelFolder: e.opts.Folder, daemon.LabelCell: e.opts.Cell,
			daemon.LabelJob: j.Name, daemon.LabelRun: e.run},
	}, host
}

// limit sets what bounds a container's use of the processor.
func (e *Engine) limit(res *container.Resources, cpus []int) {
	if e.opts.Quota {
		res.NanoCPUs = int64(len(cpus)) * 1e9
		return
	}
	res.CpusetCpus = cpuset(cpus)
}

// cpuset writes CPU numbers as the kernel does: "0,2".
func cpuset(cpus []int) string {
	text := make([]string, len(cpus))
	for i, c := range cpus {
		text[i] = strconv.Itoa(c)
	}
	return strings.Join(text, ",")
}

// place returns the node that a grant is on, and the numbers of its CPUs there.
func (e *Engine) place(grant scheduler.Grant) (*node, []int, error) {
	var on *node
	var cpus []int
	var err error
	grant.Cores.Each(func(core int) {
		for _, n := range e.nodes {
			i := core - n.first
			if i < 0 || i >= len(n.CPUs) {
				continue
			}
			if on != nil && on != n {
				err = errors.New("the grant is on several hosts: a container runs on one")
			}
			on, cpus = n, append(cpus, n.CPUs[i])
			return
		}
		err = fmt.Errorf("core %d is not there", core)
	})
	if err == nil && len(cpus) == 0 {
		err = errors.New("the grant has no cores")
	}
	return on, cpus, err
}

// gpus returns the names of cluster GPUs for the node's daemon.
func (n *node) gpus(set scheduler.CoreSet) ([]string, error) {
	var ids []string
	var err error
	set.Each(func(g int) {
		if i := g - n.firstGPU; i >= 0 && i < len(n.GPUs) {
			ids = append(ids, n.GPUs[i])
			return
		}
		err = fmt.Errorf("GPU %d is not on the host of the grant's cores", g)
	})
	return ids, err
}

// visible returns the names of GPUs for a program in its container: their
// UUIDs, which are the same in there; indices count those that it has been given.
func visible(gpus []string) []string {
	told := slices.Clone(gpus)
	for i, id := range gpus {
		if _, err := strconv.Atoi(id); err == nil {
			told[i] = strconv.Itoa(i)
		}
	}
	return told
}

// give gives a container the cores of grant, and writes its control file.
func (e *Engine) give(r *running, grant scheduler.Grant) error {
	n, cpus, err := e.place(grant)
	if err != nil {
		return err
	}
	if n != r.node {
		return errors.New("the grant is on another host")
	}
	if slices.Equal(cpus, r.cpus) {
		return nil
	}
	var update container.UpdateConfig
	e.limit(&update.Resources, cpus)
	if err := e.act(r, func(ctx context.Context) error {
		_, err := r.api().ContainerUpdate(ctx, r.id, update)
		return err
	}); err != nil {
		return err
	}
	r.cpus = cpus
	e.mu.Lock()
	r.cores = len(cpus)
	e.mu.Unlock()
	if !n.Host.Local() {
		return e.act(r, func(ctx context.Context) error { return e.send(ctx, r, len(cpus)) })
	}
	if !e.opts.Quota {
		e.release(r, cpus)
	}
	return e.jobs[r.number].WriteControl(len(cpus))
}

// release lets the threads of a container on this machine run on all CPUs that
// it now has. Some libraries bind their threads to the CPUs that they find at
// their start (TensorFlow does), and the kernel keeps to that when the container
// is given more. A daemon that runs it where tfexp cannot see its processes, or
// as another user, leaves it as it is.
func (e *Engine) release(r *running, cpus []int) {
	state, _ := e.look(r)
	if state == nil || state.Pid == 0 {
		return
	}
	// The number means this container only where tfexp sees the daemon's processes.
	groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", state.Pid))
	if err == nil && strings.Contains(string(groups), r.id) {
		_ = process.BindTree(state.Pid, cpus)
	}
}

// send writes the control file into a container whose daemon does not see the
// files of this machine.
func (e *Engine) send(ctx context.Context, r *running, cores int) error {
	j := &e.jobs[r.number]
	if j.ControlPath == "" {
		return nil
	}
	text := j.Control(cores)
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	dir := strings.TrimPrefix(controlDir, "/")
	err := errors.Join(
		w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: filepath.Dir(dir), Mode: 0o755}),
		w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}),
		w.WriteHeader(&tar.Header{Name: dir + "/" + filepath.Base(j.ControlPath), Mode: 0o644, Size: int64(len(text))}),
	)
	_, werr := w.Write(text)
	if err := errors.Join(err, werr, w.Close()); err != nil {
		return err
	}
	return r.api().CopyToContainer(ctx, r.id, "/", &b, container.CopyToContainerOptions{})
}

// safeName keeps of a job's name what the name of a container may have.
func safeName(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.', c == '-':
			return c
		}
		return '_'
	}, s)
}
