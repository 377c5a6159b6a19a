package experiments

import (
	"fmt"
	"path"
	"slices"
	"strings"

	images "github.com/distribution/reference"

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
