package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/filters"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/results/folder"
)

// daemonListFile is the name of a note with the daemons on which a run has containers. It exists from the start of
// the run to its end. If it is in a folder that no tfexp has locked, the run was killed, and its containers must be
// removed. This works for any next experiment, and if the folder was moved.
const daemonListFile = "containers.json"

// daemonList is the content of the note.
type daemonList struct {
	// Hosts are addresses of daemons. They are kept because the environment, which may have the address of the local
	// daemon, can change.
	Hosts []string `json:"hosts"`
	// Sessions are the values of LabelSession that containers may have: of the run, and of earlier runs whose daemon
	// did not answer.
	Sessions []string `json:"sessions"`
}

// writeDaemonList writes the note of the run.
func (s *session) writeDaemonList() error {
	list := s.list
	list.Hosts = slices.Clone(list.Hosts)
	for i, url := range list.Hosts {
		if h := s.hosts[url]; h != nil {
			list.Hosts[i] = h.URL
		}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		return err
	}
	if err := folder.Write(filepath.Join(s.run.Dir, daemonListFile), append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the list of Docker hosts of the run: %w", err)
	}
	return nil
}

// readDaemonList reads the note of a killed run in dir; nil if no run was killed.
func readDaemonList(dir string) (*daemonList, error) {
	raw, err := engine.ReadNote(dir, daemonListFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of Docker hosts of an earlier run: %w", err)
	}
	var list daemonList
	if json.Unmarshal(raw, &list) != nil {
		return nil, nil // incomplete after a power failure, which no container survives
	}
	return &list, nil
}

func removeDaemonList(dir string) error {
	if err := folder.Remove(filepath.Join(dir, daemonListFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the list of Docker hosts of a run: %w", err)
	}
	return nil
}

// sweep removes containers of a folder of results from daemons: those with the path of the folder, and those with
// the sessions in its note, which were made when the folder had another path. It returns the addresses of daemons
// that did not answer. Whether such a daemon is needed is checked elsewhere.
func (s *session) sweep(dir string, list daemonList) (removed, silent []string, err error) {
	for _, url := range list.Hosts {
		h := s.hosts[url]
		if h == nil {
			if h, err = Connect(context.Background(), url); err != nil {
				silent = append(silent, url)
				continue
			}
			s.hosts[url] = h
		}
		left, err := h.Containers(context.Background(), dir)
		if err != nil {
			return removed, silent, fmt.Errorf("sweep: %w", err)
		}
		for _, id := range list.Sessions {
			moved, err := h.labelled(context.Background(), LabelSession+"="+id)
			if err != nil {
				return removed, silent, fmt.Errorf("sweep: %w", err)
			}
			left = append(left, slices.DeleteFunc(moved, func(c LeftoverContainer) bool {
				return c.Folder == dir || s.inUse(c.Folder)
			})...)
		}
		gone, err := h.remove(context.Background(), left)
		if removed = append(removed, gone...); err != nil {
			return removed, silent, err
		}
	}
	return removed, silent, nil
}

// inUse reports whether a tfexp works in a folder. A copy of a folder that is in use has the same note.
func (s *session) inUse(dir string) bool {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return false
	}
	release, ok := s.run.Lock(dir)
	if ok {
		release()
	}
	return !ok
}

// sweepOtherRuns removes containers of killed runs of other experiments with results in the same parent folder. If
// it cannot remove one, the run continues; tfexp doctor reports the container.
func (s *session) sweepOtherRuns() (removed []string) {
	parent := filepath.Dir(s.run.Dir)
	entries, err := folder.ReadDir(parent)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		dir := filepath.Join(parent, entry.Name())
		list, err := readDaemonList(dir)
		if err != nil || list == nil || entry.Name() == filepath.Base(s.run.Dir) {
			continue
		}
		release, ok := s.run.Lock(dir)
		if !ok {
			continue // its run is in progress
		}
		gone, silent, err := s.sweep(dir, *list)
		removed = append(removed, gone...)
		if err == nil && len(silent) == 0 {
			_ = removeDaemonList(dir) // if that fails, the next run checks the folder again
		}
		release()
	}
	return removed
}

// Labels of containers, by which leftovers are found: the engine's run, the session of tfexp, the folder of results,
// the cell and the job.
const (
	LabelRun     = "tfexp.run"
	LabelSession = "tfexp.session"
	LabelFolder  = "tfexp.folder"
	LabelCell    = "tfexp.cell"
	LabelJob     = "tfexp.job"
)

// LeftoverContainer is a container with tfexp's labels.
type LeftoverContainer struct {
	ID     string
	Name   string
	Folder string // folder of results
	Cell   string
	Job    string
	State  string // "running", "paused", "exited", …
}

// Containers returns the containers of tfexp on a host, including ended ones: of a folder of results, or of all if
// folder is empty.
func (h *Host) Containers(ctx context.Context, folder string) ([]LeftoverContainer, error) {
	label := LabelRun
	if folder != "" {
		label = LabelFolder + "=" + folder
	}
	return h.labelled(ctx, label)
}

// labelled returns the containers on a host with a label.
func (h *Host) labelled(ctx context.Context, label string) ([]LeftoverContainer, error) {
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

// remove removes containers, and returns names such as "container tfexp-… (job a-1)".
func (h *Host) remove(ctx context.Context, left []LeftoverContainer) (removed []string, err error) {
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
