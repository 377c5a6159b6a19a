package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/results/folder"
)

// daemonListFile lists the daemons on which a run has containers. It is there from the run's start to its end, so one
// in a folder that nobody has locked was left by a run that was killed: what that left is found whatever experiment
// runs next, and whatever its file says by then.
const daemonListFile = "containers.json"

// writeDaemonList writes down the addresses of the run's daemons, because the environment may change until they are
// needed again.
func (s *session) writeDaemonList() error {
	urls := slices.Clone(s.urls)
	for i, url := range urls {
		if h := s.hosts[url]; h != nil {
			urls[i] = h.URL
		}
	}
	raw, err := json.Marshal(urls)
	if err != nil {
		return err
	}
	if err := folder.Write(filepath.Join(s.run.Dir, daemonListFile), append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("note the hosts of the run: %w", err)
	}
	return nil
}

// readDaemonList reads the daemons of the run in dir that was killed; none when no run was.
func readDaemonList(dir string) ([]string, error) {
	raw, err := engine.ReadNote(dir, daemonListFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the hosts of an earlier run: %w", err)
	}
	var urls []string
	if json.Unmarshal(raw, &urls) != nil {
		return nil, nil // torn by a power cut, which no container outlives
	}
	return urls, nil
}

func removeDaemonList(dir string) error {
	if err := folder.Remove(filepath.Join(dir, daemonListFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the hosts of a run: %w", err)
	}
	return nil
}

// sweep removes the containers of a folder of results from daemons. One that does not answer is passed over: where it
// is needed, that was found out before.
func (s *session) sweep(dir string, urls []string) (removed []string, err error) {
	for _, url := range urls {
		h := s.hosts[url]
		if h == nil {
			if h, err = Connect(context.Background(), url); err != nil {
				continue
			}
			s.hosts[url] = h
		}
		gone, err := h.Sweep(context.Background(), dir)
		removed = append(removed, gone...)
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// sweepOtherRuns removes leftovers of killed runs of other experiments, whose results are in the same folder as this
// one's. A leftover that cannot be removed does not stop the run: tfexp doctor reports it.
func (s *session) sweepOtherRuns() (removed []string) {
	parent := filepath.Dir(s.run.Dir)
	entries, err := folder.ReadDir(parent)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		dir := filepath.Join(parent, entry.Name())
		urls, err := readDaemonList(dir)
		if err != nil || urls == nil || entry.Name() == filepath.Base(s.run.Dir) {
			continue
		}
		release, ok := s.run.Lock(dir)
		if !ok {
			continue // it runs
		}
		gone, err := s.sweep(dir, urls)
		removed = append(removed, gone...)
		if err == nil && !slices.ContainsFunc(urls, func(url string) bool { return s.hosts[url] == nil }) {
			_ = removeDaemonList(dir) // or it is looked at again next time
		}
		release()
	}
	return removed
}

// The labels of containers, by which they are found again: the run of an engine,
// the folder of results, the cell and the job.
const (
	LabelRun    = "tfexp.run"
	LabelFolder = "tfexp.folder"
	LabelCell   = "tfexp.cell"
	LabelJob    = "tfexp.job"
)

// LeftoverContainer is a container that carries tfexp's labels.
type LeftoverContainer struct {
	ID     string
	Name   string
	Folder string // of results
	Cell   string
	Job    string
	State  string // "running", "paused", "exited", …
}

// Containers lists the containers on a host that tfexp made, also those that
// have ended: of one folder of results, or of all if folder is empty.
func (h *Host) Containers(ctx context.Context, folder string) ([]LeftoverContainer, error) {
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
	var left []LeftoverContainer
	for _, c := range list {
		name := c.ID[:min(12, len(c.ID))]
		if len(c.Names) > 0 {
			name = strings.TrimPrefix(c.Names[0], "/")
		}
		left = append(left, LeftoverContainer{
			ID: c.ID, Name: name, State: c.State,
			Folder: c.Labels[LabelFolder], Cell: c.Labels[LabelCell], Job: c.Labels[LabelJob],
		})
	}
	return left, nil
}

// Sweep removes the containers that an engine with this folder left on the host
// when its process was killed. The caller makes sure that no tfexp is using the
// folder. It returns names of the removed containers: "container tfexp-… (job
// a-1)".
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
