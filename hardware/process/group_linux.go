package process

import (
	"bufio"
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/results/folder"
)

// group is a control group (cgroups(7), version 2) that a program is started in: all that it forks stays there,
// whatever its session, environment and parent. A nil group has no members.
type group struct {
	path string
	dir  *folder.File // while a program is started in it; else nil
}

// groupPrefix is the prefix of the names of groups; the mark of their program follows.
const groupPrefix = "tfexp-"

// ownGroup returns the folder of this process's control group; empty if it cannot be written.
var ownGroup = sync.OnceValue(func() string {
	own, err := folder.ReadSystem("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	mounts, err := folder.ReadSystem("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	dir := groupFolder(string(own), string(mounts))
	if dir == "" || unix.Access(dir, unix.W_OK) != nil || !isGroupFolder(dir) {
		return ""
	}
	return dir
})

// groupFolder finds the folder of a process's group of version 2 by its /proc/PID/cgroup and mountinfo, see
// proc_pid_mountinfo(5); empty if it is not mounted.
func groupFolder(own, mounts string) string {
	in := ""
	for line := range strings.Lines(own) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			in = path
		}
	}
	for line := range strings.Lines(mounts) {
		mount, kind, _ := strings.Cut(line, " - ")
		fields := strings.Fields(mount)
		if !strings.HasPrefix(kind, "cgroup2 ") || len(fields) < 5 || in == "" {
			continue
		}
		// The mount may show a part of the hierarchy only; spaces in names are escaped, and not expected.
		below, ok := strings.CutPrefix(in, strings.TrimSuffix(fields[3], "/"))
		if ok && (below == "" || below[0] == '/') {
			return filepath.Join(fields[4], below)
		}
	}
	return ""
}

// isGroupFolder reports whether a folder is one of control groups, not of files.
func isGroupFolder(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && fs.Type == unix.CGROUP2_SUPER_MAGIC
}

// newGroup makes a group for a program with a mark; nil where that cannot be done. An earlier attempt's is used again.
func newGroup(mark string) *group {
	home := groupHome()
	if home == "" {
		return nil
	}
	path := filepath.Join(home, groupPrefix+strings.ReplaceAll(mark, "/", "_"))
	if err := folder.Mkdir(path, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil
	}
	dir, err := folder.OpenFile(path, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	return &group{path, dir}
}

// startIn calls fork with the group's folder, and without, as -1, where the system does not put a child into it.
func (g *group) startIn(fork func(folder int) (int, error)) (pid int, in *group, err error) {
	if g == nil {
		pid, err = fork(-1)
		return pid, nil, err
	}
	pid, err = fork(int(g.dir.Fd()))
	g.dir.Close()
	g.dir = nil
	if err == nil {
		return pid, g, nil
	}
	g.remove()
	if pid, err = fork(-1); err == nil {
		noGroups.Store(true)
	}
	return pid, nil, err
}

// intoGroup makes a child start in a control group.
func intoGroup(attr *syscall.SysProcAttr, folder int) { attr.UseCgroupFD, attr.CgroupFD = true, folder }

// pids returns the live processes of the group and of those below it.
func (g *group) pids() (pids []int) {
	if g == nil {
		return nil
	}
	self := os.Getpid()
	for _, dir := range g.folders() {
		list, err := folder.ReadSystem(filepath.Join(dir, "cgroup.procs"))
		if err != nil {
			continue
		}
		lines := bufio.NewScanner(bytes.NewReader(list))
		for lines.Scan() {
			// 0 is a process that this one cannot see.
			if pid, err := strconv.Atoi(lines.Text()); err == nil && pid > 1 && pid != self {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// folders returns the group's folder and those below it, which a program may make, the deepest last.
func (g *group) folders() []string {
	dirs := []string{g.path}
	for i := 0; i < len(dirs); i++ { // dirs grows
		entries, err := folder.ReadDir(dirs[i])
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.IsDir() {
				dirs = append(dirs, filepath.Join(dirs[i], e.Name()))
			}
		}
	}
	return dirs
}

// kill kills all processes of the group at once, those that fork meanwhile included, where the kernel can (5.14).
func (g *group) kill() {
	if g != nil {
		folder.WriteFile(filepath.Join(g.path, "cgroup.kill"), []byte("1"), 0)
	}
}

// remove removes the group, which must have no live processes.
func (g *group) remove() {
	if g == nil {
		return
	}
	dirs := g.folders()
	for i := len(dirs) - 1; i >= 0; i-- {
		folder.Remove(dirs[i]) // groups still in use are removed when the folder of results is used again
	}
}

// groupsOf returns the groups of a run's programs below a folder.
func groupsOf(home, run string) (groups []*group) {
	if home == "" || run == "" || !isGroupFolder(home) {
		return nil
	}
	entries, err := folder.ReadDir(home)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), groupPrefix+run+".") {
			groups = append(groups, &group{filepath.Join(home, e.Name()), nil})
		}
	}
	return groups
}
