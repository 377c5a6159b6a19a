package process

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/scheduler"
)

// twoCPUs returns two CPUs, and skips a test if only one is usable.
func twoCPUs(t *testing.T) []int {
	t.Helper()
	cpus := hardware.AllowedCPUs()
	if len(cpus) < 2 {
		t.Skip("needs two cores")
	}
	return cpus
}

// affinities returns the CPU lists of all threads of a process, without repetitions.
func affinities(pid int) string {
	var lists []string
	for _, tid := range numbers(fmt.Sprintf("/proc/%d/task", pid)) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/status", pid, tid))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(status)) {
			if list, ok := strings.CutPrefix(line, "Cpus_allowed_list:"); ok {
				if list = strings.TrimSpace(list); !strings.Contains(strings.Join(lists, " "), list) {
					lists = append(lists, list)
				}
			}
		}
	}
	return strings.Join(lists, " ")
}

// state returns the state of a process as a letter, see proc_pid_stat(5).
func state(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	return string(stat[strings.LastIndex(string(stat), ")")+2])
}

func TestBoundBeforeFirstInstruction(t *testing.T) {
	cpus := twoCPUs(t)
	script := "grep Cpus_allowed_list /proc/self/status"
	e := open(t, Options{}, sh(script), sh(script), sh(script))
	for i, grant := range []scheduler.Grant{cores(1), cores(0), cores(0, 1)} {
		if err := e.Start(i, grant); err != nil {
			t.Fatal(err)
		}
		next(t, e)
	}
	for i, want := range []string{fmt.Sprint(cpus[1]), fmt.Sprint(cpus[0])} {
		if log := strings.Fields(read(t, e.Job(i).LogPath)); len(log) != 2 || log[1] != want {
			t.Errorf("job %d is bound to %v, want CPU %s", i, log, want)
		}
	}
	if cpus[1] == cpus[0]+1 {
		want := fmt.Sprintf("%d-%d", cpus[0], cpus[1])
		if log := strings.Fields(read(t, e.Job(2).LogPath)); len(log) != 2 || log[1] != want {
			t.Errorf("job is bound to %v, want CPUs %s", log, want)
		}
	}
}

func TestPauseResumeResize(t *testing.T) {
	cpus := twoCPUs(t)
	dir := t.TempDir()
	j := sh(stray(dir+"/stray") + `sleep 1000 & echo $! >` + dir + `/child; wait`)
	j.ControlPath = filepath.Join(dir, "control")
	j.Threads = 2
	e := open(t, Options{}, j)
	if err := e.Start(0, cores(0, 1)); err != nil {
		t.Fatal(err)
	}
	if got := read(t, j.ControlPath); got != "1 2\n" {
		t.Errorf("control file %q", got)
	}
	all := []int{e.Programs(0)[0].id.pid, pidIn(t, dir+"/child"), pidIn(t, dir+"/stray")}
	eventually(t, "the stray lost its parent", func() bool {
		p, ok := readProc(all[2])
		return ok && p.parent == guardianPID()
	})

	if err := e.Resize(0, cores(1)); err != nil {
		t.Fatal(err)
	}
	for _, pid := range all {
		if got := affinities(pid); got != fmt.Sprint(cpus[1]) {
			t.Errorf("process %d is bound to %s, want CPU %d", pid, got, cpus[1])
		}
	}
	if got := read(t, j.ControlPath); got != "1 1\n" {
		t.Errorf("control file %q", got)
	}

	if err := e.Pause(0); err != nil {
		t.Fatal(err)
	}
	for _, pid := range all {
		// A process in state D waits for a child that was stopped between vfork and exec.
		eventually(t, fmt.Sprintf("process %d is stopped", pid), func() bool { s := state(pid); return s == "T" || s == "D" })
	}
	if err := e.Resume(0, cores(0)); err != nil {
		t.Fatal(err)
	}
	for _, pid := range all {
		eventually(t, fmt.Sprintf("process %d goes on", pid), func() bool { return state(pid) != "T" })
		if got := affinities(pid); got != fmt.Sprint(cpus[0]) {
			t.Errorf("process %d is bound to %s, want CPU %d", pid, got, cpus[0])
		}
	}
	if err := e.Stop(0); err != nil {
		t.Fatal(err)
	}
}

func TestResizeBindsAllThreads(t *testing.T) {
	cpus := twoCPUs(t)
	// The victim process has many threads; here it only waits.
	j := launch.Job{Argv: []string{"/proc/self/exe"}, Env: []string{victimEnv + "=" + waitOnly}}
	e := open(t, Options{}, j)
	if err := e.Start(0, cores(0, 1)); err != nil {
		t.Fatal(err)
	}
	pid := e.Programs(0)[0].id.pid
	eventually(t, "several threads", func() bool { return len(numbers(fmt.Sprintf("/proc/%d/task", pid))) > 3 })
	for _, core := range []int{0, 1, 0} {
		if err := e.Resize(0, cores(core)); err != nil {
			t.Fatal(err)
		}
		if got := affinities(pid); got != fmt.Sprint(cpus[core]) {
			t.Errorf("bound to %s, want CPU %d", got, cpus[core])
		}
	}
}

func TestStrayDiesWithItsJob(t *testing.T) {
	path := filepath.Join(t.TempDir(), "stray")
	wait := fmt.Sprintf("while ! test -s %s; do sleep 0.01; done; ", path)
	for _, test := range []struct {
		name, script string
		stop         bool
		want         scheduler.State
	}{
		{"exits", "exit 0", false, scheduler.Finished},
		{"stopped", "sleep 1000", true, scheduler.Stopped},
	} {
		t.Run(test.name, func(t *testing.T) {
			os.Remove(path)
			// The stray process would keep the output of the script open.
			e := open(t, Options{Grace: 50 * time.Millisecond}, sh(stray(path)+wait+test.script))
			start(t, e, 0)
			pid := pidIn(t, path)
			if test.stop {
				if err := e.Stop(0); err != nil {
					t.Fatal(err)
				}
			}
			if end := next(t, e); end.State != test.want {
				t.Error(end)
			}
			if alive(pid) {
				t.Error("the stray lives")
			}
		})
	}
}

// A process that left its session, cleared its environment and lost its parent ends with its job. Without control
// groups it ends with the engine.
func TestFoundlingDies(t *testing.T) {
	for _, groups := range []bool{true, false} {
		t.Run(fmt.Sprintf("groups=%t", groups), func(t *testing.T) {
			setGroups(t, groups)
			path := filepath.Join(t.TempDir(), "foundling")
			e := open(t, Options{}, sh(foundling(path)+fmt.Sprintf("while ! test -s %s; do sleep 0.01; done", path)))
			start(t, e, 0)
			pid := pidIn(t, path)
			group := e.Programs(0)[0].group
			if end := next(t, e); end.State != scheduler.Finished {
				t.Error(end)
			}
			if !groups {
				if err := e.Close(); err != nil {
					t.Fatal(err)
				}
			} else if _, err := os.Stat(group.path); !errors.Is(err, fs.ErrNotExist) {
				t.Error("the group is still there:", err)
			}
			if alive(pid) {
				t.Error("it lives")
			}
		})
	}
}

// Such a process is paused with its job and bound to the job's cores.
func TestFoundlingIsPaused(t *testing.T) {
	cpus := twoCPUs(t)
	setGroups(t, true)
	path := filepath.Join(t.TempDir(), "foundling")
	e := open(t, Options{}, sh(foundling(path)+"sleep 1000; :"))
	if err := e.Start(0, cores(0)); err != nil {
		t.Fatal(err)
	}
	pid := pidIn(t, path)
	if err := e.Pause(0); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is stopped", func() bool { s := state(pid); return s == "T" || s == "D" })
	if err := e.Resume(0, cores(1)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it goes on", func() bool { return state(pid) != "T" })
	if got := affinities(pid); got != fmt.Sprint(cpus[1]) {
		t.Errorf("bound to %s, want CPU %d", got, cpus[1])
	}
	if err := e.Stop(0); err != nil {
		t.Fatal(err)
	}
}

// setGroups enables or disables control groups for a test. It skips a test that needs them on a system without them.
func setGroups(t *testing.T, groups bool) {
	t.Helper()
	before := noGroups.Load()
	if groups && groupHome() == "" {
		t.Skip("needs a control group (version 2) that can be written")
	}
	noGroups.Store(!groups)
	t.Cleanup(func() { noGroups.Store(before) })
}

func TestGroupFolder(t *testing.T) {
	const hybrid = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup " +
		"rw,cpu\n"
	for _, test := range []struct{ name, own, mounts, want string }{
		{"unified", "0::/user.slice/a.scope\n", "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n",
			"/sys/fs/cgroup/user.slice/a.scope"},
		{"beside version 1", "9:pids:/x\n0::/\n", hybrid + "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"/sys/fs/cgroup/unified"},
		{"a part is mounted", "0::/pod/a/b\n", "30 23 0:26 /pod/a /cg rw - cgroup2 cgroup2 rw\n", "/cg/b"},
		{"another part", "0::/podling\n", "30 23 0:26 /pod /cg rw - cgroup2 cgroup2 rw\n", ""},
		{"version 1 alone", "9:pids:/x\n", hybrid, ""},
		{"not mounted", "0::/\n", hybrid, ""},
	} {
		if got := groupFolder(test.own, test.mounts); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// Somebody else may have written the registry. A group in it is used only if it is in a file system of control groups.
func TestSweepSparesFoldersThatAreNoGroups(t *testing.T) {
	dir := t.TempDir()
	const run = "0123456789abcdef"
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	group := filepath.Join(dir, groupPrefix+run+".1.0")
	path := filepath.Join(dir, "registry")
	if err := errors.Join(os.Mkdir(group, 0o777),
		os.WriteFile(filepath.Join(group, "cgroup.procs"), fmt.Appendln(nil, cmd.Process.Pid), 0o666),
		os.WriteFile(path, fmt.Appendf(nil, registryHeader+groupsLine, run, bootID(), dir), 0o666)); err != nil {
		t.Fatal(err)
	}
	if killed, err := Sweep(path); err != nil || killed != nil || !alive(cmd.Process.Pid) {
		t.Errorf("killed %v, %v", killed, err)
	}
}

// A process that exits has no environment any more, but it exists until its memory is released.
func TestStrayWithMuchMemoryDiesWithItsJob(t *testing.T) {
	dir := t.TempDir()
	// It keeps the input in memory, because nobody reads its output.
	hoard := fmt.Sprintf(`(setsid sh -c 'mkfifo %[1]s/none; echo $$ >%[1]s/stray; exec dd if=/dev/zero bs=256M count=1 <>%[1]s/none >&0 2>%[1]s/errors' &) ; `, dir)
	e := open(t, Options{}, sh(hoard+fmt.Sprintf("while ! test -e %s/go; do sleep 0.01; done", dir)))
	start(t, e, 0)
	pid := pidIn(t, dir+"/stray")
	eventually(t, "memory", func() bool {
		statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
		if err != nil {
			return false
		}
		var size, resident int
		_, err = fmt.Sscan(string(statm), &size, &resident)
		return err == nil && resident*os.Getpagesize() >= 256<<20
	})
	if err := os.WriteFile(dir+"/go", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if end := next(t, e); end.State != scheduler.Finished {
		t.Error(end)
	}
	if alive(pid) {
		t.Error("the stray lives")
	}
}

// startVictim starts a process that runs jobs. It also returns the folder, the processes of the jobs and the guardian.
func startVictim(t *testing.T, env ...string) (cmd *exec.Cmd, dir string, jobs []int, guardian int) {
	t.Helper()
	dir = t.TempDir()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), victimEnv+"="+dir), env...)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for _, name := range []string{"stray", "unmarked", "main", "paused", "foundling"} {
		jobs = append(jobs, pidIn(t, dir+"/"+name))
	}
	return cmd, dir, jobs, pidIn(t, dir+"/guardian")
}

func TestKilledTfexpLeavesNothing(t *testing.T) {
	for _, groups := range []string{"", "none"} {
		cmd, _, jobs, guardian := startVictim(t, victimGroups+"="+groups)
		if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		for _, pid := range append(jobs, guardian) {
			eventually(t, fmt.Sprintf("process %d is dead", pid), func() bool { return !alive(pid) })
		}
	}
}

func TestSweep(t *testing.T) {
	cmd, dir, jobs, guardian := startVictim(t)
	// Processes that only the guardian would end continue, because the guardian is killed too.
	if err := errors.Join(syscall.Kill(guardian, syscall.SIGSTOP), syscall.Kill(cmd.Process.Pid, syscall.SIGKILL),
		syscall.Kill(guardian, syscall.SIGKILL)); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	stray := jobs[0]
	eventually(t, "the programs are dead", func() bool { return !alive(jobs[2]) && !alive(jobs[3]) })
	if !alive(stray) {
		t.Fatal("the stray died without a sweep: this test shows nothing")
	}
	killed, err := Sweep(dir + "/registry")
	if err != nil || len(killed) == 0 {
		t.Fatal(killed, err)
	}
	if alive(stray) {
		t.Error("the stray lives after the sweep of", killed)
	}
	if killed, err := Sweep(dir + "/registry"); err != nil || killed != nil {
		t.Error("the registry is still there:", killed, err)
	}
	for _, pid := range []int{jobs[1], jobs[4]} {
		if alive(pid) {
			t.Errorf("process %d lives after the sweep of %v", pid, killed)
		}
	}
}

// tfexp and its guardian are killed together at a random time. Meanwhile jobs start processes that leave their session,
// clear their environment, close their files, change their folder and lose their parent. After a sweep no process is
// left.
func TestKilledTogetherLeavesNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	kills, left, strays := need.Cases(4, 100), 0, 0
	for kill := range kills {
		dir := t.TempDir()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), victimEnv+"="+dir, victimGroups+"=none", victimDaemons+"=1")
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		guardian := pidIn(t, dir+"/guardian")
		time.Sleep(time.Duration(random.Int64N(int64(400 * time.Millisecond))))
		// Both are stopped first, so that neither notices the end of the other.
		if err := errors.Join(syscall.Kill(guardian, syscall.SIGSTOP), syscall.Kill(cmd.Process.Pid, syscall.SIGKILL),
			syscall.Kill(guardian, syscall.SIGKILL)); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		killed, err := Sweep(dir + "/registry")
		if err != nil {
			t.Fatal(err)
		}
		strays += len(killed)
		if running := processesOf(dir); len(running) > 0 {
			left++
			t.Errorf("kill %d: after the sweep of %d processes runs %q", kill, len(killed), running)
		}
		for _, pid := range numbers("/proc") { // end the processes even if the test fails
			if line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)); strings.Contains(string(line), dir) {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	if strays < kills {
		t.Errorf("%d kills left %d processes to sweep: this test shows nothing", kills, strays)
	}
	t.Logf("%d kills, %d swept processes, %d kills with leftovers", kills, strays, left)
}

// processesOf returns the processes whose command line contains a folder.
func processesOf(dir string) (found []string) {
	for _, pid := range numbers("/proc") {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if p, ok := readProc(pid); ok && !p.zombie && strings.Contains(string(line), dir) {
			found = append(found, fmt.Sprintf("%d %q", pid, line))
		}
	}
	return found
}

// A resource limit marks processes as belonging to one run only.
func TestLimitMark(t *testing.T) {
	const run, other = "0123456789abcdef", "1123456789abcdef"
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	if hasLimitMark(cmd.Process.Pid, run) {
		t.Error("a stranger has the mark")
	}
	limit := &unix.Rlimit{Cur: limitMark(run), Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_LOCKS, limit, nil); err != nil {
		t.Fatal(err)
	}
	if !hasLimitMark(cmd.Process.Pid, run) {
		t.Error("it has no mark")
	}
	for _, name := range []string{other, "", "0", "fedcba9876543210", "0123456789abcd\nf"} {
		if hasLimitMark(cmd.Process.Pid, name) || hasLimitMark(os.Getpid(), name) {
			t.Errorf("it is of run %q", name)
		}
	}
}

func TestSweepSparesStrangers(t *testing.T) {
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	pid := cmd.Process.Pid
	stranger, ok := readProc(pid)
	if !ok {
		t.Fatal("no start time")
	}
	began := stranger.start
	header := fmt.Sprintf(registryHeader, "0123456789abcdef", bootID())
	for _, test := range []struct {
		name, content string
		dies          bool
	}{
		{"the number was used again", header + fmt.Sprintf("+ %d %d\n", pid, began-1), false},
		{"it ended", header + fmt.Sprintf("+ %d %d\n- %d %d\n", pid, began, pid, began), false},
		{"before a reboot", fmt.Sprintf(registryHeader, "0123456789abcdef", "another") +
			fmt.Sprintf("+ %d %d\n", pid, began), false},
		{"cut off", header + fmt.Sprintf("+ %d", pid), false},
		{"empty", "", false},
		{"it is the job", header + fmt.Sprintf("+ %d %d\n", pid, began), true},
	} {
		path := filepath.Join(t.TempDir(), "registry")
		if err := os.WriteFile(path, []byte(test.content), 0o666); err != nil {
			t.Fatal(err)
		}
		killed, err := Sweep(path)
		if err != nil || (len(killed) > 0) != test.dies || alive(pid) == test.dies {
			t.Errorf("%s: killed %v, %v", test.name, killed, err)
		}
	}
}

// A file that is not a registry is set aside with a warning. The run continues.
func TestGarbledRegistry(t *testing.T) {
	for name, garble := range map[string]func(path string) error{
		"text":   func(path string) error { return os.WriteFile(path, []byte("something else\n"), 0o666) },
		"zeros":  func(path string) error { return os.WriteFile(path, make([]byte, 1<<17), 0o666) },
		"folder": func(path string) error { return os.Mkdir(path, 0o777) },
		"fifo":   func(path string) error { return syscall.Mkfifo(path, 0o666) },
	} {
		dir := t.TempDir()
		path := session{engine.Run{Dir: dir}}.registry(0)
		if err := garble(path); err != nil {
			t.Fatal(err)
		}
		said := ""
		_, killed, err := openSession(engine.Run{Dir: dir, Warn: func(text string) { said += text }})
		if err != nil || killed != nil || !strings.Contains(said, "set aside as "+path+".damaged") {
			t.Errorf("%s: %v, %v, said %q", name, killed, err, said)
		}
		said = ""
		if _, _, err := openSession(engine.Run{Dir: dir, Warn: func(text string) { said += text }}); err != nil ||
			said != "" {
			t.Errorf("%s, the second time: %v, said %q", name, err, said)
		}
	}
}

// If the kernel does not list children, all processes are searched. The number of another live process must not be
// mistaken for a child.
func TestDescendantsWithoutChildLists(t *testing.T) {
	path := filepath.Join(t.TempDir(), "child")
	e := open(t, Options{}, sh("sh -c 'echo $$ >"+path+"; exec sleep 1000'; :"))
	start(t, e, 0)
	pid := pidIn(t, path)
	root := e.Programs(0)[0].id.pid
	if got := descendantsIn(processes(), map[int]bool{root: true}); len(got) != 1 || got[0] != pid {
		t.Errorf("descendants of %d: %v, want %d", root, got, pid)
	}
	if got := descendants([]int{root}); len(got) != 2 {
		t.Errorf("descendants with the root: %v", got)
	}
}
