package experiments

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	images "github.com/distribution/reference"

	"github.com/tfexp/tfexp/experiments/units"
	"github.com/tfexp/tfexp/hardware/launch"
)

// Docker are the settings of hardware with the engine docker.
type Docker struct {
	// CPUs is cpuset or quota; Privileges none, default or all; Pull never,
	// missing or always.
	CPUs, Privileges, Pull string
	Network                string
	// User and Platform are empty where the file is silent.
	User, Platform string
	// Hosts has the daemon of each node of the cluster; empty for the one that
	// the docker command would use.
	Hosts []string
}

// Real tells whether jobs really run on the hardware.
func (h *Hardware) Real() bool { return h.Engine != "simulated" }

// minContainerMemory is the smallest memory limit that Docker accepts.
const minContainerMemory = 6 << 20

// container decodes what a job says about its container.
func (d *decoder) container(a *args, j *Job) {
	name := get[string](a, "image")
	if a.lacks("image") {
		for _, other := range []string{"mounts", "workdir"} {
			if a.isSet(other) {
				a.fail(a.at(other), "Argument that nothing reads", "%s is for jobs that run in a container; this one has no image.", other)
			}
		}
		return
	}
	if name == "" {
		return // in error
	}
	if _, err := images.ParseNormalizedNamed(name); err != nil {
		a.fail(a.at("image"), "Not an image", "%q is not the name of an image (%s); names are like \"tfexp/tensorflow:latest\".", name, err)
		return
	}
	j.Container = &launch.Container{Image: name, Dir: get[string](a, "workdir")}
	if dir := j.Container.Dir; dir != "" && !path.IsAbs(dir) {
		a.fail(a.at("workdir"), "Not a folder of the container", "workdir must be absolute, like \"/work\"; this is %q.", dir)
	}
	for _, text := range get[[]string](a, "mounts") {
		m, err := d.mount(text)
		if err != nil {
			a.fail(a.at("mounts"), fmt.Sprintf("Not a mount: %q", text), "%s. A mount is written \"source:target\", or \"source:target:ro\" for one that is only read.", err)
			continue
		}
		if slices.ContainsFunc(j.Container.Mounts, func(o launch.Mount) bool { return o.Target == m.Target }) {
			a.fail(a.at("mounts"), "Contradicting mounts", "Two mounts have the target %s.", m.Target)
		}
		j.Container.Mounts = append(j.Container.Mounts, m)
	}
}

// mount reads "source:target[:ro|rw]".
func (d *decoder) mount(text string) (launch.Mount, error) {
	parts := strings.Split(text, ":")
	m := launch.Mount{}
	switch {
	case len(parts) < 2 || len(parts) > 3 || parts[0] == "":
		return m, fmt.Errorf("it has not the form of one")
	case len(parts) == 3 && parts[2] != "ro" && parts[2] != "rw":
		return m, fmt.Errorf("its mode is %q, not ro or rw", parts[2])
	case !path.IsAbs(parts[1]) || path.Clean(parts[1]) == "/":
		return m, fmt.Errorf("its target %q must be an absolute path below /", parts[1])
	}
	m = launch.Mount{Source: d.path(parts[0]), Target: path.Clean(parts[1]), ReadOnly: len(parts) == 3 && parts[2] == "ro"}
	if m.Target == "/tfexp" || strings.HasPrefix(m.Target, "/tfexp/") {
		return m, fmt.Errorf("its target is under /tfexp, which is tfexp's own")
	}
	return m, nil
}

// dockerArgs are the arguments of hardware that only the engine docker reads.
var dockerArgs = []string{"host", "cpus", "network", "pull", "privileges", "user", "platform"}

// docker decodes the settings of the engine docker, or reports those that
// another engine does not read.
func (d *decoder) docker(a *args, h *Hardware) {
	if h.Engine != "docker" {
		for _, name := range dockerArgs {
			if a.isSet(name) && h.Engine != "" {
				a.fail(a.at(name), "Argument that nothing reads", "%s is for the engine \"docker\"; %q does not read it.", name, h.Engine)
			}
		}
		return
	}
	h.Docker = &Docker{
		CPUs: get[string](a, "cpus"), Privileges: get[string](a, "privileges"), Pull: get[string](a, "pull"),
		Network: get[string](a, "network"), User: get[string](a, "user"), Platform: get[string](a, "platform"),
	}
	if p := h.Docker.Platform; p != "" && (!strings.HasPrefix(p, "linux/") || p == "linux/") {
		a.fail(a.at("platform"), "Not a platform", "platform is like \"linux/amd64\" or \"linux/arm64\"; this is %q.", p)
	}
	if !a.isSet("host") {
		return
	}
	if len(a.n.all("node")) > 0 {
		a.fail(a.at("host"), "Contradicting arguments", "host belongs in the node blocks of this hardware.")
		return
	}
	d.dockerHost(a, "host")
}

// dockerHost checks the address of a daemon.
func (d *decoder) dockerHost(a *args, name string) {
	host := get[string](a, name)
	for _, scheme := range []string{"unix:///", "tcp://"} {
		if strings.HasPrefix(host, scheme) && len(host) > len(scheme) {
			return
		}
	}
	if _, ok := a.values[name]; ok {
		a.fail(a.at(name), "Not a Docker host", "%q is not the address of a Docker daemon: it is like \"unix:///var/run/docker.sock\" or \"tcp://node1:2375\".", host)
	}
}

// dockerNode decodes which daemon each node of a cluster is.
func (d *decoder) dockerNode(na *args, h *Hardware, count int) {
	host := get[string](na, "host")
	if h.Docker == nil {
		if na.isSet("host") && h.Engine != "" {
			na.fail(na.at("host"), "Argument that nothing reads", "host is for the engine \"docker\"; %q does not read it.", h.Engine)
		}
		return
	}
	if na.isSet("host") {
		d.dockerHost(na, "host")
	}
	switch {
	case count > 1:
		na.fail(na.at("count"), "Several nodes of one daemon", "On the engine \"docker\" each node is a daemon of its own; write a node block for each.")
	case slices.Contains(h.Docker.Hosts, host):
		detail := fmt.Sprintf("Another node has the host %q already.", host)
		if host == "" {
			detail = "Another node has no host either; only one can be the daemon that the docker command would use."
		}
		na.fail(na.n.header, "Two nodes of one daemon", "%s", detail)
	}
	h.Docker.Hosts = append(h.Docker.Hosts, host)
}

// engineOnly reports arguments and blocks of the simulated engine on a real one.
func engineOnly(a *args, n *node, h *Hardware) {
	for _, name := range []string{"noise", "lacks"} {
		if a.isSet(name) {
			a.fail(a.at(name), "Argument that nothing reads", "%s is for the engine \"simulated\"; %q does not read it.", name, h.Engine)
		}
	}
	for _, b := range n.blocks {
		switch {
		case b.schema.Name == "node" && h.Engine == "docker":
		case b.schema.Name == "node" && h.Engine == "process":
			a.fail(b.header, "Block that nothing reads", "%s is for the engines \"simulated\" and \"docker\"; \"process\" does not read it.", b.schema.Name)
		default:
			a.fail(b.header, "Block that nothing reads", "%s is for the engine \"simulated\"; %q does not read it.", b.schema.Name, h.Engine)
		}
	}
}

// contained checks a job that runs in containers on a hardware.
func (c *checker) contained(j *Job, h *Hardware) {
	if j.Container == nil {
		c.errorf(j.Range, "Job without an image", "On the hardware %q jobs run in containers, and the job %q names no image for them.", h.Name, j.Name)
		return
	}
	if j.Memory > 0 && j.Memory < minContainerMemory {
		c.errorf(j.At["memory"], "Too little memory for a container", "memory is the limit of the container on the hardware %q, and Docker accepts none below %s; this is %s.",
			h.Name, units.FormatSize(minContainerMemory), units.FormatSize(j.Memory))
	}
	if j.Nodes > 1 {
		c.errorf(either(j.At["nodes"], true, j.Range), "A container runs on one node", "The job %q asks for %d nodes, but on the hardware %q a job is one container.", j.Name, j.Nodes, h.Name)
	}
	// A daemon of another machine mounts what is there.
	local := !slices.ContainsFunc(h.Docker.Hosts, func(host string) bool { return strings.HasPrefix(host, "tcp://") })
	for _, m := range j.Container.Mounts {
		if !local {
			break
		}
		if _, err := os.Stat(m.Source); err != nil {
			// One summary each, or several mounts of a line would be one message.
			c.errorf(j.At["mounts"], "Missing mount "+m.Source, "The folder %s cannot be mounted: %s.", m.Source, cause(err))
		}
	}
	if at, ok := j.At["dir"]; ok && !c.onProcesses(j) {
		c.errorf(at, "Argument that nothing reads", "dir is a folder of this machine, and the job %q runs in containers only; workdir is the folder in the container.", j.Name)
	}
}

// onProcesses tells whether some cell runs a job without a container.
func (c *checker) onProcesses(j *Job) bool {
	for _, cell := range c.spec.Cells {
		if cell.Hardware.Engine == "docker" {
			continue
		}
		if slices.ContainsFunc(cell.Workload.Submits, func(s Submit) bool { return s.Job.Name == j.Name }) || cell.Workload.Trace != nil {
			return true
		}
	}
	return false
}

// inContainers checks the jobs of a workload on hardware of the engine docker.
func (c *checker) inContainers(w *Workload, h *Hardware) {
	type pair struct {
		job *Job
		on  *Hardware
		as  string
	}
	for _, s := range w.Submits {
		if c.first(pair{s.Job, h, "container"}) {
			c.contained(s.Job, h)
		}
	}
	if w.Trace != nil {
		for _, k := range w.Trace.Kinds {
			if c.first(pair{k.Job, h, "container"}) {
				c.contained(k.Job, h)
			}
		}
	}
	for _, s := range w.Submits {
		c.inputs(s.Job)
	}
}

// inputs checks the files that a job declares.
func (c *checker) inputs(j *Job) {
	for _, f := range j.Files {
		if _, err := os.Stat(filepath.Clean(f)); err != nil {
			c.errorf(j.At["files"], "Missing file "+f, "The file %s cannot be read: %s.", f, cause(err))
		}
	}
}
