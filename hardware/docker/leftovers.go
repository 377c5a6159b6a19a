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

// daemonListFile is a note of the daemons on which a run has containers. It is there from the run's start to its end, so
// one in a folder that nobody has locked was left by a run that was killed: its containers are found whatever experiment
// runs next, whatever its file says by then, and wherever the folder has been moved.
const daemonListFile = "containers.json"

// daemonList is its content.
type daemonList struct {
	// Hosts are addresses of daemons: the environment, in which the local one's may be, can change.
	Hosts []string `json:"hosts"`
	// Sessions are the labels LabelSession of containers that may be there: of the run, and of earlier ones of which a
	// daemon did not answer.
	Sessions []string `json:"sessions"`
}

// writeDaemonList writes down the run's daemons.
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
		return fmt.Errorf("note the hosts of the run: %w", err)
	}
	return nil
}

// readDaemonList reads the daemons of the run in dir that was killed; nil when no run was.
func readDaemonList(dir string) (*daemonList, error) {
	raw, err := engine.ReadNote(dir, daemonListFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the hosts of an earlier run: %w", err)
	}
	var list daemonList
	if json.Unmarshal(raw, &list) != nil {
		return nil, nil // torn by a power cut, which no container outlives
	}
	return &list, nil
}

func removeDaemonList(dir string) error {
	if err := folder.Remove(filepath.Join(dir, daemonListFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the hosts of a run: %w", err)
	}
	return nil
}

// sweep removes the containers of a folder of results from daemons: those with its path, and those with the labels that
// its note has, which were made when the folder had another path. A daemon that does not answer is passed over, and its
// address returned: where it is needed, that was found out before.
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

// inUse reports whether a tfexp works in a folder: one that was copied meanwhile has the same note.
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
		list, err := readDaemonList(dir)
		if err != nil || list == nil || entry.Name() == filepath.Base(s.run.Dir) {
			continue
		}
		release, ok := s.run.Lock(dir)
		if !ok {
			continue // it runs
		}
		gone, silent, err := s.sweep(dir, *list)
		removed = append(removed, gone...)
		if err == nil && len(silent) == 0 {
			_ = removeDaemonList(dir) // or it is looked at again next time
		}
		release()
	}
	return removed
}

// The labels of containers, by which they are found again: the run of an engine, the session of tfexp that it belongs to,
// the folder of results, the cell and the job.
const (
	LabelRun     = "tfexp.run"
	LabelSession = "tfexp.session"
	LabelFolder  = "tfexp.folder"
	LabelCell    = "tfexp.cell"
	LabelJob     = "tfexp.job"
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
	return h.labelled(ctx, label)
}

// labelled lists the containers on a host that have a label.
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

// Sweep removes the containers that an engine with this folder left on the host
// when its process was killed. The caller makes sure that no tfexp is using the
// folder. It returns names of the removed containers: "container tfexp-… (job
// a-1)".
func (h *Host) Sweep(ctx context.Context, folder string) (removed []string, err error) {
	left, err := h.Containers(ctx, folder)
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	return h.remove(ctx, left)
}

// remove removes containers, and returns their names as Sweep does.
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
