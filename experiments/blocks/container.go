package blocks

import (
	"fmt"
	"path"
	"slices"
	"strings"

	images "github.com/distribution/reference"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/hardware/launch"
)

// container decodes what a job says about its container.
func (d *Decoder) container(a *eval.Args, j *experiments.Job) {
	name := eval.Get[string](a, "image")
	if a.Lacks("image") {
		for _, other := range []string{"mounts", "workdir"} {
			if a.IsSet(other) {
				a.Fail(a.At(other), "Argument that nothing reads", "%s is for jobs that run in a container; this one has no image.", other)
			}
		}
		return
	}
	if name == "" {
		return // in error
	}
	if _, err := images.ParseNormalizedNamed(name); err != nil {
		a.Fail(a.At("image"), "Not an image", "%q is not the name of an image (%s); names are like \"tfexp/tensorflow:latest\".", name, err)
		return
	}
	j.Container = &launch.Container{Image: name, Dir: eval.Get[string](a, "workdir")}
	if dir := j.Container.Dir; dir != "" && !path.IsAbs(dir) {
		a.Fail(a.At("workdir"), "Not a folder of the container", "workdir must be absolute, like \"/work\"; this is %q.", dir)
	}
	for _, text := range eval.Get[[]string](a, "mounts") {
		m, err := d.mount(text)
		if err != nil {
			a.Fail(a.At("mounts"), fmt.Sprintf("Not a mount: %q", text), "%s. A mount is written \"source:target\", or \"source:target:ro\" for one that is only read.", err)
			continue
		}
		if slices.ContainsFunc(j.Container.Mounts, func(o launch.Mount) bool { return o.Target == m.Target }) {
			a.Fail(a.At("mounts"), "Contradicting mounts", "Two mounts have the target %s.", m.Target)
		}
		j.Container.Mounts = append(j.Container.Mounts, m)
	}
}

// mount reads "source:target[:ro|rw]".
func (d *Decoder) mount(text string) (launch.Mount, error) {
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
func (d *Decoder) docker(a *eval.Args, h *experiments.Hardware) {
	if h.Engine != "docker" {
		for _, name := range dockerArgs {
			if a.IsSet(name) && h.Engine != "" {
				a.Fail(a.At(name), "Argument that nothing reads", "%s is for the engine \"docker\"; %q does not read it.", name, h.Engine)
			}
		}
		return
	}
	h.Docker = &experiments.Docker{
		CPUs: eval.Get[string](a, "cpus"), Privileges: eval.Get[string](a, "privileges"), Pull: eval.Get[string](a, "pull"),
		Network: eval.Get[string](a, "network"), User: eval.Get[string](a, "user"), Platform: eval.Get[string](a, "platform"),
	}
	if p := h.Docker.Platform; p != "" && (!strings.HasPrefix(p, "linux/") || p == "linux/") {
		a.Fail(a.At("platform"), "Not a platform", "platform is like \"linux/amd64\" or \"linux/arm64\"; this is %q.", p)
	}
	if !a.IsSet("host") {
		return
	}
	if len(a.Node.All("node")) > 0 {
		a.Fail(a.At("host"), "Contradicting arguments", "host belongs in the node blocks of this hardware.")
		return
	}
	d.dockerHost(a, "host")
}

// dockerHost checks the address of a daemon.
func (d *Decoder) dockerHost(a *eval.Args, name string) {
	host := eval.Get[string](a, name)
	for _, scheme := range []string{"unix:///", "tcp://"} {
		if strings.HasPrefix(host, scheme) && len(host) > len(scheme) {
			return
		}
	}
	if _, ok := a.Values[name]; ok {
		a.Fail(a.At(name), "Not a Docker host", "%q is not the address of a Docker daemon: it is like \"unix:///var/run/docker.sock\" or \"tcp://node1:2375\".", host)
	}
}

// dockerNode decodes which daemon each node of a cluster is.
func (d *Decoder) dockerNode(na *eval.Args, h *experiments.Hardware, count int) {
	host := eval.Get[string](na, "host")
	if h.Docker == nil {
		if na.IsSet("host") && h.Engine != "" {
			na.Fail(na.At("host"), "Argument that nothing reads", "host is for the engine \"docker\"; %q does not read it.", h.Engine)
		}
		return
	}
	if na.IsSet("host") {
		d.dockerHost(na, "host")
	}
	switch {
	case count > 1:
		na.Fail(na.At("count"), "Several nodes of one daemon", "On the engine \"docker\" each node is a daemon of its own; write a node block for each.")
	case slices.Contains(h.Docker.Hosts, host):
		detail := fmt.Sprintf("Another node has the host %q already.", host)
		if host == "" {
			detail = "Another node has no host either; only one can be the daemon that the docker command would use."
		}
		na.Fail(na.Node.Header, "Two nodes of one daemon", "%s", detail)
	}
	h.Docker.Hosts = append(h.Docker.Hosts, host)
}
