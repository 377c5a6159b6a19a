package train

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/jobs/contract"
)

// member is a running process of a job.
type member struct {
	*exec.Cmd
	name  string
	lines chan string // of standard output; closed at its end
	mu    sync.Mutex
	out   strings.Builder
	errs  safeBuffer
	done  chan struct{}
}

// safeBuffer is a buffer that a process can write while a test reads it.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// job is a job with roles, in separate processes.
type job struct {
	t       *testing.T
	cluster contract.Cluster
	env     []string
	args    []string
	members map[string]*member
}

// newJob makes a job with the given number of parts by role; the parts start later.
func newJob(t *testing.T, roles map[string]int, env []string, args ...string) *job {
	t.Helper()
	j := &job{t: t, cluster: contract.Cluster{}, env: env, args: args, members: map[string]*member{}}
	for role, n := range roles {
		for range n {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			j.cluster[role] = append(j.cluster[role], ln.Addr().String())
		}
	}
	t.Cleanup(j.kill)
	return j
}

// start starts the parts by name: "ps 0", "worker 1".
func (j *job) start(names ...string) {
	j.t.Helper()
	for _, name := range names {
		part := contract.Part{Cluster: j.cluster}
		fmt.Sscan(name, &part.Role, &part.Task)
		env, err := part.Environ()
		if err != nil {
			j.t.Fatal(err)
		}
		m := &member{
			Cmd: running(append(env, j.env...), j.args...), name: name,
			lines: make(chan string, 10_000), done: make(chan struct{}),
		}
		pipe, err := m.StdoutPipe()
		if err != nil {
			j.t.Fatal(err)
		}
		m.Stderr = &m.errs
		if err := m.Start(); err != nil {
			j.t.Fatal(err)
		}
		go m.read(pipe)
		j.members[name] = m
	}
}

func (j *job) startAll() {
	for _, role := range []string{"ps", "chief", "worker"} {
		for i := range j.cluster[role] {
			j.start(fmt.Sprintf("%s %d", role, i))
		}
	}
}

func (m *member) read(pipe io.Reader) {
	for sc := bufio.NewScanner(pipe); sc.Scan(); {
		m.mu.Lock()
		m.out.WriteString(sc.Text() + "\n")
		m.mu.Unlock()
		m.lines <- sc.Text() + "\n"
	}
	close(m.lines)
	m.Wait()
	close(m.done)
}

// output is the member's output so far.
func (m *member) output() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.out.String()
}

// patient is the time for which a test waits for an event that takes seconds on an idle machine.
const patient = 5 * time.Minute

// wait returns the exit status of a process that must end soon.
func (j *job) wait(name string) int {
	j.t.Helper()
	m := j.members[name]
	select {
	case <-m.done:
	case <-time.After(patient):
		j.t.Fatalf("%s does not end; the chief printed\n%s", name, j.chief().output())
	}
	return m.ProcessState.ExitCode()
}

// ends waits for parts and checks their exit status.
func (j *job) ends(status int, names ...string) {
	j.t.Helper()
	for _, name := range names {
		if got := j.wait(name); got != status {
			j.t.Errorf("%s ends with %d, want %d: %s", name, got, status, j.members[name].errs.String())
		}
	}
}

func (j *job) chief() *member {
	if m := j.members["chief 0"]; m != nil {
		return m
	}
	return j.members["worker 0"]
}

// until waits until the chief prints a line with the text.
func (j *job) until(text string) {
	j.t.Helper()
	timeout := time.After(patient)
	for {
		select {
		case line, ok := <-j.chief().lines:
			if !ok {
				j.t.Fatalf("the chief ended before it printed %s: %s%s", text, j.chief().output(), j.chief().errs.String())
			}
			if strings.Contains(line, text) {
				return
			}
		case <-timeout:
			j.t.Fatalf("the chief has not printed %s but\n%s", text, j.chief().output())
		}
	}
}

func (j *job) signal(sig syscall.Signal, names ...string) {
	j.t.Helper()
	for _, name := range names {
		if err := j.members[name].Process.Signal(sig); err != nil {
			j.t.Fatalf("signal %s: %v", name, err)
		}
	}
}

// names returns the names of all processes that were started.
func (j *job) names() []string {
	var all []string
	for name := range j.members {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func (j *job) kill() {
	for _, m := range j.members {
		m.Process.Kill()
		<-m.done
	}
}

// epochsOf returns the numbers of the epochs in an output, and of their steps.
func epochsOf(t *testing.T, out string) (epochs, steps []int) {
	t.Helper()
	for line := range strings.Lines(out) {
		if r := report(t, line); r.Updates == 1 && r.Loss != nil {
			epochs, steps = append(epochs, r.Progress.Epoch), append(steps, r.Progress.Step)
		}
	}
	return epochs, steps
}

// sequence returns from, from+1, …, to.
func sequence(from, to int) []int {
	var all []int
	for i := from; i <= to; i++ {
		all = append(all, i)
	}
	return all
}

// One parameter server with two workers reaches the accuracy of one worker. The
// accuracy of one epoch varies by a point and more, so the last ten are compared.
func TestClusterIsAsAccurateAsOneWorker(t *testing.T) {
	if raceEnabled {
		t.Skip("ten times slower")
	}
	const epochs = 30
	env := []string{fmt.Sprintf("TFEXP_EPOCHS=%d", epochs)}
	alone, _ := output(t, env, "mlp")
	j := newJob(t, map[string]int{"ps": 1, "worker": 2}, env, "mlp")
	j.startAll()
	j.ends(0, "worker 0", "worker 1", "ps 0")
	one, two := accuracies(t, alone), accuracies(t, j.chief().output())
	if len(one) != epochs || len(two) < 10 { // the chief may report several epochs at once
		t.Fatalf("%d and %d accuracies, want %d", len(one), len(two), epochs)
	}
	a, b := stat.Mean(one[len(one)-10:], nil), stat.Mean(two[len(two)-10:], nil)
	t.Logf("held-out accuracy after %d epochs (mean of the last ten): one worker alone %.4f (%.4f), "+
		"one parameter server and two workers %.4f (%.4f)",
		epochs, one[len(one)-1], a, two[len(two)-1], b)
	if b < a-0.01 {
		t.Errorf("accuracy %.4f with two workers, %.4f with one alone", b, a)
	}
	r := report(t, j.chief().output())
	if r.Progress.Epoch != epochs || r.Progress.Step != 45*epochs || len(r.Epochs) != epochs || r.Save < 0 {
		t.Errorf("the last line is of epoch %d and step %d, %d times", r.Progress.Epoch, r.Progress.Step, len(r.Epochs))
	}
}

// accuracies returns the accuracies of all epochs that have one.
func accuracies(t *testing.T, out string) []float64 {
	t.Helper()
	var all []float64
	for line := range strings.Lines(out) {
		if r := report(t, line); r.Updates == 1 && r.Accuracy != nil {
			all = append(all, *r.Accuracy)
		}
	}
	return all
}

// A job with roles ends at its target loss, as one without does.
func TestClusterEndsAtItsTarget(t *testing.T) {
	j := newJob(t, map[string]int{"ps": 1, "worker": 2}, []string{contract.EnvTarget + "=0.5"}, "softmax", "--epochs",
		"200")
	j.startAll()
	j.ends(0, j.names()...)
	epochs, _ := epochsOf(t, j.chief().output())
	if len(epochs) == 0 || len(epochs) >= 200 {
		t.Errorf("it trained %d epochs", len(epochs))
	}
}

// The steps of all workers are counted together, with several servers and a separate chief. The incomplete last epoch
// is reported as well.
func TestClusterCountsSteps(t *testing.T) {
	j := newJob(t, map[string]int{"ps": 2, "chief": 1, "worker": 2}, []string{"TFEXP_STEPS=250"}, "mlp", "--hidden", "8")
	j.startAll()
	j.ends(0, j.names()...)
	epochs, steps := epochsOf(t, j.chief().output())
	if !slices.Equal(epochs, []int{1, 2, 3, 4, 5, 0}) || !slices.Equal(steps, []int{45, 90, 135, 180, 225, 250}) {
		t.Errorf("epochs %v after steps %v", epochs, steps)
	}
	for _, name := range []string{"worker 0", "worker 1", "ps 0"} {
		if out := j.members[name].output(); out != "" {
			t.Errorf("%s prints %q: only the chief speaks for the job", name, out)
		}
	}
}

// The job continues without a killed worker. No batch is lost or counted twice. The worker may return, or start late.
func TestWorkersComeAndGo(t *testing.T) {
	j := newJob(t, map[string]int{"ps": 2, "worker": 3}, []string{"TFEXP_EPOCHS=60"}, "mlp", "--hidden", "16")
	j.start("worker 0", "ps 0", "worker 1", "ps 1") // workers may start before servers
	j.until(`"epoch":5,`)
	j.signal(syscall.SIGKILL, "worker 1")
	j.wait("worker 1")
	j.until(`"epoch":10,`)
	j.start("worker 1", "worker 2")
	j.until(`"epoch":20,`)
	j.signal(syscall.SIGKILL, "worker 2")
	j.wait("worker 2")
	j.ends(0, "worker 0", "worker 1", "ps 0", "ps 1")
	epochs, steps := epochsOf(t, j.chief().output())
	if !slices.Equal(epochs, sequence(1, 60)) || steps[59] != 60*45 {
		t.Errorf("epochs %v, the last after step %d", epochs, steps[len(steps)-1])
	}
	if loss := report(t, j.chief().output()).Loss; *loss > 0.1 {
		t.Errorf("loss %g at the end", *loss)
	}
}

// Without its chief, a cluster ends. The job resumes from its checkpoint, and its lost work is known to within one step
// of each worker.
func TestChiefLost(t *testing.T) {
	if !need.Long() {
		t.Skip("the other parts of the job compute for ten seconds; make long runs this test")
	}
	t.Parallel()
	dir := t.TempDir()
	env := []string{"TFEXP_CHECKPOINT_DIR=" + dir, "TFEXP_CHECKPOINT_EVERY=100steps"}
	roles := map[string]int{"ps": 1, "worker": 2}
	j := newJob(t, roles, env, "mlp", "--hidden", "32", "--epochs", "1000000")
	j.startAll()
	for range 3 {
		j.until(`"checkpoint":{`)
	}
	j.signal(syscall.SIGKILL, "worker 0")
	j.wait("worker 0")
	first := report(t, j.chief().output())
	begin := time.Now()
	j.ends(1, "ps 0", "worker 1")
	if took := time.Since(begin); took > ChiefReturnsAfter+time.Minute {
		t.Errorf("the others end after %v", took)
	}
	if text := j.members["ps 0"].errs.String(); !strings.Contains(text, "the connection to the chief was lost") {
		t.Errorf("the server says %q", text)
	}
	lost := fmt.Sprintf("parameter server 0 (%s) is lost", j.cluster["ps"][0])
	if text := j.members["worker 1"].errs.String(); !strings.Contains(text, lost) {
		t.Errorf("the worker says %q", text)
	}

	again := newJob(t, roles, env, "mlp", "--hidden", "32", "--epochs", "100")
	again.startAll()
	again.ends(0, again.names()...)
	out := again.chief().output()
	second := report(t, out)
	if len(second.Resumed) != 1 || len(first.Checkpoints) == 0 {
		t.Fatalf("resumed %v after checkpoints %v", second.Resumed, first.Checkpoints)
	}
	resumed, last := second.Resumed[0], first.Checkpoints[len(first.Checkpoints)-1]
	want := fmt.Sprintf("continuing from the checkpoint after step %d\n", resumed.Step)
	if text := again.chief().errs.String(); !strings.Contains(text, want) {
		t.Errorf("stderr: %s", text)
	}
	// The chief may have been killed between a checkpoint and its line, and the other worker continues while the chief
	// has no core.
	if resumed.Step < last.Step || resumed.LostSteps < 0 || resumed.LostSteps > 10_000 {
		t.Errorf("resumed %+v, the last checkpoint was %+v", resumed, last)
	}
	if resumed.Step+resumed.LostSteps < first.Progress.Step {
		t.Errorf("lost %+v, but step %d was reported", resumed, first.Progress.Step)
	}
	epochs, steps := epochsOf(t, out)
	if !slices.Equal(epochs, sequence(resumed.Step/45+1, 100)) || steps[len(steps)-1] != 4500 {
		t.Errorf("epochs %v to step %d after a checkpoint at %d", epochs, steps[len(steps)-1], resumed.Step)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("a finished training leaves %v, %v", left, err)
	}
}

// All processes end after SIGTERM, and the chief writes a checkpoint.
func TestClusterStopsAndGoesOn(t *testing.T) {
	dir := t.TempDir()
	env := []string{"TFEXP_CHECKPOINT_DIR=" + dir}
	args := []string{"mlp", "--hidden", "32", "--epochs"}
	j := newJob(t, map[string]int{"ps": 2, "worker": 2}, env, append(args, "1000000")...)
	j.startAll()
	j.until(`"epoch":8,`)
	j.signal(syscall.SIGTERM, "ps 0", "ps 1", "worker 1", "worker 0")
	j.ends(contract.ExitStopped, j.names()...)
	first := report(t, j.chief().output())
	if len(first.Checkpoints) != 1 {
		t.Fatalf("checkpoints %v", first.Checkpoints)
	}
	// The next attempt has other roles: the checkpoint has the whole state.
	step := first.Checkpoints[0].Step
	before, _ := epochsOf(t, j.chief().output())
	epochs := len(before) + 30
	again := newJob(t, map[string]int{"ps": 1, "worker": 3}, env, append(args, strconv.Itoa(epochs))...)
	again.startAll()
	again.ends(0, again.names()...)
	after, steps := epochsOf(t, again.chief().output())
	if !slices.Equal(append(before, after...), sequence(1, epochs)) || steps[len(steps)-1] != 45*epochs {
		t.Errorf("epochs %v, then %v to step %d, after a stop at step %d", before, after, steps[len(steps)-1], step)
	}
}

func TestServerLost(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for ten seconds")
	}
	t.Parallel()
	j := newJob(t, map[string]int{"ps": 2, "worker": 2}, []string{"TFEXP_EPOCHS=100000"}, "softmax")
	j.startAll()
	j.until(`"epoch":50,`)
	j.signal(syscall.SIGKILL, "ps 1")
	j.ends(1, "worker 0", "worker 1", "ps 0")
	// The chief may be far ahead of a worker that has not started yet.
	server := fmt.Sprintf("parameter server 1 (%s) ", j.cluster["ps"][1])
	for name, ways := range map[string][]string{"worker 0": {"is lost"}, "worker 1": {"is lost", "cannot be reached"}} {
		text := j.members[name].errs.String()
		if !slices.ContainsFunc(ways, func(way string) bool { return strings.Contains(text, server+way) }) {
			t.Errorf("%s says %q", name, text)
		}
	}
}

// Connections of other programs do not disturb the training.
func TestStrangersAreCutOff(t *testing.T) {
	j := newJob(t, map[string]int{"ps": 1, "worker": 2}, []string{"TFEXP_EPOCHS=1000000"}, "mlp", "--hidden", "32")
	j.startAll()
	j.until(`"epoch":2,`)
	digest := configOf(t, "mlp", "--hidden", "32").digest()
	hello := func(q Request) func(l *Link) {
		q.Op, q.Role = OpHello, "worker"
		return func(l *Link) { l.Send(q) }
	}
	after := func(q Request, values int) func(l *Link) {
		return func(l *Link) {
			l.Send(Request{Op: OpHello, Program: digest, Role: "worker", Task: 7, Servers: 1})
			var a Reply
			l.Receive(&a, 0)
			l.Send(q, make([]float64, values))
			l.Receive(&a, MaxValues)
		}
	}
	for name, speak := range map[string]func(l *Link){
		"noise":        func(l *Link) { l.Write([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")) },
		"nothing":      func(l *Link) {},
		"half a frame": func(l *Link) { l.Write([]byte{0x31, 0x73, 0x66, 0x74, 9, 0}) },
		"a huge frame": func(l *Link) {
			l.Write([]byte{0x31, 0x73, 0x66, 0x74, 255, 255, 255, 255, 255, 255, 255, 255})
		},
		"other program":  hello(Request{Program: "x", Servers: 1}),
		"second chief":   hello(Request{Program: digest, Chief: true, Servers: 1}),
		"wrong server":   hello(Request{Program: digest, Server: 3, Servers: 4}),
		"not a chief":    after(Request{Op: OpFinish}, 0),
		"no operation":   after(Request{Op: "dance"}, 0),
		"short gradient": after(Request{Op: OpPush, Ticket: 1, Images: 4}, 3),
		"long gradient":  after(Request{Op: OpPush, Ticket: 1, Images: 4}, 1e6),
		"takes a ticket": after(Request{Op: OpPull}, 0),
	} {
		conn, err := net.Dial("tcp", j.cluster["ps"][0])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		l := NewLink(conn)
		l.SetDeadline(time.Now().Add(patient))
		speak(l)
		if name != "nothing" {
			l.Close()
		}
	}
	for range 10 {
		j.until(`"epoch":`)
	}
	j.signal(syscall.SIGTERM, "ps 0", "worker 1", "worker 0")
	j.ends(contract.ExitStopped, j.names()...)
	epochs, steps := epochsOf(t, j.chief().output())
	if n := len(epochs); !slices.Equal(epochs, sequence(1, n)) || steps[n-1] != n*45 {
		t.Errorf("epochs %v, the last after step %d", epochs, steps[n-1])
	}
}

// Settings and requests reach a cluster through its chief.
func TestClusterFollowsRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing after another, and long under the race detector")
	}
	dir := t.TempDir()
	control := filepath.Join(dir, "control")
	write := func(m contract.Message) {
		if err := writeMessage(control, m); err != nil {
			t.Fatal(err)
		}
	}
	block := 0
	write(contract.Message{Intra: 1})
	env := []string{"TFEXP_EPOCHS=120", "TFEXP_CONTROL=" + control, "TFEXP_CHECKPOINT_DIR=" + filepath.Join(dir, "ck")}
	j := newJob(t, map[string]int{"ps": 2, "worker": 2}, env, "mlp", "--hidden", "16")
	j.startAll()
	j.until(`"epoch":3,`)
	changes := settings("batch", "64", "learning_rate", "0.002", "seed", "5")
	write(contract.Message{Serial: 1, Settings: changes, Checkpoint: true})
	j.until(`"checkpoint"`)
	write(contract.Message{Serial: 2, Deepen: &block})
	j.until(`"deepened"`)
	j.ends(0, j.names()...)
	r := report(t, j.chief().output())
	if len(r.Changed) != 1 || len(r.Changed[0].Settings) != 2 || len(r.Checkpoints) != 1 || len(r.Refused) != 1 {
		t.Errorf("changed %v, checkpoints %v, refused %+v", r.Changed, r.Checkpoints, r.Refused)
	}
	if len(r.Deepened) != 1 || r.Deepened[0].AccuracyBefore != r.Deepened[0].AccuracyAfter {
		t.Errorf("deepened %+v", r.Deepened)
	}
	epochs, steps := epochsOf(t, j.chief().output())
	if !slices.Equal(epochs, sequence(1, 120)) {
		t.Fatalf("epochs %v", epochs)
	}
	// An epoch of batches of 64 has 23 steps.
	if n := steps[119] - steps[118]; n < 22 || n > 24 {
		t.Errorf("the last epoch has %d steps, want 23", n)
	}
	if *r.Loss > 0.1 {
		t.Errorf("loss %g at the end", *r.Loss)
	}
}

func settings(pairs ...string) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	for i := 0; i < len(pairs); i += 2 {
		all[pairs[i]] = json.RawMessage(pairs[i+1])
	}
	return all
}

func TestRolesWithoutServers(t *testing.T) {
	one := newJob(t, map[string]int{"worker": 1}, []string{"TFEXP_EPOCHS=2"}, "softmax")
	one.startAll()
	one.ends(0, "worker 0") // one worker needs no parameter server
	if r := report(t, one.chief().output()); r.Progress.Epoch != 2 {
		t.Errorf("%+v", r)
	}
	two := newJob(t, map[string]int{"worker": 2}, []string{"TFEXP_EPOCHS=2"}, "softmax")
	two.startAll()
	two.ends(1, "worker 0", "worker 1")
	if text := two.chief().errs.String(); !strings.Contains(text, "needs a parameter server") {
		t.Errorf("stderr %q", text)
	}
	other := newJob(t, map[string]int{"evaluator": 1, "ps": 1}, nil, "softmax")
	other.start("evaluator 0")
	other.members["worker 0"] = other.members["evaluator 0"]
	other.ends(1, "evaluator 0")
	if text := other.chief().errs.String(); !strings.Contains(text, `the role "evaluator" is unknown`) {
		t.Errorf("stderr %q", text)
	}
}
