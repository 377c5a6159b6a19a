//go:build unix

package process

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/results/folder"
)

// guardianEnv marks a process as the guardian; its value is the run.
const guardianEnv = "TFEXP_GUARDIAN"

// hooked is set once Main has been called.
var hooked atomic.Bool

// guard is this process's side of its guardian.
var guard guardian

// guardian is a second process, made from the same program, that reads from a
// pipe which jobs are live. The pipe ends when this process does, in whatever
// way; the guardian then kills what is left of the jobs.
type guardian struct {
	mu   sync.Mutex // guards all
	run  string     // names this run of tfexp in the jobs' marks
	pid  int        // 0 before the first start
	pipe *os.File
	live []ident
}

// guardianPatience is how long the guardian may take to start.
const guardianPatience = 10 * time.Second

// ensure starts the guardian if there is none, and returns the name of the run.
func (g *guardian) ensure() (run string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case os.Getenv(guardianEnv) != "":
		return "", errors.New("start guardian: this process was started as one, but its main does not call " +
			"process.Main first")
	case !hooked.Load():
		return "", errors.New("start guardian: main (in tests, TestMain) must call process.Main first")
	}
	if g.pid == 0 {
		err = g.start()
	} else {
		err = g.tell("") // starts another if this one was killed
	}
	if err != nil {
		return "", fmt.Errorf("start guardian: %w", err)
	}
	return g.run, nil
}

// start makes a guardian and waits until it is ready. mu must be held.
func (g *guardian) start() error {
	if g.run == "" {
		var name [8]byte
		rand.Read(name[:])
		g.run = hex.EncodeToString(name[:])
	}
	self, err := ownProgram()
	if err != nil {
		return err
	}
	in, pipe, err := os.Pipe()
	if err != nil {
		return err
	}
	defer in.Close()
	ready, out, err := os.Pipe()
	if err != nil {
		return errors.Join(err, pipe.Close())
	}
	defer ready.Close()
	defer out.Close()
	null, err := folder.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return errors.Join(err, pipe.Close())
	}
	defer null.Close()
	// Its name is not tfexp's: who kills tfexp by name must not hit it. It
	// holds no file or folder of the run, and its own session keeps Ctrl-C from it.
	pid, err := children.add(func() (int, error) {
		return syscall.ForkExec(self, []string{"job-guardian"}, &syscall.ProcAttr{
			Dir: "/", Env: []string{guardianEnv + "=" + g.run},
			Files: []uintptr{in.Fd(), out.Fd(), null.Fd()},
			Sys:   &syscall.SysProcAttr{Setsid: true},
		})
	})
	if err != nil {
		return errors.Join(err, pipe.Close())
	}
	g.pid, g.pipe = pid, pipe
	out.Close()
	ready.SetReadDeadline(time.Now().Add(guardianPatience))
	if _, err := io.ReadFull(ready, make([]byte, len(guardianReady))); err != nil {
		syscall.Kill(pid, syscall.SIGKILL)
		g.bury()
		return fmt.Errorf("it does not answer: %w", err)
	}
	if _, err := fmt.Fprintf(g.pipe, groupsLine, groupHome()); err != nil {
		return err
	}
	for _, id := range g.live {
		if _, err := fmt.Fprintf(g.pipe, "+ %d %d\n", id.pid, id.start); err != nil {
			return err
		}
	}
	return nil
}

// bury forgets a guardian that is dead or dying. mu must be held.
func (g *guardian) bury() {
	g.pipe.Close()
	children.reap(g.pid)
	g.pid = 0
}

// tell sends one line to the guardian, to a new one if the old one is gone.
// mu must be held.
func (g *guardian) tell(line string) error {
	if _, err := fmt.Fprintln(g.pipe, line); err == nil {
		return nil
	}
	// Only its death breaks the pipe.
	g.bury()
	return g.start()
}

// watch and forget tell the guardian of a job's program. That a guardian
// cannot be told is no reason to end a job: the kernel and the registry are
// still there.
func (g *guardian) watch(id ident) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.live = append(g.live, id)
	if g.pid != 0 {
		g.tell(fmt.Sprintf("+ %d %d", id.pid, id.start))
	}
}

func (g *guardian) forget(id ident) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.live = slices.DeleteFunc(g.live, func(l ident) bool { return l == id })
	if g.pid != 0 {
		g.tell(fmt.Sprintf("- %d %d", id.pid, id.start))
	}
}

const guardianReady = "ready"

// beGuardian reads the live jobs from in until it ends, then kills what is
// left of the run, and returns the exit status.
func beGuardian(run string, in io.Reader, out io.WriteCloser) int {
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	setName("job-guardian")
	io.WriteString(out, guardianReady)
	out.Close()

	var r roll
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		r.record(lines.Text())
	}
	r.killLeft(run, true)
	return 0
}

// roll is what has to end when tfexp is gone.
type roll struct {
	live []ident // programs
	home string  // the folder of their groups; empty: they have none
}

// groupsLine names the folder of the groups in what record reads.
const groupsLine = "groups in %q\n"

// record applies a line: "+ pid start" for a program that began, "- pid start" for one that ended, or groupsLine.
func (r *roll) record(line string) {
	var home string
	if _, err := fmt.Sscanf(line+"\n", groupsLine, &home); err == nil {
		r.home = home
		return
	}
	var id ident
	if _, err := fmt.Sscanf(strings.TrimLeft(line, "+- "), "%d %d", &id.pid, &id.start); err != nil {
		return
	}
	r.live = slices.DeleteFunc(r.live, func(l ident) bool { return l == id })
	if strings.HasPrefix(line, "+") {
		r.live = append(r.live, id)
	}
}
