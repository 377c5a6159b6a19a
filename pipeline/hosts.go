package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"

	"github.com/tfexp/tfexp/hardware/docker/daemon"
	"github.com/tfexp/tfexp/pipeline/store"
)

// hostsFile lists the daemons on which a run has containers. It is there from
// the run's start to its end, so one that nobody holds the lock of was killed, and
// what it left is found whatever experiment runs next, and says by then.
const hostsFile = "containers.json"

// openHosts connects to the daemons of the cells, and removes the containers
// that killed runs of this experiment, and of those beside it, left behind:
// they would take the time of what is measured now.
func (r *run) openHosts() (removed []string, err error) {
	r.hosts = map[string]*daemon.Host{}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.closeHosts())
		}
	}()
	now := r.x.Containers()
	before, err := readHosts(r.Dir)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(now, before) // who is asked twice has nothing left
	if removed, err = r.sweep(r.Dir, all); err != nil {
		return removed, fmt.Errorf("clean up after an earlier run: %w", err)
	}
	removed = append(removed, r.sweepBeside()...)
	path := filepath.Join(r.Dir, hostsFile)
	if len(now) == 0 {
		return removed, forgetHosts(r.Dir)
	}
	// By their addresses: what the environment says may change until they are looked at.
	noted := make([]string, len(now))
	for i, url := range now {
		if noted[i] = url; r.hosts[url] != nil {
			noted[i] = r.hosts[url].URL
		}
	}
	raw, err := json.Marshal(noted)
	if err != nil {
		return removed, err
	}
	if err := renameio.WriteFile(path, append(raw, '\n'), 0o644); err != nil {
		return removed, fmt.Errorf("note the hosts of the run: %w", err)
	}
	return removed, nil
}

// readHosts reads the daemons of the run in dir that was killed; none when no
// run was.
func readHosts(dir string) ([]string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, hostsFile))
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

func forgetHosts(dir string) error {
	if err := os.Remove(filepath.Join(dir, hostsFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the hosts of a run: %w", err)
	}
	return nil
}

// sweep removes the containers of a folder of results from daemons. One that
// does not answer is passed over: where it is needed dockerReady has seen to it.
func (r *run) sweep(dir string, urls []string) (removed []string, err error) {
	for _, url := range urls {
		h := r.hosts[url]
		if h == nil {
			if h, err = daemon.Connect(context.Background(), url); err != nil {
				continue
			}
			r.hosts[url] = h
		}
		gone, err := h.Sweep(context.Background(), absolute(dir))
		removed = append(removed, gone...)
		if err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// sweepBeside removes what killed runs of other experiments left, whose results
// are beside this one's. What cannot be removed is no reason not to run: tfexp
// doctor tells of it.
func (r *run) sweepBeside() (removed []string) {
	parent := filepath.Dir(r.Dir)
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		dir := filepath.Join(parent, entry.Name())
		urls, err := readHosts(dir)
		if err != nil || urls == nil || entry.Name() == filepath.Base(r.Dir) {
			continue
		}
		lock, err := store.LockFolder(dir, r.options.Command)
		if err != nil {
			continue // it runs
		}
		gone, err := r.sweep(dir, urls)
		removed = append(removed, gone...)
		if err == nil && !slices.ContainsFunc(urls, func(url string) bool { return r.hosts[url] == nil }) {
			_ = forgetHosts(dir) // or it is looked at again next time
		}
		lock.Release()
	}
	return removed
}

// closeHosts ends the connections. When the run has left no container anywhere,
// its daemons need not be looked at again.
func (r *run) closeHosts() error {
	var errs []error
	clean := true
	for _, url := range r.x.Containers() {
		clean = clean && r.hosts[url] != nil && r.nothingLeft(r.hosts[url])
	}
	if clean {
		errs = append(errs, forgetHosts(r.Dir))
	}
	for _, h := range r.hosts {
		errs = append(errs, h.Close())
	}
	r.hosts = nil
	return errors.Join(errs...)
}

func (r *run) nothingLeft(h *daemon.Host) bool {
	ctx, cancel := context.WithTimeout(context.Background(), daemon.DialLimit)
	defer cancel()
	left, err := h.Containers(ctx, r.label())
	return err == nil && len(left) == 0
}

// label is what containers of this folder of results are labelled with.
func (r *run) label() string { return absolute(r.Dir) }

func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}
