//go:build unix

package process

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
)

// guardianEnv is the environment variable that makes a process a guardian. Its value is the name of the run.
const guardianEnv = "TFEXP_GUARDIAN"

// hooked is true once Main has been called.
var hooked atomic.Bool

// guard is the guardian of this process.
var guard guardian

// guardian is a second process of the same program that kills the processes of jobs when tfexp ends. It notices the
// end, however it happens, because its socket closes.
//
// On Linux it is also the parent of the jobs' programs. It then inherits processes that a job starts and leaves
// without a parent. Such a process descends from the guardian even if it leaves its session, clears its environment
// and forks twice. When the guardian is killed, the kernel kills the programs, and tfexp inherits the processes that
// they leave.
type guardian struct {
	mu   sync.Mutex // guards all fields; locked before the mutex of children
	run  string     // name of this run of tfexp, in the marks of jobs
	link *link      // nil before the first start
	live []processID
}

// link is the connection to a guardian that was started.
type link struct {
	pid     int
	conn    *net.UnixConn
	answers chan answer // results of requests; closed when the guardian is gone
	gone    bool        // guarded by children.mu; the process number may then be reused
}

// message is a message to the guardian, with one of the fields set. Its length is sent before it, together with open
// files.
type message struct {
	Line string // a line for roll.record; not answered
	Fork *fork  // answered
	Reap int    // number of an exited program to reap; answered
}

// fork is a program to start. The files sent with it are its input, its two outputs and, if it has one, its control
// group.
type fork struct {
	CPUs         []int
	Program, Dir string
	Argv, Env    []string
}

// answer is a message from the guardian: it is ready, a program has exited, or the result of a request.
type answer struct {
	Ready, Exited bool
	PID           int
	Errno         syscall.Errno
	Problem       string // an error without an Errno
	Status        syscall.WaitStatus
	Usage         syscall.Rusage
}

var errGuardianGone = errors.New("the guardian of the jobs was killed")

// guardianPatience is how long the guardian may take to start.
const guardianPatience = 10 * time.Second

// ensure starts the guardian if it is not running, and returns the name of the run.
func (g *guardian) ensure() (run string, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case os.Getenv(guardianEnv) != "":
		return "", errors.New("start guardian: this process is a guardian, but its main does not call " +
			"process.Main first")
	case !hooked.Load():
		return "", errors.New("start guardian: main (in tests, TestMain) must call process.Main first")
	}
	if err = g.tell(""); err != nil {
		return "", fmt.Errorf("start guardian: %w", err)
	}
	return g.run, nil
}

// start starts a guardian and waits until it is ready. mu must be held.
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
	syscall.ForkLock.RLock() // no program may inherit the socket, because it would keep the socket open
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return err
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "guardian"), os.NewFile(uintptr(pair[1]), "guardian")
	defer ours.Close()
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return err
	}
	l := &link{conn: conn.(*net.UnixConn), answers: make(chan answer)}
	null, err := folder.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	defer null.Close()
	// The guardian has another name than tfexp, so that killing tfexp by name does not kill it. It keeps no file or
	// folder of the run open. It has a separate session, so that Ctrl-C does not reach it.
	if err = folder.Try("fork", "job-guardian"); err == nil {
		children.mu.Lock() // so that it is not taken for an orphan
		l.pid, err = syscall.ForkExec(self, []string{"job-guardian"}, &syscall.ProcAttr{
			Dir: "/", Env: []string{guardianEnv + "=" + g.run}, Files: []uintptr{theirs.Fd(), null.Fd(), null.Fd()},
			Sys: &syscall.SysProcAttr{Setsid: true},
		})
		if err == nil {
			g.link = l
		}
		children.mu.Unlock()
	}
	if err != nil {
		return errors.Join(err, conn.Close())
	}
	theirs.Close()
	conn.SetReadDeadline(time.Now().Add(guardianPatience))
	answers := gob.NewDecoder(conn)
	var first answer
	if err := answers.Decode(&first); err != nil || !first.Ready {
		l.bury()
		return fmt.Errorf("it does not answer: %w", err)
	}
	conn.SetReadDeadline(time.Time{})
	go l.listen(answers)
	if err := l.send(message{Line: fmt.Sprintf(strings.TrimSpace(groupsLine), groupHome())}); err != nil {
		return err
	}
	for _, id := range g.live {
		if err := l.send(message{Line: fmt.Sprintf("+ %d %d", id.pid, id.start)}); err != nil {
			return err
		}
	}
	return nil
}

// listen receives the guardian's answers until the guardian is gone.
func (l *link) listen(answers *gob.Decoder) {
	for {
		var a answer
		if answers.Decode(&a) != nil {
			l.bury()
			return
		}
		if a.Exited {
			children.exit(a.PID)
			continue
		}
		if a.PID > 0 && a.Errno == 0 && a.Problem == "" {
			children.adopt(a.PID, l) // before it can exit or be taken for an orphan
		}
		l.answers <- a
	}
}

// bury ends a guardian that is dead or does not answer. Its programs become children of this process.
func (l *link) bury() {
	children.mu.Lock()
	l.gone = true
	children.mu.Unlock()
	syscall.Kill(l.pid, syscall.SIGKILL)
	wait(l.pid, nil, nil) // after this, its children are children of this process
	l.conn.Close()
	children.lose(l)
	close(l.answers)
}

// send sends a message with open files.
func (l *link) send(m message, files ...int) error {
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(m); err != nil {
		return err
	}
	var rights []byte
	if len(files) > 0 {
		rights = syscall.UnixRights(files...)
	}
	if _, _, err := l.conn.WriteMsgUnix(binary.LittleEndian.AppendUint32(nil, uint32(b.Len())), rights, nil); err != nil {
		return err
	}
	_, err := l.conn.Write(b.Bytes())
	return err
}

// receive receives a message with open files.
func receive(conn *net.UnixConn) (m message, files []int, err error) {
	head, rights := make([]byte, 4), make([]byte, 256)
	n, nRights, _, _, err := conn.ReadMsgUnix(head, rights)
	if err == nil && n == 0 {
		err = io.EOF
	}
	if err != nil {
		return m, nil, err
	}
	if controls, err := syscall.ParseSocketControlMessage(rights[:nRights]); err == nil && len(controls) > 0 {
		files, _ = syscall.ParseUnixRights(&controls[0])
	}
	if _, err = io.ReadFull(conn, head[n:]); err == nil {
		err = gob.NewDecoder(bufio.NewReader(io.LimitReader(conn, int64(binary.LittleEndian.Uint32(head))))).Decode(&m)
	}
	return m, files, err
}

// ask sends a request and waits for the answer. mu must be held.
func (g *guardian) ask(m message, files ...int) (answer, error) {
	if g.link == nil || g.link.send(m, files...) != nil {
		return answer{}, errGuardianGone
	}
	a, ok := <-g.link.answers
	if !ok {
		return a, errGuardianGone
	}
	return a, nil
}

// tell sends a line to the guardian. If the guardian is gone, it starts a new one. mu must be held.
func (g *guardian) tell(line string) error {
	// Sending fails only if the guardian has died.
	if g.link == nil || g.link.send(message{Line: line}) != nil {
		return g.start()
	}
	return nil
}

// fork makes the guardian start a program with files for its input and outputs. group is the file of its control
// group, or -1.
func (g *guardian) fork(f fork, standard []uintptr, group int) (pid int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	files := schema.Each(standard, func(fd uintptr) int { return int(fd) })
	if group >= 0 {
		files = append(files, group)
	}
	if f.Dir == "" {
		if f.Dir, err = os.Getwd(); err != nil { // the working directory was removed
			f.Dir = fmt.Sprintf("/proc/%d/cwd", os.Getpid())
		}
	}
	if f.Dir, err = filepath.Abs(f.Dir); err != nil {
		return 0, err
	}
	a, err := g.ask(message{Fork: &f}, files...)
	if err != nil {
		if err = g.start(); err == nil {
			a, err = g.ask(message{Fork: &f}, files...)
		}
	}
	switch {
	case err != nil:
		return 0, err
	case a.Problem != "":
		return 0, errors.New(a.Problem)
	case a.Errno != 0:
		return 0, a.Errno
	}
	return a.PID, nil
}

// watch and forget inform the guardian about the start and the end of a program. If the guardian cannot be reached,
// the job continues: the kernel and the registry still protect against processes that are left behind.
func (g *guardian) watch(id processID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.live = append(g.live, id)
	if g.link != nil {
		g.tell(fmt.Sprintf("+ %d %d", id.pid, id.start))
	}
}

func (g *guardian) forget(id processID) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.live = slices.DeleteFunc(g.live, func(l processID) bool { return l == id })
	if g.link != nil {
		g.tell(fmt.Sprintf("- %d %d", id.pid, id.start))
	}
}

// beGuardian runs the guardian until its socket closes. It then kills the remaining processes of the run, and
// returns the exit status.
func beGuardian(run string, socket *os.File) int {
	// Programs inherit signals that are ignored, but not signals that are caught.
	caught := make(chan os.Signal, 16)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE,
		syscall.SIGTSTP, syscall.SIGTTIN, syscall.SIGTTOU, syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM} {
		if !signal.Ignored(s) {
			signal.Notify(caught, s)
		}
	}
	signal.Notify(caught, syscall.SIGCHLD)
	go func() {
		for s := range caught {
			if s == syscall.SIGCHLD {
				orphans() // orphans reaps dead ones
			}
		}
	}()
	setName("job-guardian")
	becomeReaper()
	markDescendants(run)
	conn, err := net.FileConn(socket)
	if err != nil {
		return 1
	}
	socket.Close()
	g := &server{answers: gob.NewEncoder(conn)}
	g.say(answer{Ready: true})
	// A program dies with the thread that has forked it, so the thread must not end.
	runtime.LockOSThread()
	var r roll
	for {
		m, files, err := receive(conn.(*net.UnixConn))
		switch {
		case err != nil:
		case m.Fork != nil:
			g.fork(m.Fork, files)
		case m.Reap != 0:
			a := answer{PID: m.Reap}
			a.Status, a.Usage = children.reap(m.Reap)
			a.PID = 0
			g.say(a)
		default:
			r.record(m.Line)
		}
		for _, f := range files {
			syscall.Close(f)
		}
		if err != nil {
			break
		}
	}
	r.killLeft(run, true)
	return 0
}

// server answers requests to the guardian.
type server struct {
	mu      sync.Mutex // held while an answer is written
	answers *gob.Encoder
}

// say sends an answer. It ignores errors, because tfexp may be gone.
func (g *server) say(a answer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answers.Encode(a)
}

// fork starts a program, answers, and sends another answer when the program has exited.
func (g *server) fork(f *fork, files []int) {
	if len(files) < 3 {
		g.say(answer{Problem: "the guardian was given no files"})
		return
	}
	attr := &syscall.ProcAttr{Dir: f.Dir, Env: f.Env, Sys: sessionAttr(),
		Files: []uintptr{uintptr(files[0]), uintptr(files[1]), uintptr(files[2])}}
	if len(files) > 3 {
		intoGroup(attr.Sys, files[3])
	}
	var a answer
	err := onCPUs(f.CPUs, func() {
		var err error
		a.PID, err = children.add(func() (int, error) { return syscall.ForkExec(f.Program, f.Argv, attr) })
		if err != nil && !errors.As(err, &a.Errno) {
			a.Problem = err.Error()
		}
	})
	if err != nil {
		a.Problem = fmt.Sprintf("bind to CPUs %v: %v", f.CPUs, err)
	}
	g.say(a)
	if a.PID > 0 {
		go func() {
			awaitExit(a.PID)
			g.say(answer{Exited: true, PID: a.PID})
		}()
	}
}

// roll lists the processes that the guardian must kill when tfexp is gone.
type roll struct {
	live []processID // programs that run
	home string      // folder of their control groups; empty if they have none
}

// groupsLine is the format of the line with the folder of control groups.
const groupsLine = "groups in %q\n"

// record applies a line: "+ pid start" for a program that has started, "- pid start" for a program that has ended,
// or groupsLine.
func (r *roll) record(line string) {
	var home string
	if _, err := fmt.Sscanf(line+"\n", groupsLine, &home); err == nil {
		r.home = home
		return
	}
	var id processID
	if _, err := fmt.Sscanf(strings.TrimLeft(line, "+- "), "%d %d", &id.pid, &id.start); err != nil {
		return
	}
	r.live = slices.DeleteFunc(r.live, func(l processID) bool { return l == id })
	if strings.HasPrefix(line, "+") {
		r.live = append(r.live, id)
	}
}
