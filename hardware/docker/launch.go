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
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

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
	r := &running{number: number, node: n, limit: j.Limit, cores: len(cpus), started: time.Now()}
	r.expire = func() {
		e.mu.Lock()
		paused := r.paused
		e.mu.Unlock()
		if !paused { // else the alarm went off while the job was being paused
			e.terminate(r, scheduler.Failed, fmt.Sprintf("time limit of %s", j.Limit))
		}
	}
	fail := func(reason string) { e.kill(r, scheduler.Failed, reason) }
	if r.out, err = openOutput(j.LogPath, e.opts.LogLimit, e.attempts[number] > 1, fail); err != nil {
		return nil, err
	}
	if err := e.create(r, j, grant, cpus); err != nil {
		if r.id != "" {
			e.remove(n.Host, r.id)
		}
		r.out.close(err.Error())
		return nil, err
	}
	return r, nil
}

// create makes the container, listens to it and starts it.
func (e *Engine) create(r *running, j *Job, grant scheduler.Grant, cpus []int) error {
	if len(j.Argv) == 0 {
		return errors.New("the job has no program")
	}
	h := r.node.Host
	if err := e.prepare(h, j, len(cpus)); err != nil {
		return err
	}
	config, host := e.settings(h, j, grant, cpus)
	ctx, cancel := context.WithTimeout(e.ctx, callLimit)
	defer cancel()
	name := fmt.Sprintf("tfexp-%s-%s-%d", e.run, safeName(j.Name), e.attempts[r.number])
	made, err := h.api.ContainerCreate(ctx, config, host, nil, parsePlatform(e.opts.Platform), name)
	if err != nil && gone(err) && h.comeBack(e.ctx, e.opts.Patience) {
		made, err = h.api.ContainerCreate(ctx, config, host, nil, parsePlatform(e.opts.Platform), name)
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
		a, err := h.api.ContainerAttach(ctx, r.id, container.AttachOptions{Stream: true, Stdout: true, Stderr: true})
		if err != nil {
			return stream{}, err
		}
		return stream{a.Reader, a.Close}, nil
	}, r.node.waiting())
	if err != nil {
		return startError(h, j, err)
	}
	if err := h.api.ContainerStart(ctx, r.id, container.StartOptions{}); err != nil {
		return startError(h, j, err)
	}
	return nil
}

// prepare makes the folders that a container on this machine is to see.
func (e *Engine) prepare(h *Host, j *Job, cores int) error {
	if !h.Local() {
		return nil
	}
	if err := j.WriteControl(cores); err != nil {
		return err
	}
	if j.CheckpointDir != "" {
		if err := os.MkdirAll(j.CheckpointDir, 0o777); err != nil {
			return fmt.Errorf("make checkpoint directory: %w", err)
		}
	}
	return nil
}

// settings describe the container of a job under a grant.
func (e *Engine) settings(h *Host, j *Job, grant scheduler.Grant, cpus []int) (*container.Config, *container.HostConfig) {
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
	var devices []string
	grant.GPUs.Each(func(gpu int) { devices = append(devices, strconv.Itoa(gpu)) })
	if devices != nil {
		host.DeviceRequests = []container.DeviceRequest{{DeviceIDs: devices, Capabilities: [][]string{{"gpu"}}}}
	}
	control, checkpoint := "", ""
	if j.ControlPath != "" {
		control = controlDir + "/" + filepath.Base(j.ControlPath)
	}
	if j.CheckpointDir != "" && h.Local() {
		checkpoint = checkpointDir
	}
	bind := func(source, target string, readOnly bool) {
		host.Mounts = append(host.Mounts, mount.Mount{Type: mount.TypeBind, Source: source, Target: target, ReadOnly: readOnly})
	}
	if h.Local() {
		if control != "" { // its folder, since the file is replaced
			bind(absolute(filepath.Dir(j.ControlPath)), controlDir, true)
		}
		if checkpoint != "" {
			bind(absolute(j.CheckpointDir), checkpointDir, false)
		}
	}
	for _, m := range j.Mounts {
		bind(m.Source, m.Target, m.ReadOnly)
	}
	return &container.Config{
		Image: j.Image, Entrypoint: j.Arguments(grant), Env: j.Contract(grant, control, checkpoint),
		WorkingDir: j.Dir, User: e.opts.User, AttachStdout: true, AttachStderr: true,
		Labels: map[string]string{labelFolder: e.opts.Folder, labelCell: e.opts.Cell, labelJob: j.Name, labelRun: e.run},
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

// give gives a container the cores of grant, and tells its program.
func (e *Engine) give(r *running, grant scheduler.Grant) error {
	n, cpus, err := e.place(grant)
	if err != nil {
		return err
	}
	if n != r.node {
		return errors.New("the grant is on another host")
	}
	var update container.UpdateConfig
	e.limit(&update.Resources, cpus)
	if err := e.act(r, func(ctx context.Context) error {
		_, err := r.api().ContainerUpdate(ctx, r.id, update)
		return err
	}); err != nil {
		return err
	}
	e.mu.Lock()
	r.cores = len(cpus)
	e.mu.Unlock()
	if n.Host.Local() {
		return e.jobs[r.number].WriteControl(len(cpus))
	}
	return e.act(r, func(ctx context.Context) error { return e.send(ctx, r, len(cpus)) })
}

// send writes the control file into a container whose daemon does not see the
// files of this machine.
func (e *Engine) send(ctx context.Context, r *running, cores int) error {
	j := &e.jobs[r.number]
	if j.ControlPath == "" {
		return nil
	}
	inter, intra := j.Allotment(cores)
	text := fmt.Appendf(nil, "%d %d\n", inter, intra)
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

// absolute makes a path of tfexp's one that the daemon understands.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
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
