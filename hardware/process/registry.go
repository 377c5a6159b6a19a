//go:build unix

package process

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/results/folder"
)

// registry is a file with the live jobs of an engine. If tfexp is killed, the next tfexp finds their processes by
// it. It has a line with the run and the boot of the machine, a line with the folder of control groups, and a line
// for each start and end of a job. A nil registry records nothing.
type registry struct{ file *folder.File }

const registryHeader = "tfexp jobs, run %s, boot %s\n"

// errRegistry is wrapped by the error of New if the registry cannot be written.
var errRegistry = errors.New("open registry")

func openRegistry(path, run string) (*registry, error) {
	if path == "" {
		return nil, nil
	}
	f, err := folder.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errRegistry, err)
	}
	if _, err := fmt.Fprintf(f, registryHeader+groupsLine, run, bootID(), groupHome()); err != nil {
		return nil, fmt.Errorf("%w: %w", errRegistry, errors.Join(err, f.Close()))
	}
	return &registry{f}, nil
}

// started and ended append a line. If that fails (a full disk), the job continues, because its mark is also in its
// environment.
func (r *registry) started(id processID) {
	if r != nil {
		fmt.Fprintf(r.file, "+ %d %d\n", id.pid, id.start)
	}
}

func (r *registry) ended(id processID) {
	if r != nil {
		fmt.Fprintf(r.file, "- %d %d\n", id.pid, id.start)
	}
}

// close removes the file. No job must be live.
func (r *registry) close() error {
	if r == nil {
		return nil
	}
	err := errors.Join(r.file.Close(), folder.Remove(r.file.Name()))
	if err != nil {
		return fmt.Errorf("close registry: %w", err)
	}
	return nil
}

// Sweep kills leftover processes of an engine whose tfexp was killed, and removes the file of its registry. A
// process is never killed only because of its number: also its start time must agree, or the mark of the run in its
// environment, a limit or the name of its control group. No tfexp may be using the file.
//
// Sweep returns the killed processes as "process 1234 (python3)". It does nothing if the file does not exist. If the
// file is not a registry, it renames the file and returns ErrGarbled.
func Sweep(path string) (killed []string, err error) {
	if info, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err == nil && !info.Mode().IsRegular() {
		return nil, setAside(path)
	}
	f, err := folder.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	var run, boot string
	if lines.Scan() {
		if _, err := fmt.Sscanf(strings.ReplaceAll(lines.Text(), ",", ""), strings.ReplaceAll(registryHeader, ",", ""),
			&run, &boot); err != nil {
			return nil, setAside(path)
		}
	}
	var r roll
	for lines.Scan() {
		if r.record(lines.Text()); len(r.live) > mostLive {
			return nil, setAside(path)
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, setAside(path)
	} else if err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	if run != "" && boot == bootID() {
		killed = r.killLeft(run, false)
	}
	if err := folder.Remove(path); err != nil {
		return killed, fmt.Errorf("sweep: %w", err)
	}
	return killed, nil
}

// ErrGarbled is returned by Sweep for a registry that cannot be read. Leftovers of a killed run, if any, are not
// known then.
var ErrGarbled = errors.New("the list of running jobs was damaged")

// mostLive is the greatest number of live programs in a registry.
const mostLive = 1 << 15

// setAside renames a registry that cannot be read.
func setAside(path string) error {
	aside := path + ".damaged"
	if err := folder.Rename(path, aside); err != nil {
		return fmt.Errorf("sweep: %s is not a registry of jobs, and cannot be set aside: %w", path, err)
	}
	return fmt.Errorf("%w and has been set aside as %s", ErrGarbled, aside)
}

const (
	killPause  = 5 * time.Millisecond
	killPasses = 400 // 2 s
)

// killLeft kills the processes of a run: the live programs, the members of their sessions and groups, all processes
// with the mark of the run (in their environment or limit), and all descendants of these. It repeats until no such
// process is found.
//
// If the leader of a session is dead, the session is killed only if fresh says that the leader lived a moment ago.
// Otherwise its number may belong to another session by now.
func (r *roll) killLeft(run string, fresh bool) (killed []string) {
	self := os.Getpid()
	sessions := map[int]bool{}
	for _, id := range r.live {
		p, listed := readProc(id.pid)
		sessions[id.pid] = listed && p.start == id.start || !listed && fresh
	}
	seen := map[processID]bool{}
	clean := 0 // successive passes that found nothing
	for pass := 0; pass < killPasses || fresh; pass++ {
		groups := groupsOf(r.home, run)
		doomed := map[int]bool{}
		for _, g := range groups {
			for _, pid := range g.pids() {
				doomed[pid] = true
			}
		}
		table := processes()
		if fresh { // this is the guardian, whose descendants are all of jobs
			doomed[self] = true
		}
		for _, p := range table {
			if sessions[p.session] || sessions[p.group] || hasMark(p.pid, run) || hasLimitMark(p.pid, run) {
				doomed[p.pid] = true
			}
		}
		for _, pid := range descendantsIn(table, doomed) {
			doomed[pid] = true
		}
		found := false
		for _, p := range table {
			if !doomed[p.pid] || p.zombie || p.pid == self {
				continue
			}
			// Do not wait for processes that may not be killed (another user's). A process that has just exited may
			// have started another one.
			err := syscall.Kill(p.pid, syscall.SIGKILL)
			found = found || err != syscall.EPERM
			if err != nil {
				continue
			}
			if id := (processID{p.pid, p.start}); !seen[id] {
				seen[id] = true
				killed = append(killed, fmt.Sprintf("process %d (%s)", p.pid, p.name))
			}
		}
		// A process that started after the list was read is found in the next pass.
		if clean++; found {
			clean = 0
		} else if clean == 2 {
			for _, g := range groups {
				g.remove()
			}
			break
		}
		time.Sleep(killPause * time.Duration(1+pass/killPasses*killPasses)) // wait longer in later passes
	}
	return killed
}

// processInfo describes a process. A zombie has exited but was not reaped.
type processInfo struct {
	pid, parent, group, session int
	start                       uint64
	zombie                      bool
	name                        string
}

// descendantsIn returns the processes of table that descend from roots, in the order of table.
func descendantsIn(table []processInfo, roots map[int]bool) []int {
	parent := make(map[int]int, len(table))
	for _, p := range table {
		parent[p.pid] = p.parent
	}
	var found []int
	for _, p := range table {
		up := p.parent
		// The loop is limited, because table may have changed while it was read and have a cycle.
		for range table {
			if up == 0 || roots[up] {
				break
			}
			up = parent[up]
		}
		if roots[up] {
			found = append(found, p.pid)
		}
	}
	slices.Sort(found)
	return found
}
