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

// guardianEnv marks a process as the guardian; its value is the run.
const guardianEnv = "TFEXP_GUARDIAN"

// hooked is set once Main has been called.
var hooked atomic.Bool

// guard is this process's side of its guardian.
var guard guardian

// guardian is a second process, made from the same program, that outlives tfexp by a moment: its socket closes when
// tfexp ends, in whatever way, and it then kills the remaining processes of the jobs. Where the system allows it
// (Linux), it is also the parent of the jobs' programs. It then inherits processes that a job starts and leaves without
// a parent: a process can leave its session, clear its environment and start itself twice, and still descends from the
// guardian. When the guardian is killed, the kernel kills the programs, and tfexp inherits the processes that they
// leave.
type guardian struct {
	mu   sync.Mutex // guards all; taken before the mutex of children
	run  string     // names this run of tfexp in the jobs' marks
	link *link      // nil before the first start
	live []processID
}

// link is a guardian that was started.
type link struct {
	pid     int
	conn    *net.UnixConn
	answers chan answer // to request; closed when the guardian is gone
	gone    bool        // guarded by children.mu: its number may be used again
}

// message goes to the guardian: one of its fields is set. Its length goes before it, with open files.
type message struct {
	Line string // what roll.record understands
	Fork *fork  // answered
	Reap int    // a program that has exited; answered
}

// fork describes a program. Its files are its input, its two outputs, and its control group if it has one.
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
	Problem       string // where there is no Errno
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
		return "", errors.New("start guardian: this process was started as one, but its main does not call " +
			"process.Main first")
	case !hooked.Load():
		return "", errors.New("start guardian: main (in tests, TestMain) must call process.Main first")
	}
	if err = g.tell(""); err != nil {
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
	syscall.ForkLock.RLock() // a program that got the socket would keep the guardian from its end
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
	// Its name is not tfexp's: a kill of tfexp by name must not hit it. It holds no
	// file or folder of the run, and its own session keeps Ctrl-C from it.
	if err = folder.Try("fork", "job-guardian"); err == nil {
		children.mu.Lock() // nobody takes it for a stray
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

// listen receives the guardian's answers until it is gone.
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
			children.adopt(a.PID, l) // before it can be taken for a stray, and before it exits
		}
		l.answers <- a
	}
}

// bury ends a guardian that is dead or does not answer, and takes over the programs that it forked.
func (l *link) bury() {
	children.mu.Lock()
	l.gone = true
	children.mu.Unlock()
	syscall.Kill(l.pid, syscall.SIGKILL)
	wait(l.pid, nil, nil) // from then on this process has its children
	l.conn.Close()
	children.lose(l)
	close(l.answers)
}

// send writes a message, with open files.
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

// receive reads a message.
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

// tell sends one line to the guardian, or to a new guardian if the old one is
// gone. mu must be held.
func (g *guardian) tell(line string) error {
	// Only its death breaks the connection.
	if g.link == nil || g.link.send(message{Line: line}) != nil {
		return g.start()
	}
	return nil
}

// fork asks the guardian to start a program with files for its input and outputs, in a control group if that is not
// -1.
func (g *guardian) fork(f fork, standard []uintptr, group int) (pid int, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	files := schema.Each(standard, func(fd uintptr) int { return int(fd) })
	if group >= 0 {
		files = append(files, group)
	}
	if f.Dir == "" {
		if f.Dir, err = os.Getwd(); err != nil { // it was removed
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

// watch and forget inform the guardian about a job's program. If the guardian
// cannot be informed, the job continues: the kernel and the registry still
// protect it.
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

// beGuardian carries out commands until its socket closes, then kills the
// remaining processes of the run, and returns the exit status.
func beGuardian(run string, socket *os.File) int {
	// Programs inherit ignored signals, but not caught ones.
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
				orphans() // waits for those that are dead
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
	// The programs die with the thread that forks them.
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

// server answers the guardian's requests.
type server struct {
	mu      sync.Mutex // held while an answer is written
	answers *gob.Encoder
}

// say sends an answer; tfexp may be gone.
func (g *server) say(a answer) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answers.Encode(a)
}

// fork starts a program, and says so, and later that it has exited.
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

// roll lists the processes that must end when tfexp is gone.
type roll struct {
	live []processID // programs
	home string      // the folder of their groups; empty: they have none
}

// groupsLine is the line with the folder of the groups, as record reads it.
const groupsLine = "groups in %q\n"

// record applies a line: "+ pid start" for a program that began, "- pid start" for one that ended, or groupsLine.
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
