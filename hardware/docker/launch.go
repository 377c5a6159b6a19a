package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/secret"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler"
)

// Paths of tfexp's files in a container.
const (
	controlDir    = "/tfexp/control"
	checkpointDir = "/tfexp/checkpoint"
)

// outputStream is a stream of a container's output.
type outputStream struct {
	body  io.Reader
	close func()
}

// loopback is the host of the addresses of a job's parts, which share a network.
const loopback = "127.0.0.1"

// hands are the engine's operations on containers.
type hands struct{ e *Engine }

// Addresses implements launch.ProgramHands.
func (h hands) Addresses(_ int, parts []scheduler.Part, _ contract.Cluster) (contract.Cluster, error) {
	return launch.Addresses(loopback, parts)
}

// Met implements launch.Meeting, if this machine can see the network of the parts.
func (h hands) Met(containers []*jobContainer, addresses contract.Cluster) (met, known bool) {
	for _, jc := range containers {
		if pid := h.e.pid(jc); pid > 0 {
			return launch.ClusterConnected(addresses, fmt.Sprintf("/proc/%d/net", pid))
		}
	}
	return false, false
}

// pid returns the number of a container's first process; 0 if tfexp cannot see the processes of its daemon.
func (e *Engine) pid(jc *jobContainer) int {
	state, _ := e.inspectContainer(jc)
	if state == nil || state.Pid == 0 {
		return 0
	}
	// The number is of this container only if tfexp sees the daemon's processes.
	groups, err := folder.ReadSystem(fmt.Sprintf("/proc/%d/cgroup", state.Pid))
	if err != nil || !strings.Contains(string(groups), jc.id) {
		return 0
	}
	return state.Pid
}

// Begin starts a container with the resources of a part.
func (h hands) Begin(s launch.JobState, part scheduler.Part, again bool, seen func([]byte),
	fail func(string)) (*jobContainer,
	error) {
	e := h.e
	n, cpus, err := e.nodeOf(part.Cores)
	if err != nil {
		return nil, err
	}
	jc := &jobContainer{JobState: s, node: n, cpus: cpus, started: time.Now()}
	if jc.out, err = launch.OpenLog(s.Job.LogPath, e.opts.LogLimit, again, fail, seen); err != nil {
		return nil, err
	}
	if err := e.create(jc, part); err != nil {
		if jc.id != "" {
			e.remove(n.Host, jc.id)
		}
		jc.out.Close(err.Error())
		return nil, err
	}
	return jc, nil
}

// Discard implements launch.ProgramHands.
func (h hands) Discard(jc *jobContainer) {
	h.e.remove(jc.node.Host, jc.id)
	jc.out.Close("another part of the job could not be started")
}

// create creates the container, attaches to its output and starts it.
func (e *Engine) create(jc *jobContainer, part scheduler.Part) error {
	j, h := &jc.Job, jc.node.Host
	if len(j.Argv) == 0 {
		return errors.New("the job has no program")
	}
	if jc.node.away.Load() && !e.awaitDaemon(jc.node) {
		return &DaemonError{Host: h.URL, Text: "it is away"}
	}
	if h.Local() { // a remote daemon does not see this machine's folders
		if err := j.Prepare(len(jc.cpus), jc.Before); err != nil {
			return err
		}
	}
	gpus, err := jc.node.gpus(part.GPUs)
	if err != nil {
		return err
	}
	config, host := e.containerConfig(h, j, part, jc.cpus, gpus)
	if config.Env, err = secret.Reveal(config.Env); err != nil {
		return err
	}
	if config.Entrypoint, err = secret.Reveal(config.Entrypoint); err != nil {
		return err
	}
	if lead, ok := jc.Beside.(*jobContainer); ok {
		if lead.node.Host != h {
			return errors.New("the parts of a job in containers share a network, and have to be on one Docker daemon")
		}
		host.NetworkMode = container.NetworkMode("container:" + lead.id)
	}
	ctx, cancel := context.WithTimeout(e.ctx, CallLimit)
	defer cancel()
	name := e.nameOf(jc, part)
	made, err := h.Client().ContainerCreate(ctx, config, host, nil, ParsePlatform(e.opts.Platform), name)
	if err != nil && IsUnreachable(err) && e.awaitDaemon(jc.node) {
		made, err = h.Client().ContainerCreate(ctx, config, host, nil, ParsePlatform(e.opts.Platform), name)
	}
	if err != nil {
		return startError(h, j, err)
	}
	jc.id = made.ID
	if !h.Local() {
		text, err := j.Content(len(jc.cpus), 0, jc.Before, contract.Message{})
		if err != nil {
			return err
		}
		if err := e.copyControlFile(ctx, jc, text); err != nil {
			return fmt.Errorf("write control file: %w", err)
		}
	}
	err = jc.followOutput(func(ctx context.Context) (outputStream, error) {
		a, err := h.Client().ContainerAttach(ctx, jc.id, container.AttachOptions{Stream: true, Stdout: true, Stderr: true})
		if err != nil {
			return outputStream{}, err
		}
		return outputStream{a.Reader, a.Close}, nil
	}, jc.node.callContext())
	if err != nil {
		return startError(h, j, err)
	}
	if err := h.Client().ContainerStart(ctx, jc.id, container.StartOptions{}); err != nil {
		return startError(h, j, err)
	}
	return nil
}

// nameOf returns a name for a container that no other container of the engine has.
func (e *Engine) nameOf(jc *jobContainer, part scheduler.Part) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.made++
	name := fmt.Sprintf("tfexp-%s-%s-%d", e.run, safeName(jc.Job.Name), e.attempts[jc.Number])
	if part.Role == "" {
		return name
	}
	return fmt.Sprintf("%s-%s-%d", name, safeName(launch.PartName(part)), e.made)
}

// containerConfig returns the settings of a container for a job with the resources of a part. cpus and gpus are the
// numbers and names that the daemon uses.
func (e *Engine) containerConfig(h *Host, j *launch.Job, part scheduler.Part, cpus []int,
	gpus []string) (*container.Config, *container.HostConfig) {
	init := true // it passes signals on; a program that is process 1 would ignore them
	host := &container.HostConfig{
		NetworkMode: container.NetworkMode(e.opts.Network),
		Init:        &init,
		// Some daemons are configured to keep no output, which could then not be read again.
		LogConfig: container.LogConfig{Type: "json-file", Config: map[string]string{
			"max-size": strconv.FormatInt(2*e.opts.LogLimit, 10), "max-file": "1",
		}},
		Resources: container.Resources{Memory: j.Memory, MemorySwap: j.Memory},
	}
	if n := int64(e.opts.Pids); n > 0 {
		host.Resources.PidsLimit = &n
	}
	e.limitCPU(&host.Resources, cpus)
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
		if inside.Control != "" { // mount the folder, because the file is replaced at changes
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
		Image: j.Container.Image, Entrypoint: j.Arguments(scheduler.Grant{Cores: part.Cores,
			GPUs: part.GPUs}), Env: j.Environ(len(cpus), visible(gpus), inside),
		WorkingDir: j.Container.Dir, User: e.opts.User, AttachStdout: true, AttachStderr: true,
		Labels: map[string]string{LabelFolder: e.opts.Folder, LabelCell: e.opts.Cell,
			LabelJob: j.Name, LabelRun: e.run, LabelSession: e.opts.Session},
	}, host
}

// limitCPU sets the limits of a container's CPU usage.
func (e *Engine) limitCPU(res *container.Resources, cpus []int) {
	if e.opts.Quota {
		res.NanoCPUs = int64(len(cpus)) * 1e9
		return
	}
	res.CpusetCpus = cpuset(cpus)
}

// cpuset returns CPU numbers as Linux writes them: "0,2".
func cpuset(cpus []int) string {
	text := schema.Each(cpus, strconv.Itoa)
	return strings.Join(text, ",")
}

// nodeOf returns the node of cores, and their CPU numbers on its daemon's machine.
func (e *Engine) nodeOf(cores scheduler.CoreSet) (*daemonNode, []int, error) {
	var on *daemonNode
	var cpus []int
	var err error
	cores.Each(func(core int) {
		for _, n := range e.nodes {
			i := core - n.first
			if i < 0 || i >= len(n.CPUs) {
				continue
			}
			if on != nil && on.Host != n.Host {
				err = errors.New("the grant is on several hosts: a container runs on one")
			}
			if on == nil {
				on = n
			}
			cpus = append(cpus, n.CPUs[i])
			return
		}
		err = fmt.Errorf("there is no core %d", core)
	})
	if err == nil && len(cpus) == 0 {
		err = errors.New("the grant has no cores")
	}
	return on, cpus, err
}

// gpus returns the names of GPUs of the cluster, for the node's daemon.
func (n *daemonNode) gpus(set scheduler.CoreSet) ([]string, error) {
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

// visible returns the names of GPUs for a program in its container. UUIDs stay the same; indexes count the GPUs of
// the container.
func visible(gpus []string) []string {
	told := slices.Clone(gpus)
	for i, id := range gpus {
		if _, err := strconv.Atoi(id); err == nil {
			told[i] = strconv.Itoa(i)
		}
	}
	return told
}

// Bind gives a container the cores of a part.
func (h hands) Bind(jc *jobContainer, part scheduler.Part) error {
	e := h.e
	n, cpus, err := e.nodeOf(part.Cores)
	if err != nil {
		return err
	}
	if n.Host != jc.node.Host {
		return errors.New("the grant is on another host")
	}
	if slices.Equal(cpus, jc.cpus) {
		return nil
	}
	var update container.UpdateConfig
	e.limitCPU(&update.Resources, cpus)
	if err := e.callDaemon(jc, func(ctx context.Context) error {
		_, err := jc.api().ContainerUpdate(ctx, jc.id, update)
		return err
	}); err != nil {
		return err
	}
	jc.cpus = cpus
	if n.Host.Local() && !e.opts.Quota {
		e.unbindThreads(jc, cpus)
	}
	return nil
}

// Write implements launch.ProgramHands.
func (h hands) Write(jc *jobContainer, content []byte, at time.Time) error {
	if jc.node.Host.Local() {
		return jc.Job.ReplaceControl(content, at)
	}
	return h.e.callDaemon(jc, func(ctx context.Context) error { return h.e.copyControlFile(ctx, jc, content) })
}

// unbindThreads lets all threads of a local container use all of its CPUs. Some libraries, such as TensorFlow, bind
// threads to the CPUs that they find at the start. The kernel would keep this when the container gets more CPUs. It
// does nothing if tfexp cannot see or change the processes of the container.
func (e *Engine) unbindThreads(jc *jobContainer, cpus []int) {
	if pid := e.pid(jc); pid > 0 {
		_ = process.BindTree(pid, cpus)
	}
}

// copyControlFile writes the control file into a container whose daemon does not see the files of this machine.
func (e *Engine) copyControlFile(ctx context.Context, to *jobContainer, text []byte) error {
	if to.Job.ControlPath == "" {
		return nil
	}
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	dir, file := strings.TrimPrefix(controlDir, "/"), filepath.Base(to.Job.ControlPath)
	err := errors.Join(
		w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: filepath.Dir(dir), Mode: 0o755}),
		w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir, Mode: 0o755}),
		w.WriteHeader(&tar.Header{Name: dir + "/" + file, Mode: 0o644, Size: int64(len(text))}),
	)
	_, werr := w.Write(text)
	if err := errors.Join(err, werr, w.Close()); err != nil {
		return err
	}
	return to.api().CopyToContainer(ctx, to.id, "/", &b, container.CopyToContainerOptions{})
}

// safeName removes characters that the name of a container must not have.
func safeName(s string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '.', c == '-':
			return c
		}
		return '_'
	}, s)
}
