package main

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/results/record"
)

// hostileFile is a small simulated experiment.
const hostileFile = `
experiment "e" { replicates = 1 }
job "train" {
  command = ["train"]
  epochs  = 1
  runtime { epoch = "1h" }
}
workload "w" {
  submit {
    job   = job.train
    count = 2
  }
}
hardware "h" {
  engine  = "simulated"
  threads = 1
}
policy "a" { order = "fcfs" }
policy "b" { order = "sjf" }
compare "mean_jct" { baseline = policy.a }
`

// In a folder of results from another user, any file, or a file that tfexp would create, may be a link. No command
// writes, truncates or creates the target of the link.
func TestHostileFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs every command in a damaged folder")
	}
	s := inSandbox(t, hostileFile)
	s.run()
	var names []string
	err := filepath.WalkDir(s.out, func(path string, _ fs.DirEntry, err error) error {
		name, _ := filepath.Rel(filepath.Join(s.out, "e"), path)
		if names = append(names, name); filepath.Base(path) == record.CacheFile {
			names = append(names, name+".broken", name+".lock")
		}
		return err
	})
	if err != nil || len(names) < 20 {
		t.Fatal(names, err)
	}
	for _, name := range names[2:] {
		if filepath.Ext(name) != "" {
			names = append(names, filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+".tmp"), name+".damaged")
		}
	}
	names = append(names, record.LockFile, "processes.json", "array", "array/submitted.json", ".scratch-1", "figures")
	precious := filepath.Join(s.dir, "precious")
	for _, dangling := range []bool{false, true} {
		for i, name := range names[2:] {
			if *damages != 0 && i%20 != 0 && name != record.LockFile { // "make damage" tries all commands
				continue
			}
			path := filepath.Join(s.out, "e", name)
			if err := errors.Join(os.RemoveAll(s.out), os.RemoveAll(precious), os.MkdirAll(precious, 0o755),
				os.WriteFile(filepath.Join(precious, "file"), []byte("precious"), 0o644)); err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 { // otherwise only the link exists
				s.run()
			}
			target := filepath.Join(precious, "file")
			switch {
			case dangling:
				target = filepath.Join(precious, "new")
			case filepath.Ext(name) == "" && name != record.LockFile:
				target = precious
			}
			if err := errors.Join(os.RemoveAll(path), os.MkdirAll(filepath.Dir(path), 0o755), os.Symlink(target, path)); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{{"run", "--quiet", "--out", s.out, s.file}, {"resume", "--quiet", s.out},
				{"plot", "--format", "pdf", s.out}, {"report", s.out}, {"status", s.out}} {
				inProcess(args...)
			}
			raw, err := os.ReadFile(filepath.Join(precious, "file"))
			left, _ := os.ReadDir(precious)
			if err != nil || string(raw) != "precious" || len(left) != 1 {
				t.Errorf("%s leads to %s: that holds %q, and beside it are %v", name, target, raw, left)
			}
		}
	}
}

// asTfexp returns a path to this test program. A process that is started from this path runs as the command tfexp.
func asTfexp(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tfexp")
	if err := os.Symlink(self, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// inNamespaces returns a command that runs a shell script in new namespaces. The test is skipped if these are not
// allowed.
func inNamespaces(t *testing.T, flags, script string, args ...string) *exec.Cmd {
	t.Helper()
	if err := exec.Command("unshare", strings.Fields(flags)[0], "true").Run(); err != nil {
		t.Skipf("needs root, and unshare of util-linux: %v", err)
	}
	return exec.Command("unshare", append(strings.Fields(flags), append([]string{"sh", "-ec", script, "sh"}, args...)...)...)
}

// Without /proc, experiments can be simulated; doctor and a real run name the missing facts.
func TestWithoutProc(t *testing.T) {
	s := inSandbox(t, hostileFile)
	s.write("real.hcl", strings.NewReplacer(`"simulated"`, `"process"`, `["train"]`, `["true"]`, `runtime { epoch = "1h" }`, "").
		Replace(hostileFile))
	out, err := inNamespaces(t, "--mount", `mount -t tmpfs none /proc; cd "$2"; "$1" run --quiet e.hcl; "$1" doctor; ! "$1" run --quiet --out real real.hcl`,
		asTfexp(t), s.dir).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	contains(t, "what is said", string(out), "b and a have the same mean JCT: 90 min", "there is no /proc, by which programs are paused and ended",
		"mount it: mount -t proc proc /proc", "Error: sample")
}

// If the loopback has no IPv4 address, the page uses IPv6. Without any address, an error says so.
func TestServeOnIPv6(t *testing.T) {
	const without4 = `ip link set lo up; ip address del 127.0.0.1/8 dev lo; `
	s := inSandbox(t, hostileFile)
	out, err := inNamespaces(t, "--net", without4+`cd "$2"; timeout 60 "$1" serve --port 0 . >out 2>&1 &
i=0; until grep -qs http "$2/out" || [ $i = 100 ]; do sleep 0.1; i=$((i+1)); done; kill $!; cat "$2/out"`, asTfexp(t), s.dir).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "http://[::1]:") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = inNamespaces(t, "--net", without4+`ip address del ::1/128 dev lo; ! timeout 60 "$1" serve --port 0 "$2"`, asTfexp(t), s.dir).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "neither 127.0.0.1 nor ::1") || strings.Contains(string(out), "another") {
		t.Errorf("%v\n%s", err, out)
	}
}

// A terminal that reports a giant size must not cause large memory use.
func TestTopInAGiantWindow(t *testing.T) {
	if testing.Short() {
		t.Skip("looks at the memory of a program, of which the race detector needs more")
	}
	s := inSandbox(t, hostileFile)
	s.run()
	screen, tty := terminal(t, unix.Winsize{Row: 65535, Col: 65535})
	cmd := exec.Command(asTfexp(t), "top", s.out)
	cmd.Env = append(os.Environ(), noRaceSleep, "TERM=xterm-256color")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err := cmd.Start()
	tty.Close()
	if err != nil {
		t.Fatal(err)
	}
	drawn := make(chan bool, 1)
	go func() {
		in := bufio.NewReader(screen)
		text := ""
		for !strings.Contains(text, "tfexp top") {
			line, err := in.ReadString('p')
			if text += line; err != nil {
				drawn <- false
				return
			}
		}
		drawn <- true
		io.Copy(io.Discard, in)
	}()
	select {
	case ok := <-drawn:
		if !ok {
			t.Error("nothing was drawn")
		}
	case <-time.After(time.Minute):
		t.Error("nothing is drawn")
	}
	// Only another size sends another message.
	_ = unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 65534, Col: 65534})
	time.Sleep(200 * time.Millisecond)
	screen.WriteString("q")
	_ = cmd.Wait()
	if rss := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss; rss > 300<<10 {
		t.Errorf("it took %d MiB", rss>>10)
	}
}
