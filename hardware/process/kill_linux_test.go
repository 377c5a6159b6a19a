package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// twoCPUs skips a test where there is only one core to use.
func twoCPUs(t *testing.T) []int {
	t.Helper()
	cpus := hardware.AllowedCPUs()
	if len(cpus) < 2 {
		t.Skip("needs two cores")
	}
	return cpus
}

// affinities returns the CPU lists of all threads of a process, each once.
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

// state returns the letter of a process's state, see proc_pid_stat(5).
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
		return ok && p.parent == os.Getpid()
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
		// In state D a process waits for a child that was stopped between vfork and exec.
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
	// A victim is a program of many threads; it does nothing but wait here.
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
			// The script's own output would be held open by the stray.
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

// A process that exits has no environment any more, but is there until its memory is given back.
func TestStrayWithMuchMemoryDiesWithItsJob(t *testing.T) {
	dir := t.TempDir()
	// It holds what it read while nobody reads what it writes.
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

// startVictim returns a process that runs jobs, and its jobs' processes.
func startVictim(t *testing.T) (cmd *exec.Cmd, dir string, jobs []int, guardian int) {
	t.Helper()
	dir = t.TempDir()
	cmd = exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victimEnv+"="+dir)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for _, name := range []string{"stray", "unmarked", "main", "paused"} {
		jobs = append(jobs, pidIn(t, dir+"/"+name))
	}
	return cmd, dir, jobs, pidIn(t, dir+"/guardian")
}

func TestKilledTfexpLeavesNothing(t *testing.T) {
	cmd, _, jobs, guardian := startVictim(t)
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	for _, pid := range append(jobs, guardian) {
		eventually(t, fmt.Sprintf("process %d is dead", pid), func() bool { return !alive(pid) })
	}
}

func TestSweep(t *testing.T) {
	cmd, dir, jobs, guardian := startVictim(t)
	// Without its guardian, what the kernel does not kill is left.
	for _, pid := range []int{guardian, cmd.Process.Pid} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
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
	// It has no mark, and its leader is dead: it might be a stranger's.
	syscall.Kill(jobs[1], syscall.SIGKILL)
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

// What is no registry is set aside, with a warning, and does not keep a run from its work.
func TestGarbledRegistry(t *testing.T) {
	for name, garble := range map[string]func(path string) error{
		"text":   func(path string) error { return os.WriteFile(path, []byte("something else\n"), 0o666) },
		"zeros":  func(path string) error { return os.WriteFile(path, make([]byte, 1<<17), 0o666) },
		"folder": func(path string) error { return os.Mkdir(path, 0o777) },
		"fifo":   func(path string) error { return syscall.Mkfifo(path, 0o666) },
	} {
		dir := t.TempDir()
		path := site{engine.Run{Dir: dir}}.registry()
		if err := garble(path); err != nil {
			t.Fatal(err)
		}
		said := ""
		_, killed, err := openSite(engine.Run{Dir: dir, Warn: func(text string) { said += text }})
		if err != nil || killed != nil || !strings.Contains(said, "set aside as "+path+".damaged") {
			t.Errorf("%s: %v, %v, said %q", name, killed, err, said)
		}
		said = ""
		if _, _, err := openSite(engine.Run{Dir: dir, Warn: func(text string) { said += text }}); err != nil || said != "" {
			t.Errorf("%s, the second time: %v, said %q", name, err, said)
		}
	}
}

// The number of a live process must not be mistaken when the kernel lists no
// children: all processes are searched then.
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
