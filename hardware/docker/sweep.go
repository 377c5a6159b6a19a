package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"
)

// The labels of containers, by which they are found again: the run of an engine,
// the folder of results, the cell and the job.
const (
	LabelRun    = "tfexp.run"
	LabelFolder = "tfexp.folder"
	LabelCell   = "tfexp.cell"
	LabelJob    = "tfexp.job"
)

// Left is a container that carries tfexp's labels.
type Left struct {
	ID     string
	Name   string
	Folder string // of results
	Cell   string
	Job    string
	State  string // "running", "paused", "exited", …
}

// Containers lists the containers on a host that tfexp made, also those that
// have ended: of one folder of results, or of all if folder is empty.
func (h *Host) Containers(ctx context.Context, folder string) ([]Left, error) {
	label := LabelRun
	if folder != "" {
		label = LabelFolder + "=" + folder
	}
	ctx, cancel := context.WithTimeout(ctx, CallLimit)
	defer cancel()
	ours := filters.NewArgs(filters.Arg("label", label))
	list, err := h.api.ContainerList(ctx, container.ListOptions{All: true, Filters: ours})
	if err != nil {
		return nil, h.Explain(err)
	}
	var left []Left
	for _, c := range list {
		name := c.ID[:min(12, len(c.ID))]
		if len(c.Names) > 0 {
			name = strings.TrimPrefix(c.Names[0], "/")
		}
		left = append(left, Left{
			ID: c.ID, Name: name, State: c.State,
			Folder: c.Labels[LabelFolder], Cell: c.Labels[LabelCell], Job: c.Labels[LabelJob],
		})
	}
	return left, nil
}

// Sweep removes the containers that an engine with this folder left on the
// host when its process was killed. The caller makes sure that no tfexp is
// using the folder. It returns what was removed, "container tfexp-… (job a-1)".
func (h *Host) Sweep(ctx context.Context, folder string) (removed []string, err error) {
	left, err := h.Containers(ctx, folder)
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	var errs []error
	for _, c := range left {
		call, cancel := context.WithTimeout(ctx, CallLimit)
		err := h.api.ContainerRemove(call, c.ID, container.RemoveOptions{Force: true, RemoveVolumes: true})
		cancel()
		if err != nil {
			errs = append(errs, fmt.Errorf("sweep: remove container %s: %w", c.Name, err))
			continue
		}
		removed = append(removed, fmt.Sprintf("container %s (job %s of cell %s, %s)", c.Name, c.Job, c.Cell, c.State))
	}
	return removed, errors.Join(errs...)
}
