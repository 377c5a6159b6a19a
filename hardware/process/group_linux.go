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

// group is a control group (cgroups(7), version 2) in which a program is started. All processes that the program
// forks stay in it, even with another session, environment or parent. A nil group has no members.
type group struct {
	path string
	dir  *folder.File // open while a program is started in it; else nil
}

// groupPrefix starts the names of groups. The mark of the program follows.
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

// groupFolder returns the folder of a process's control group (version 2), from the contents of /proc/PID/cgroup and
// /proc/PID/mountinfo, see proc_pid_mountinfo(5). It returns "" if version 2 is not mounted.
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
		// The mount may show only a part of the hierarchy. Escaped spaces in names are not supported.
		below, ok := strings.CutPrefix(in, strings.TrimSuffix(fields[3], "/"))
		if ok && (below == "" || below[0] == '/') {
			return filepath.Join(fields[4], below)
		}
	}
	return ""
}

// isGroupFolder reports whether a folder is a control group, and not a folder of files.
func isGroupFolder(dir string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(dir, &fs) == nil && fs.Type == unix.CGROUP2_SUPER_MAGIC
}

// newGroup makes a group for the program with a mark, or reuses the group of an earlier attempt. It returns nil if
// it cannot make one.
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

// startIn calls fork with the group's folder. If the system cannot start a child in a group, it calls fork again
// with -1, and in is nil.
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

// pids returns the live processes in the group and the groups below it.
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
			// 0 means a process that this one cannot see.
			if pid, err := strconv.Atoi(lines.Text()); err == nil && pid > 1 && pid != self {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// folders returns the folders of the group and of the groups below it, which a program may create. The deepest are
// last.
func (g *group) folders() []string {
	dirs := []string{g.path}
	for i := 0; i < len(dirs); i++ { // dirs grows in the loop
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

// kill kills all processes of the group at once, also those that fork at the same time, if the kernel can do that
// (5.14).
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
		folder.Remove(dirs[i]) // if one is still in use, the next run in the folder of results removes it
	}
}

// groupsOf returns the groups of a run's programs below the folder home.
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
