package docker

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/hardware/process"
	"github.com/tfexp/tfexp/scheduler"
)

func TestMain(m *testing.M) {
	if handled, code := process.Main(os.Args[1:]); handled {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

const testImage = "tfexp/builtin:latest"

// local connects to the Docker daemon of this machine. It skips the test if there is no daemon or no image for tests.
func local(t testing.TB) *Host {
	t.Helper()
	ctx := context.Background()
	h, err := Connect(ctx, "")
	need.This(t, "docker", err, "start a Docker daemon, as .ci/docker does")
	t.Cleanup(func() { h.Close() })
	_, err = h.Image(ctx, testImage, PullNever, "")
	need.This(t, "docker", err, "stages/builtin/build-image.sh")
	return h
}

// newEngine returns an engine on the first two CPUs of this machine. Its containers belong to a folder of the test. The
// test fails if one of them still exists at its end.
func newEngine(t testing.TB, h *Host, opts Options, jobs ...launch.Job) *Engine {
	t.Helper()
	opts.Folder = t.TempDir()
	if opts.Sampling == 0 {
		opts.Sampling = 100 * time.Millisecond
	}
	e, err := New(jobs, []Node{{Host: h, CPUs: []int{0, 1}}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		left, err := h.Containers(context.Background(), opts.Folder)
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	return e
}

func shell(t testing.TB, name, script string) launch.Job {
	dir := t.TempDir()
	return launch.Job{
		Container: &launch.Container{Image: testImage},
		Name:      name, Argv: []string{"sh", "-c", script}, Threads: 2,
		LogPath: filepath.Join(dir, name+".log"), ControlPath: filepath.Join(dir, "control", name),
		CheckpointDir: filepath.Join(dir, "checkpoint"),
	}
}

func grant(lo, hi int32) scheduler.Grant {
	return scheduler.Grant{Cores: scheduler.CoreSet{{Lo: lo, Hi: hi}}}
}

// ended waits for the next notice that a job has ended.
func ended(t *testing.T, e *Engine) scheduler.Notice {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, ends, err := e.Next(ctx, scheduler.Never)
	if err != nil || len(ends) != 1 {
		local(t)
		t.Fatalf("%v, %v", ends, err)
	}
	return ends[0]
}

func logOf(t *testing.T, j launch.Job) string {
	t.Helper()
	raw, err := os.ReadFile(j.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// docker runs the docker command, which shows the state of the daemon independently of tfexp.
func docker(t testing.TB, args ...string) string {
	t.Helper()
	out, err := exec.Command("docker", args...).CombinedOutput()
	if err != nil {
		local(t)
		t.Fatalf("docker %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// until waits until a condition holds, and fails the test after too long a time.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for begin := time.Now(); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begin) > 2*time.Minute {
			local(t) // skips the test if the daemon has ended in the meantime
			t.Fatalf("in vain waited for: %s", what)
		}
	}
}

// A program gets the job contract and its cores, but no network and no privileges. Its output is in its log.
func TestRun(t *testing.T) {
	h := local(t)
	j := shell(t, "a", `env; cat $TFEXP_CONTROL; nproc; ip link 2>/dev/null | wc -l; grep CapEff /proc/self/status; echo kept > $TFEXP_CHECKPOINT_DIR/x; echo oops >&2`)
	e := newEngine(t, h, Options{}, j)
	if err := e.Start(0, grant(1, 2)); err != nil {
		t.Fatal(err)
	}
	if end := ended(t, e); end.State != scheduler.Finished {
		t.Fatalf("%+v\n%s", end, logOf(t, j))
	}
	log := logOf(t, j)
	for _, want := range []string{
		"TFEXP_JOB=a\n", "TFEXP_INTRA_THREADS=1\n", "\n1 1\n", "CapEff:\t0000000000000000\n", "oops\n",
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q:\n%s", want, log)
		}
	}
	if raw, err := os.ReadFile(filepath.Join(j.CheckpointDir, "x")); err != nil || string(raw) != "kept\n" {
		t.Errorf("checkpoint: %q, %v", raw, err)
	}
}

// The docker command shows whether a job is paused, resumed or resized.
func TestPauseAndResize(t *testing.T) {
	h := local(t)
	j := shell(t, "a", `while true; do cat $TFEXP_CONTROL; sleep 0.05; done`)
	var memory atomic.Int64 // of the last sample
	e := newEngine(t, h, Options{Observe: func(s engine.Sample) { memory.Store(int64(s.Memory)) }}, j)
	if err := e.Start(0, grant(0, 2)); err != nil {
		t.Fatal(err)
	}
	id := e.Programs(0)[0].id
	inspect := func(format string) string { return docker(t, "inspect", "--format", format, id) }
	if got := inspect("{{.HostConfig.CpusetCpus}} {{.HostConfig.NetworkMode}} " +
		"{{.State.Status}}"); got != "0,1 none running" {
		t.Errorf("after the start: %s", got)
	}
	if err := e.Pause(0); err != nil {
		t.Fatal(err)
	}
	if got := inspect("{{.State.Status}}"); got != "paused" {
		t.Errorf("while paused: %s", got)
	}
	if err := e.Resume(0, grant(1, 2)); err != nil {
		t.Fatal(err)
	}
	if got := inspect("{{.State.Status}} {{.HostConfig.CpusetCpus}}"); got != "running 1" {
		t.Errorf("after the resume: %s", got)
	}
	until(t, "the new allotment in the log", func() bool { return strings.Contains(logOf(t, j), "1 1\n") })
	if err := e.Resize(0, grant(0, 2)); err != nil {
		t.Fatal(err)
	}
	if got := inspect("{{.HostConfig.CpusetCpus}}"); got != "0,1" {
		t.Errorf("after the resize: %s", got)
	}
	until(t, "a sample", func() bool { return memory.Load() > 0 })
	if err := e.Stop(0); err != nil {
		t.Fatal(err)
	}
	if end := ended(t, e); end.State != scheduler.Stopped {
		t.Errorf("%+v", end)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// With a quota a container may use all cores, but no more CPU time than the job's number of cores allows.
func TestQuota(t *testing.T) {
	h := local(t)
	e := newEngine(t, h, Options{Quota: true}, shell(t, "a", "sleep 60"))
	if err := e.Start(0, grant(0, 2)); err != nil {
		t.Fatal(err)
	}
	limits := func() string {
		return docker(t, "inspect", "--format", "{{.HostConfig.NanoCpus}} {{.HostConfig.CpusetCpus}}", e.Programs(0)[0].id)
	}
	if got := limits(); got != "2000000000" {
		t.Errorf("two cores are %q", got)
	}
	if err := e.Resize(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	if got := limits(); got != "1000000000" {
		t.Errorf("one core is %q", got)
	}
}

// A program that starts more and more processes reaches its own limit before the limit of the machine.
func TestLimitOnProcesses(t *testing.T) {
	h := local(t)
	// The shell ends when a fork fails.
	j := shell(t, "a", "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 60 & echo started; done; wait")
	e := newEngine(t, h, Options{Pids: 6}, j)
	if err := e.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	if end := ended(t, e); end.State != scheduler.Failed {
		t.Errorf("%+v", end)
	}
	if n := strings.Count(logOf(t, j), "started"); n == 0 || n > 5 {
		t.Errorf("it started %d of 12 processes", n)
	}
}

// The message of a failed job suggests a remedy.
func TestFailures(t *testing.T) {
	h := local(t)
	for _, test := range []struct {
		name string
		job  func(j *launch.Job)
		want string // part of the error of the start, or of the reason of the end
	}{
		{"exit status", func(j *launch.Job) { j.Argv[2] = "exit 3" }, "exit status 3"},
		{"no program", func(j *launch.Job) { j.Argv = []string{"no-such-program"} },
			`the image "tfexp/builtin:latest" has no program "no-such-program"`},
		{"no image", func(j *launch.Job) { j.Container.Image = "tfexp/none" }, `has no image "tfexp/none": build or pull it`},
		{"bad mount", func(j *launch.Job) {
			j.Container.Mounts = []launch.Mount{{Source: "/no/such/folder",
				Target: "/data"}}
		}, "make the folder, or correct mounts"},
		{"too little memory", func(j *launch.Job) { j.Memory = 1 << 20 }, "raise memory in the job block"},
		{"out of memory", func(j *launch.Job) {
			j.Memory = 16 << 20
			j.Argv[2] = "x=0123456789abcdef; while true; do x=$x$x; done"
		}, "killed because its memory ran out: it needs more than its limit of 16 MiB"},
		{"time limit", func(j *launch.Job) { j.Limit = 200 * time.Millisecond }, "time limit of 200ms"},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := shell(t, "a", "sleep 60")
			test.job(&j)
			e := newEngine(t, h, Options{}, j)
			reason := ""
			if err := e.Start(0, grant(0, 1)); err != nil {
				reason = err.Error()
			} else if end := ended(t, e); end.State != scheduler.Failed {
				t.Errorf("%+v", end)
			} else {
				reason = end.Reason
			}
			if !strings.Contains(reason, test.want) {
				t.Errorf("%s, want %q", reason, test.want)
			}
			if log := logOf(t, j); !strings.Contains(log, "tfexp: "+reason) {
				t.Errorf("the log ends in\n%s", log)
			}
		})
	}
}

// A container whose process is killed from outside is a failed job. The job can be started again, and its log
// continues.
func TestKilledFromOutside(t *testing.T) {
	h := local(t)
	j := shell(t, "a", "echo begun; [ -e $TFEXP_CHECKPOINT_DIR/x ] || { touch $TFEXP_CHECKPOINT_DIR/x; sleep 60; }")
	e := newEngine(t, h, Options{}, j)
	if err := e.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	until(t, "the first line", func() bool { return strings.Contains(logOf(t, j), "begun") })
	docker(t, "kill", "--signal", "KILL", e.Programs(0)[0].id)
	if end := ended(t, e); end.State != scheduler.Failed ||
		end.Reason != "killed by signal 9 ("+syscall.SIGKILL.String()+")" {
		t.Errorf("%+v", end)
	}
	if err := e.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	if end := ended(t, e); end.State != scheduler.Finished {
		t.Errorf("%+v", end)
	}
	if log := logOf(t, j); strings.Count(log, "begun") != 2 || !strings.Contains(log, "tfexp: killed by signal 9") {
		t.Errorf("the log is\n%s", log)
	}
}

// removeAll removes the containers of a folder.
func removeAll(h *Host, folder string) ([]string, error) {
	left, err := h.Containers(context.Background(), folder)
	if err != nil {
		return nil, err
	}
	return h.remove(context.Background(), left)
}

// The containers that a killed tfexp left behind in its folder are removed, and no others.
func TestSweep(t *testing.T) {
	h := local(t)
	ctx := context.Background()
	e := newEngine(t, h, Options{}, shell(t, "a", "sleep 60"))
	folder := t.TempDir()
	docker(t, "run", "--detach", "--network", "none", "--label", LabelRun+"=x", "--label",
		LabelFolder+"="+folder, "--label", LabelJob+"=b", testImage, "sleep", "60")
	if err := e.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	removed, err := removeAll(h, folder)
	if err != nil || len(removed) != 1 || !strings.Contains(removed[0], "job b") {
		t.Errorf("removed %v, %v", removed, err)
	}
	if left, err := h.Containers(ctx, e.opts.Folder); err != nil || len(left) != 1 || left[0].State != "running" {
		t.Errorf("another folder's containers: %v, %v", left, err)
	}
}

// An action on a job that ends at the same time is no error.
func TestActionsOnAJobThatEnds(t *testing.T) {
	h := local(t)
	j := shell(t, "a", "sleep 0.2")
	e := newEngine(t, h, Options{}, j)
	for range 3 {
		if err := e.Start(0, grant(0, 2)); err != nil {
			t.Fatal(err)
		}
		for i := 0; ; i++ {
			if err := e.Pause(0); err != nil {
				t.Fatal(err)
			}
			if err := e.Resume(0, grant(0, 2)); err != nil {
				t.Fatal(err)
			}
			if err := e.Resize(0, grant(0, int32(1+i%2))); err != nil {
				t.Fatal(err)
			}
			if _, over := e.Usage(0); over {
				break
			}
		}
		if end := ended(t, e); end.State != scheduler.Finished {
			t.Errorf("%+v", end)
		}
	}
}

// A progress report of a program in a container ends a call of Next that waits.
func TestReports(t *testing.T) {
	h := local(t)
	j := shell(t, "a", `echo '{"tfexp":{"epoch":1}}'; sleep 60`)
	e := newEngine(t, h, Options{}, j)
	e.Watch([]int{4})
	if err := e.Start(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	now, news, err := e.Next(ctx, scheduler.Never)
	if err != nil || len(news) != 1 || news[0].Kind != scheduler.JobProgress || news[0].Units != 1 || news[0].At > now {
		t.Errorf("at %s: %+v, %v", now, news, err)
	}
}

// TensorFlow and others bind their threads to the CPUs that they find at their start. After a resize such a program
// still runs on the CPUs that it has then.
func TestResizeOfAJobThatBoundItself(t *testing.T) {
	h := local(t)
	if !h.Local() {
		t.Skip("DOCKER_HOST is another machine's")
	}
	j := shell(t, "a", `taskset -p 2 $$; while true; do grep Cpus_allowed_list /proc/self/status; sleep 0.05; done`)
	e := newEngine(t, h, Options{}, j)
	if err := e.Start(0, grant(1, 2)); err != nil {
		t.Fatal(err)
	}
	until(t, "the first line", func() bool { return strings.Contains(logOf(t, j), "list:\t1\n") })
	if err := e.Resize(0, grant(0, 2)); err != nil {
		t.Fatal(err)
	}
	until(t, "both CPUs in the log", func() bool { return strings.Contains(logOf(t, j), "list:\t0-1\n") })
	if err := e.Resize(0, grant(0, 1)); err != nil {
		t.Fatal(err)
	}
	until(t, "the other CPU in the log", func() bool { return strings.Contains(logOf(t, j), "list:\t0\n") })
}
