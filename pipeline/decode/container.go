package decode

import (
	"fmt"
	"path"
	"slices"
	"strings"

	images "github.com/distribution/reference"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/stages/experiment"
)

// container decodes the container settings of a job.
func (d *Decoder) container(a *eval.Args, j *experiment.Job) {
	name := j.Image
	if a.Lacks("image") {
		a.Unread("{} is for jobs that run in a container; this one has no image.", "mounts", "workdir")
		return
	}
	if name == "" {
		return // an error has been reported
	}
	if _, err := images.ParseNormalizedNamed(name); err != nil {
		a.Fail(a.At("image"), "Not an image",
			"%q is not the name of an image (%s); names are like \"tfexp/tensorflow:latest\".", name, err)
		return
	}
	j.Container = &launch.Container{Image: name, Dir: j.Workdir}
	if dir := j.Container.Dir; dir != "" && !path.IsAbs(dir) {
		a.Fail(a.At("workdir"), "Not a folder of the container",
			"workdir must be absolute, like \"/work\"; this is %q.", dir)
	}
	for _, text := range j.Mounts {
		m, err := d.mount(text)
		if err != nil {
			a.Fail(a.At("mounts"), fmt.Sprintf("Not a mount: %q", text),
				"%s. A mount is written \"source:target\", or \"source:target:ro\" for one that is only read.", err)
			continue
		}
		if slices.ContainsFunc(j.Container.Mounts, func(o launch.Mount) bool { return o.Target == m.Target }) {
			a.Fail(a.At("mounts"), "Contradicting mounts", "Two mounts have the target %s.", m.Target)
		}
		j.Container.Mounts = append(j.Container.Mounts, m)
	}
}

// mount reads a mount of the form "source:target[:ro|rw]".
func (d *Decoder) mount(text string) (launch.Mount, error) {
	parts := strings.Split(text, ":")
	m := launch.Mount{}
	switch {
	case len(parts) < 2 || len(parts) > 3 || parts[0] == "":
		return m, fmt.Errorf("it does not have this form")
	case len(parts) == 3 && parts[2] != "ro" && parts[2] != "rw":
		return m, fmt.Errorf("its mode is %q, not ro or rw", parts[2])
	case !path.IsAbs(parts[1]) || path.Clean(parts[1]) == "/":
		return m, fmt.Errorf("its target %q must be an absolute path below /", parts[1])
	}
	m = launch.Mount{Source: d.Absolute(parts[0]), Target: path.Clean(parts[1]), ReadOnly: len(parts) == 3 && parts[2] == "ro"}
	if m.Target == "/tfexp" || strings.HasPrefix(m.Target, "/tfexp/") {
		return m, fmt.Errorf("its target is in /tfexp, which tfexp uses itself")
	}
	return m, nil
}
