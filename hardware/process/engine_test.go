//go:build unix

package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// TestMain lets the test binary also run as the guardian, and as a tfexp that is killed.
func TestMain(m *testing.M) {
	if handled, code := Main(os.Args[1:]); handled {
		os.Exit(code)
	}
	if dir := os.Getenv(victimEnv); dir != "" {
		victim(dir)
	}
	if code := need.Unprivileged(m); code != 0 {
		os.Exit(code)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/tfexp/tfexp/hardware/process.(*link).listen"))
}

// sh returns a job that runs a shell script.
func sh(script string) launch.Job { return launch.Job{Name: "job", Argv: []string{"sh", "-c", script}} }

// open returns an engine whose logs and list of running jobs are in a folder of the test.
func open(t testing.TB, opts Options, jobs ...launch.Job) *Engine {
	t.Helper()
	dir := t.TempDir()
	for i := range jobs {
		if jobs[i].LogPath == "" {
			jobs[i].LogPath = filepath.Join(dir, "logs", fmt.Sprintf("%d.log", i))
		}
	}
	if opts.Registry == "" {
		opts.Registry = filepath.Join(dir, "registry")
	}
	e, err := New(jobs, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		for _, p := range processes() {
			if !p.zombie && hasMark(p.pid, e.mark) {
				t.Errorf("process %d (%s) is left", p.pid, p.name)
			}
		}
	})
	return e
}

func cores(n ...int) scheduler.Grant {
	var set scheduler.CoreSet
	for _, c := range n {
		set = append(set, cluster.Span{Lo: int32(c), Hi: int32(c) + 1})
	}
	return scheduler.Grant{Cores: set}
}

func start(t testing.TB, e *Engine, job int) {
	t.Helper()
	if err := e.Start(job, cores(0)); err != nil {
		t.Fatal(err)
	}
}

// next waits for the next notice that a job has ended. Tests either run one job at a time or collect all ends.
func next(t testing.TB, e *Engine) scheduler.Notice {
	t.Helper()
	_, ended, err := e.Next(patient(t), scheduler.Never)
	if err != nil {
		t.Fatal(err)
	}
	if len(ended) != 1 {
		t.Fatalf("%d jobs ended at once: %v", len(ended), ended)
	}
	return ended[0]
}

func read(t testing.TB, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// eventually waits until a condition holds that has no event.
func eventually(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for began := time.Now(); !cond(); time.Sleep(time.Millisecond) {
		if time.Since(began) > 4*time.Minute {
			t.Fatalf("%s: not so after four minutes", what)
		}
	}
}

// held is an engine that reports nothing to the scheduler until the program of each started job has created a file.
// Until then no other job arrives and no round ends.
type held struct {
	*Engine
	made  func(job int) string // the file that a job creates; empty if held does not wait for the job
	waits []string
}

func (h *held) started(job int, err error) error {
	if path := h.made(job); path != "" && err == nil {
		h.waits = append(h.waits, path)
	}
	return err
}

// again removes the file of a job whose program may start again.
func (h *held) again(job int) {
	if path := h.made(job); path != "" && h.opts.Suspends {
		os.Remove(path)
	}
}

func (h *held) Start(job int, grant scheduler.Grant) error {
	return h.started(job, h.Engine.Start(job, grant))
}

func (h *held) Resume(job int, grant scheduler.Grant) error {
	h.again(job)
	return h.started(job, h.Engine.Resume(job, grant))
}

func (h *held) Migrate(job int, grant scheduler.Grant) error {
	h.again(job)
	return h.started(job, h.Engine.Migrate(job, grant))
}

func (h *held) Next(ctx context.Context, until time.Duration) (time.Duration, []scheduler.Notice, error) {
	for len(h.waits) > 0 {
		if _, err := os.Stat(h.waits[0]); err == nil {
			h.waits = h.waits[1:]
			continue
		}
		select {
		case <-ctx.Done():
			h.waits = nil
			return h.Now(), nil, ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return h.Engine.Next(ctx, until)
}

// patient returns a context that ends only if a test has waited too long, even on a busy machine.
func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// pidIn waits until a script has written a process number to a file, and returns it.
func pidIn(t testing.TB, path string) (pid int) {
	t.Helper()
	eventually(t, "a number in "+path, func() bool {
		content, err := os.ReadFile(path)
		if err != nil || !strings.HasSuffix(string(content), "\n") {
			return false
		}
		_, err = fmt.Sscan(string(content), &pid)
		return err == nil
	})
	return pid
}

func alive(pid int) bool {
	for _, p := range processes() {
		if p.pid == pid {
			return !p.zombie
		}
	}
	return false
}

func TestHowJobsEnd(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "script"), []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name     string
		job      launch.Job
		state    scheduler.State
		reason   string
		exitCode int
		log      string
	}{
		{"success", sh("echo out; echo err >&2"), scheduler.Finished, "", 0, "out\nerr\n"},
		{"exit status", sh("echo sorry; exit 3"), scheduler.Failed, "exit status 3", 3, "sorry\ntfexp: exit status 3\n"},
		{"signal", sh("kill -9 $$"), scheduler.Failed, "killed by signal 9 (killed)", -1,
			"tfexp: killed by signal 9 (killed)\n"},
		{"time limit", launch.Job{Argv: []string{"sleep", "1000"}, Limit: 20 * time.Millisecond}, scheduler.Failed,
			"time limit of 20ms", -1, "tfexp: time limit of 20ms\n"},
		{"time limit, and children that ignore SIGTERM", launch.Job{
			Argv: []string{"sh", "-c",
				`trap "" TERM; for i in 1 2 3 4 5; do sh -c 'while :; do sleep 0.01; done' & done; wait`},
			Limit: 50 * time.Millisecond,
		}, scheduler.Failed, "time limit of 50ms", -1, "tfexp: time limit of 50ms\n"},
		{"no input", sh("cat; echo done"), scheduler.Finished, "", 0, "done\n"},
		{"leaves a child", sh("sleep 1000 & echo gone"), scheduler.Finished, "", 0, "gone\n"},
		{"leaves a child that ignores SIGTERM", sh(`trap "" TERM; sleep 1000 & exit 1`), scheduler.Failed, "exit status 1",
			1, "tfexp: exit status 1\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := open(t, Options{Grace: 50 * time.Millisecond}, test.job)
			start(t, e, 0)
			end := next(t, e)
			if end.State != test.state || end.Reason != test.reason {
				t.Errorf("%s (%s), want %s (%s)", end.State, end.Reason, test.state, test.reason)
			}
			if u, done := e.Usage(0); !done || u.ExitCode != test.exitCode || u.MaxRSS <= 0 || u.Service <= 0 {
				t.Errorf("usage %+v, done %v", u, done)
			}
			if log := read(t, e.Job(0).LogPath); log != test.log {
				t.Errorf("log %q, want %q", log, test.log)
			}
		})
	}
	for _, test := range []struct {
		name   string
		job    launch.Job
		reason string
	}{
		{"no program", launch.Job{Argv: []string{"no-such-program"}}, `program "no-such-program" not found`},
		{"no interpreter", launch.Job{Argv: []string{"./script"}, Dir: dir},
			`program "./script": the interpreter that its first line names was not found`},
		{"no file", launch.Job{Argv: []string{"./nothing"}, Dir: dir}, `program "./nothing" not found`},
		{"not executable", launch.Job{Argv: []string{plain}}, fmt.Sprintf(`program %q: permission denied: chmod +x makes it executable`, plain)},
		{"no directory", launch.Job{Argv: []string{"true"}, Dir: dir + "/gone"},
			fmt.Sprintf("working directory %q: no such file or directory", dir+"/gone")},
		{"a file for a directory", launch.Job{Argv: []string{"true"}, Dir: plain},
			fmt.Sprintf("working directory %q is not a directory", plain)},
		{"empty argv", launch.Job{}, "the job has no program"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := open(t, Options{}, test.job)
			err := e.Start(0, cores(0))
			if err == nil || err.Error() != test.reason {
				t.Errorf("Start: %v, want %s", err, test.reason)
			}
			if log := read(t, e.Job(0).LogPath); log != "tfexp: "+test.reason+"\n" {
				t.Errorf("log %q", log)
			}
		})
	}
}

func TestStop(t *testing.T) {
	for _, test := range []struct {
		name   string
		script string
		pause  bool
		log    string
	}{
		{"obeys", `trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.01; done`, false, "up\nbye\ntfexp: stopped\n"},
		{"obeys when paused", `trap "echo bye; exit 0" TERM; echo up; while :; do sleep 0.01; done`, true,
			"up\nbye\ntfexp: stopped\n"},
		{"does not obey", `trap "" TERM; echo up; while :; do sleep 0.01; done`, false, "up\ntfexp: stopped\n"},
		// The shell ends at once, but its child still saves its work.
		{"child takes time", `sh -c 'trap "sleep 0.1; echo saved; exit" TERM; echo up; while :; do sleep 0.01; done'; :`,
			false, "up\nsaved\ntfexp: stopped\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			grace := time.Minute
			if test.name == "does not obey" {
				grace = 50 * time.Millisecond
			}
			e := open(t, Options{Grace: grace}, sh(test.script))
			start(t, e, 0)
			eventually(t, "job is up", func() bool { return strings.Contains(read(t, e.Job(0).LogPath), "up") })
			if test.pause {
				if err := e.Pause(0); err != nil {
					t.Fatal(err)
				}
			}
			if err := e.Stop(0); err != nil {
				t.Fatal(err)
			}
			if end := next(t, e); end.State != scheduler.Stopped {
				t.Error(end)
			}
			// Shells print which children the signal ended.
			log := strings.ReplaceAll(read(t, e.Job(0).LogPath), "Terminated\n", "")
			if log != test.log {
				t.Errorf("log %q, want %q", log, test.log)
			}
			// All calls about a job that has ended succeed.
			if err := errors.Join(e.Pause(0), e.Resume(0, cores(0)), e.Resize(0, cores(0)), e.Stop(0)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestPausedTimeIsNotService(t *testing.T) {
	e := open(t, Options{}, launch.Job{Argv: []string{"sleep", "1000"}})
	start(t, e, 0)
	const paused = 100 * time.Millisecond
	if err := e.Pause(0); err != nil {
		t.Fatal(err)
	}
	used := e.Used(0)
	if now, ended, err := e.Next(t.Context(), e.Now()+paused); err != nil || len(ended) != 0 {
		t.Fatal(now, ended, err)
	}
	if err := e.Resume(0, cores(0)); err != nil {
		t.Fatal(err)
	}
	if err := e.Stop(0); err != nil {
		t.Fatal(err)
	}
	end := next(t, e)
	if u, _ := e.Usage(0); u.Service < used || u.Service > end.At-paused {
		t.Errorf("service %v of %v with a pause of %v after %v", u.Service, end.At, paused, used)
	}
}

func TestOutputWithoutEnd(t *testing.T) {
	const limit = 1 << 20
	noisy := launch.Job{Argv: []string{"cat", "/dev/zero"}}
	full := launch.Job{Argv: []string{"yes"}, LogPath: "/dev/full"}
	e := open(t, Options{LogLimit: limit}, noisy, full, sh("head -c 1048576 /dev/zero"))
	for i, want := range []string{"output above the limit of 1 MiB", "write log: no space left on device", ""} {
		if _, err := os.Stat(e.Job(i).LogPath); i == 1 && err != nil {
			continue // only Linux has /dev/full
		}
		start(t, e, i)
		if end := next(t, e); end.Reason != want || (end.State == scheduler.Finished) != (want == "") {
			t.Errorf("job %d: %v, want %q", i, end, want)
		}
	}
	if log := read(t, e.Job(0).LogPath); len(log) != limit+len("tfexp: output above the limit of 1 MiB\n") {
		t.Errorf("log of %d bytes", len(log))
	}
	if log := read(t, e.Job(2).LogPath); len(log) != limit {
		t.Errorf("log of %d bytes, all are allowed", len(log))
	}
}

func TestNext(t *testing.T) {
	e := open(t, Options{}, sh("exit 0"), launch.Job{Argv: []string{"sleep", "1000"}})
	if _, _, err := e.Next(t.Context(), scheduler.Never); err == nil {
		t.Error("waits without end for no job")
	}
	until := e.Now() + 10*time.Millisecond
	if now, ended, err := e.Next(t.Context(), until); now < until || ended != nil || err != nil {
		t.Error(now, ended, err)
	}
	start(t, e, 1)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, _, err := e.Next(ctx, scheduler.Never); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	start(t, e, 0)
	if end := next(t, e); end.Job != 0 || end.At > e.Now() {
		t.Error(end)
	}
	if err := e.Start(1, cores(0)); err == nil {
		t.Error("a job starts while it runs")
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := e.Start(0, cores(0)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestManyAtOnce(t *testing.T) {
	const n = 64
	jobs := make([]launch.Job, n)
	for i := range jobs {
		jobs[i] = sh(fmt.Sprintf("echo %d; exit %d", i, i%2))
	}
	e := open(t, Options{}, jobs...)
	for i := range jobs {
		start(t, e, i)
	}
	seen := map[int]bool{}
	for last := time.Duration(0); len(seen) < n; {
		now, ended, err := e.Next(t.Context(), scheduler.Never)
		if err != nil {
			t.Fatal(err)
		}
		for _, end := range ended {
			if seen[end.Job] || end.At < last || end.At > now {
				t.Errorf("%v after %v, now %v", end, last, now)
			}
			if failed := end.State == scheduler.Failed; failed != (end.Job%2 == 1) {
				t.Error(end)
			}
			seen[end.Job], last = true, end.At
		}
	}
	for i := range jobs {
		if log := read(t, e.Job(i).LogPath); !strings.HasPrefix(log, fmt.Sprintf("%d\n", i)) {
			t.Errorf("job %d: log %q", i, log)
		}
	}
}

func TestCloseKills(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pid")
	e := open(t, Options{Grace: time.Hour}, sh(`trap "" TERM; sh -c 'echo $$; exec sleep 1000' >`+pids+`; :`))
	start(t, e, 0)
	pid := pidIn(t, pids)
	if err := e.Stop(0); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if alive(pid) {
		t.Error("a job outlives its engine")
	}
	if _, err := os.Stat(e.opts.Registry); !errors.Is(err, os.ErrNotExist) {
		t.Error("the registry is still there:", err)
	}
}

func TestGrantErrors(t *testing.T) {
	e := open(t, Options{CPUs: hardware.AllowedCPUs()[:1]}, sh(""))
	if err := e.Start(0, cores(1)); err == nil || !strings.Contains(err.Error(), "there is no core 1") {
		t.Error(err)
	}
	if err := e.Start(0, scheduler.Grant{}); err == nil {
		t.Error("starts without cores")
	}
	for _, err := range []error{e.Pause(0), e.Resume(0, cores(0)), e.Resize(0, cores(0)), e.Stop(0),
		e.Start(1, cores(0))} {
		if err == nil {
			t.Error("a job that is not there takes a call")
		}
	}
}

func TestGuardianIsReplaced(t *testing.T) {
	e := open(t, Options{}, sh(""), sh(""))
	old := guardianPID()
	if err := syscall.Kill(old, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	// The guardian still accepts a call until its last thread has ended.
	eventually(t, "there is another guardian", func() bool {
		if _, err := guard.ensure(); err != nil {
			t.Fatal(err)
		}
		return guardianPID() != old
	})
	start(t, e, 0)
	if end := next(t, e); end.State != scheduler.Finished {
		t.Error(end)
	}
	if !alive(guardianPID()) {
		t.Errorf("guardian %d does not live", guardianPID())
	}
}
