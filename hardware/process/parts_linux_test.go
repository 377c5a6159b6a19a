package process

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/supply"
)

// part returns a part of a job on one core, which is a separate node.
func part(role string, task, core int) scheduler.Part {
	return scheduler.Part{Node: core, Role: role, Task: task, Cores: cores(core).Cores}
}

// inParts returns a grant of a job with these parts.
func inParts(parts ...scheduler.Part) scheduler.Grant {
	var g scheduler.Grant
	held := map[int32]bool{}
	for _, p := range parts {
		if lo := p.Cores[0].Lo; !held[lo] {
			held[lo] = true
			g.Cores = append(g.Cores, p.Cores...)
		}
	}
	g.Layout = &cluster.Layout{Parts: parts}
	return g
}

// Each part of a job is a program with its own role, task and cores. The job ends when its first worker does. So do
// parameter servers, which never end by themselves.
func TestParts(t *testing.T) {
	cpus := twoCPUs(t)
	t.Setenv("TFEXP_ROLE", "chief")
	t.Setenv("TFEXP_BUDGET", "3")
	j := sh(`echo "$TFEXP_JOB $TFEXP_ROLE $TFEXP_TASK $TFEXP_INTRA_THREADS budget=$TFEXP_BUDGET"
		echo "$TFEXP_CLUSTER"; echo "$TF_CONFIG"; grep Cpus_allowed_list /proc/self/status
		case $TFEXP_ROLE$TFEXP_TASK in
		ps0) trap "" TERM; touch ready.ps; while :; do sleep 0.01; done;;
		worker0) until test -e ready.ps && test -e ready.1; do sleep 0.01; done;;
		*) touch ready.1; sleep 1000;;
		esac`)
	dir := t.TempDir()
	j.Dir, j.LogPath = dir, filepath.Join(dir, "job.log")
	j.Threads = 3
	e := open(t, Options{Grace: 100 * time.Millisecond}, j)
	if err := e.Start(0, inParts(part("ps", 0, 0), part("worker", 0, 0), part("worker", 1, 1))); err != nil {
		t.Fatal(err)
	}
	if end := next(t, e); end.State != scheduler.Finished || end.Reason != "" {
		t.Fatal(end)
	}
	lines := map[string][]string{}
	for name, path := range map[string]string{
		"worker 0": "job.log", "worker 1": "job.worker-1.log", "ps 0": "job.ps-0.log",
	} {
		l := strings.Split(read(t, filepath.Join(dir, path)), "\n")
		if want := "job " + name + " 1 budget="; l[0] != want {
			t.Errorf("%s: %q, want %q", path, l[0], want)
		}
		lines[name] = l
	}
	cluster := lines["ps 0"][1]
	if lines["worker 1"][1] != cluster || strings.Count(cluster, "127.0.0.1:") != 3 {
		t.Errorf("clusters %q and %q", cluster, lines["worker 1"][1])
	}
	if want := fmt.Sprintf(`{"cluster":%s,"task":{"type":"worker","index":1}}`, cluster); lines["worker 1"][2] != want {
		t.Errorf("TF_CONFIG %s, want %s", lines["worker 1"][2], want)
	}
	for name, core := range map[string]int{"ps 0": 0, "worker 1": 1} {
		if got := strings.Fields(lines[name][3])[1]; got != fmt.Sprint(cpus[core]) {
			t.Errorf("%s is bound to %s, want CPU %d", name, got, cpus[core])
		}
	}
}

// An action on a job applies to all of its parts.
func TestPartsPauseAndStop(t *testing.T) {
	cpus := twoCPUs(t)
	j := sh("sleep 1000")
	e := open(t, Options{Grace: 100 * time.Millisecond}, j)
	grant := inParts(part("ps", 0, 0), part("worker", 0, 0), part("worker", 1, 1))
	if err := e.Start(0, grant); err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, p := range e.Programs(0) {
		pids = append(pids, p.id.pid)
	}
	if err := e.Pause(0); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		eventually(t, fmt.Sprintf("process %d is stopped", pid), func() bool { s := state(pid); return s == "T" || s == "D" })
	}
	if err := e.Resume(0, inParts(part("ps", 0, 1), part("worker", 0, 1), part("worker", 1, 1))); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		eventually(t, fmt.Sprintf("process %d goes on", pid), func() bool { return state(pid) != "T" })
		if got := affinities(pid); got != fmt.Sprint(cpus[1]) {
			t.Errorf("process %d is bound to %s, want CPU %d", pid, got, cpus[1])
		}
	}
	if err := e.Stop(0); err != nil {
		t.Fatal(err)
	}
	if end := next(t, e); end.State != scheduler.Stopped {
		t.Error(end)
	}
}

// tfexp warns about a program that ignores its role: every part reports progress, and none listens at its address.
// There is no warning for a program that listens. The engine waits for neither.
func TestPartsThatIgnoreTheirRoles(t *testing.T) {
	twoCPUs(t)
	for script, want := range map[string]string{
		`echo '{"tfexp":{"epoch":1,"loss":0.5}}'; touch said.$TFEXP_TASK
			until test -e said.0 && test -e said.1; do sleep 0.01; done`: "here.hcl line 3: its part worker-1 reports progress of its own",
		`test $TFEXP_TASK = 1 || sleep 1`: "here.hcl line 3: none of its parts ever listened at its address",
	} {
		var mu sync.Mutex
		var warnings []string
		j := sh(script)
		j.Place, j.Dir = "here.hcl line 3", t.TempDir()
		j.LogPath = filepath.Join(j.Dir, "a.log")
		e := open(t, Options{Grace: 100 * time.Millisecond, Warn: func(_ int, code, text string) {
			mu.Lock()
			defer mu.Unlock()
			warnings = append(warnings, code+": "+text)
		}}, j)
		if err := e.Start(0, inParts(part("worker", 0, 0), part("worker", 1, 1))); err != nil {
			t.Fatal(err)
		}
		if end := next(t, e); end.State != scheduler.Finished {
			t.Fatal(end)
		}
		mu.Lock()
		if all := strings.Join(warnings, "\n"); !strings.Contains(all, launch.IgnoredRole+": "+want) {
			t.Errorf("%s: %q", script, all)
		}
		mu.Unlock()
	}
	met := func(address string) bool {
		met, known := launch.ClusterConnected(contract.Cluster{"ps": {address}}, "/proc/self/net")
		return met && known
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !met(l.Addr().String()) || met("127.0.0.1:1") {
		t.Error("who listens is not seen, or who does not is")
	}
}

// If a part fails, the job ends, unless the job's work is done. If a part cannot be started, no program of the job is
// left.
func TestPartsFail(t *testing.T) {
	twoCPUs(t)
	for _, test := range []struct {
		name, script, reason string
		state                scheduler.State
	}{
		{"a worker", `test $TFEXP_ROLE$TFEXP_TASK = worker1 && exit 3; sleep 1000`, "worker-1: exit status 3", scheduler.Failed},
		{"the first", `test $TFEXP_ROLE$TFEXP_TASK = worker0 && exit 3; sleep 1000`, "exit status 3", scheduler.Failed},
		{"a worker that ends in time", `test $TFEXP_ROLE$TFEXP_TASK = worker1 && exit 0; sleep 0.2`, "", scheduler.Finished},
		{"a worker when the work is done", `if test $TFEXP_ROLE$TFEXP_TASK = worker1; then
				until test -e ready; do sleep 0.01; done
				exit 3
			fi
			trap "exit 0" TERM; touch ready; while :; do sleep 0.01; done`, "", scheduler.Finished},
	} {
		t.Run(test.name, func(t *testing.T) {
			j := sh(test.script)
			j.Dir = t.TempDir()
			e := open(t, Options{Grace: time.Minute}, j)
			if err := e.Start(0, inParts(part("worker", 0, 0), part("worker", 1, 1))); err != nil {
				t.Fatal(err)
			}
			if end := next(t, e); end.State != test.state || end.Reason != test.reason {
				t.Errorf("%s (%s), want %s (%s)", end.State, end.Reason, test.state, test.reason)
			}
		})
	}
	e := open(t, Options{}, sh("sleep 1000"))
	err := e.Start(0, inParts(part("worker", 0, 0), part("ps", 0, 999)))
	if err == nil || !strings.Contains(err.Error(), "ps-0: there is no core 999") {
		t.Error(err)
	}
}

// If a worker is killed from outside, it is lost and the others continue.
func TestAWorkerIsKilled(t *testing.T) {
	twoCPUs(t)
	j := sh(`trap "exit 0" USR1; touch ready.$TFEXP_TASK; while :; do sleep 0.01; done`)
	j.Dir = t.TempDir()
	j.Roles = []scheduler.Role{{Name: "worker", Count: 2, Threads: 1, Elastic: true, Min: 1}}
	e := open(t, Options{Grace: 100 * time.Millisecond}, j)
	if err := e.Start(0, inParts(part("worker", 0, 0), part("worker", 1, 1))); err != nil {
		t.Fatal(err)
	}
	pids := [2]int{}
	for _, p := range e.Programs(0) {
		task := e.Part(p).Task
		pids[task] = p.id.pid
		ready := filepath.Join(j.Dir, fmt.Sprintf("ready.%d", task))
		eventually(t, "it listens", func() bool { _, err := os.Stat(ready); return err == nil })
	}
	syscall.Kill(pids[1], syscall.SIGKILL)
	if n := next(t, e); n.Kind != scheduler.PartEnded || n.Task != 1 ||
		n.Reason != "worker-1: killed by signal 9 (killed)" {
		t.Fatal(n)
	}
	if err := e.Reshape(0, inParts(part("worker", 0, 0))); err != nil {
		t.Fatal(err)
	}
	syscall.Kill(pids[0], syscall.SIGUSR1)
	if end := next(t, e); end.State != scheduler.Finished || end.Reason != "" {
		t.Error(end)
	}
}

// foretold is an event of a node that happens as soon as a condition holds.
type foretold struct {
	scheduler.Notice
	when func() bool
}

// plannedFleet has a server for each node from the start, and gives its events in order.
type plannedFleet struct {
	up      []scheduler.Notice
	news    []foretold
	took    time.Duration // when it was last called
	warning time.Duration // from a warning until the announced loss
}

func (f *plannedFleet) Acquire(node int, now time.Duration) *scheduler.Server {
	f.up = append(f.up, scheduler.Notice{Kind: scheduler.NodeUp, Node: node, At: now})
	return &scheduler.Server{Created: now, Market: "spot"}
}
func (f *plannedFleet) Release(int) {}
func (f *plannedFleet) Next() time.Duration {
	switch {
	case len(f.up) > 0:
		return 0
	case len(f.news) > 0:
		return f.took + 5*time.Millisecond
	}
	return scheduler.Never
}
func (f *plannedFleet) Take(now time.Duration, news []scheduler.Notice) []scheduler.Notice {
	news, f.up, f.took = append(news, f.up...), nil, now
	for len(f.news) > 0 && f.news[0].when() {
		n := f.news[0].Notice
		n.At = now
		if n.Kind == scheduler.NodeWarned {
			n.Until = now + f.warning
		}
		news, f.news = append(news, n), f.news[1:]
	}
	return news
}

// The engine of a task with a fleet gives the fleet's servers.
func TestSiteHasTheFleetOfItsTask(t *testing.T) {
	run := engine.Run{Dir: t.TempDir(), GPUs: func() ([]gpu.Device, error) { return nil, nil }}
	site, _, err := kind.Open(run)
	if err != nil {
		t.Fatal(err)
	}
	e, err := site.Engine(t.Context(), engine.Task{Cell: "c", Fleet: &plannedFleet{}})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := e.(supply.Provider).Acquire(0); err != nil || s == nil || s.Market != "spot" {
		t.Errorf("the server: %+v, %v", s, err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// await waits for the next notice of a kind and returns it.
func await(t *testing.T, e *Engine, kind scheduler.NoticeKind) scheduler.Notice {
	t.Helper()
	ctx := patient(t)
	for {
		_, news, err := e.Next(ctx, scheduler.Never)
		if err != nil {
			t.Fatalf("wait for %s: %v", kind, err)
		}
		for _, n := range news {
			if n.Kind == kind {
				return n
			}
		}
	}
}

// holds reports whether a file exists and contains a text.
func holds(path, text string) bool {
	content, err := os.ReadFile(path)
	return err == nil && strings.Contains(string(content), text)
}

// The programs on a node are warned of its loss, and end with it. The other programs of the job continue, or end if the
// lost part was the job's lead.
func TestNodeIsLost(t *testing.T) {
	twoCPUs(t)
	script := `trap 'cat $TFEXP_CONTROL > said.$TFEXP_TASK; echo asked; touch asked.$TFEXP_TASK; exit 143' TERM
		touch ready.$TFEXP_TASK; while :; do sleep 0.01; done`
	grant := inParts(part("worker", 0, 0), part("worker", 1, 1))
	for _, revoke := range []bool{false, true} {
		node := 1
		if revoke {
			node = 0
		}
		j := sh(script)
		j.Dir = t.TempDir()
		j.ControlPath = filepath.Join(j.Dir, "control")
		there := func(name string) bool { return holds(filepath.Join(j.Dir, name), "") }
		fleet := &plannedFleet{warning: time.Minute, news: []foretold{
			{scheduler.Notice{Kind: scheduler.NodeWarned, Node: node}, func() bool { return there("ready.0") && there("ready.1") }},
			{scheduler.Notice{Kind: scheduler.NodeDown, Node: node}, func() bool {
				// The other program is also asked to end if the ended one was the job's lead.
				return there(fmt.Sprint("asked.", node)) && (!revoke || there("asked.1"))
			}},
		}}
		cluster := scheduler.Cluster{Nodes: []scheduler.Node{{Name: "a", Threads: 1}, {Name: "b", Threads: 1}}}
		e := open(t, Options{Grace: time.Minute, Fleet: fleet, Cluster: cluster}, j)
		if err := e.Start(0, grant); err != nil {
			t.Fatal(err)
		}
		warned := await(t, e, scheduler.NodeWarned)
		if down := await(t, e, scheduler.NodeDown); down.At < warned.At {
			t.Errorf("warned at %s, lost at %s", warned.At, down.At)
		}
		if said := read(t, fmt.Sprintf("%s/said.%d", j.Dir, node)); !strings.Contains(said, `"warning":`) {
			t.Errorf("the program was told %q", said)
		}
		var lost, other *program
		for _, p := range e.Programs(0) {
			if e.Part(p).Node == node {
				lost = p
			} else {
				other = p
			}
		}
		if alive(lost.id.pid) || !revoke && !alive(other.id.pid) {
			t.Errorf("lost program: %v, other: %v", alive(lost.id.pid), alive(other.id.pid))
		}
		if revoke {
			eventually(t, "the other ends as well", func() bool { return !alive(other.id.pid) })
		}
		if log := read(t, lost.Job.LogPath); !strings.HasSuffix(log, "asked\ntfexp: its server was taken away\n") {
			t.Errorf("log %q", log)
		}
		if !revoke {
			if err := e.Reshape(0, inParts(part("worker", 0, 0))); err != nil {
				t.Fatal(err)
			}
			if err := e.Reshape(0, grant); err != nil { // the worker comes back
				t.Fatal(err)
			}
			if n := len(e.Programs(0)); n != 3 || !alive(e.Programs(0)[2].id.pid) {
				t.Errorf("%d programs", n)
			}
			syscall.Kill(other.id.pid, syscall.SIGKILL)
			if end := next(t, e); end.State != scheduler.Failed || end.Reason != "killed by signal 9 (killed)" {
				t.Error(end)
			}
			continue
		}
		if _, err := e.Revoke(0); err != nil {
			t.Fatal(err)
		}
		if alive(other.id.pid) {
			t.Error("a part of a revoked job is left")
		}
		if err := e.Start(0, grant); err != nil {
			t.Fatal(err)
		}
		if err := e.Stop(0); err != nil {
			t.Fatal(err)
		}
		if end := next(t, e); end.State != scheduler.Stopped {
			t.Error(end)
		}
	}
}
