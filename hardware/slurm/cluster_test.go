//go:build unix

package slurm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/hardware/slurmcmd"
	"github.com/tfexp/tfexp/scheduler"
)

// job is a job that runs a script of the shell.
func job(script string) launch.Job {
	return launch.Job{Name: "job", Argv: []string{"/bin/sh", "-c", script}, Threads: 2}
}

// needCluster skips the test where no cluster with three nodes of two cores answers.
func needCluster(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs on a cluster, for seconds")
	}
	err := slurmcmd.Missing()
	if err == nil {
		var out string
		if out, err = slurmcmd.Run(t.Context(), 15*time.Second, "sinfo", "-h", "-N", "-p", "main", "-o", "%N"); err == nil &&
			len(strings.Fields(out)) < 3 {
			err = fmt.Errorf("the partition main has %d nodes, and 3 are needed", len(strings.Fields(out)))
		}
	}
	need.This(t, "slurm", err, `eval "$(hardware/slurm/cluster.sh start)"`)
}

// opened is a session and an engine on an allocation, in a folder that nodes see.
type opened struct {
	*Engine
	dir  string
	site engine.Session
	news []scheduler.Notice // not asked for yet
}

// open opens the engine on nodes of two cores for jobs.
func open(t *testing.T, nodes int, set settings, jobs ...launch.Job) *opened {
	return openFor(t, nodes, set, jobs...)
}

func openFor(t testing.TB, nodes int, set settings, jobs ...launch.Job) *opened {
	t.Helper()
	return openOn(t, slices.Repeat([]int{2}, nodes), set, jobs...)
}

// openOn opens the engine on nodes with the given numbers of cores.
func openOn(t testing.TB, cores []int, set settings, jobs ...launch.Job) *opened {
	t.Helper()
	return openAs(t, cores, set, false, jobs...)
}

// openAs is openOn, with jobs that write a checkpoint and end when they are paused.
func openAs(t testing.TB, cores []int, set settings, suspends bool, jobs ...launch.Job) *opened {
	t.Helper()
	needCluster(t)
	o := &opened{dir: t.TempDir()}
	h := &engine.Hardware{Name: "test", Kind: &kind, Settings: &set}
	for i, n := range cores {
		h.Cluster.Nodes = append(h.Cluster.Nodes, scheduler.Node{Name: fmt.Sprintf("node-%d", i+1), Threads: n})
	}
	if set.Watch == 0 {
		set.Watch = time.Second
	}
	if set.Time == 0 {
		set.Time = 10 * time.Minute
	}
	var err error
	if o.site, _, err = openSession(engine.Run{Dir: o.dir, Hardware: []*engine.Hardware{h}}); err != nil {
		t.Fatal(err)
	}
	for i := range jobs {
		jobs[i].LogPath = filepath.Join(o.dir, fmt.Sprintf("%d.log", i))
		jobs[i].ControlPath = filepath.Join(o.dir, fmt.Sprintf("%d.control", i))
		jobs[i].CheckpointDir = filepath.Join(o.dir, fmt.Sprintf("%d.checkpoints", i))
		jobs[i].Name = fmt.Sprintf("job%d", i)
	}
	e, err := o.site.Engine(t.Context(), engine.Task{Hardware: h, Cell: "test", Jobs: jobs, Suspends: suspends})
	if err != nil {
		t.Fatal(err, o.site.Close())
	}
	o.Engine = e.(*Engine)
	t.Cleanup(func() {
		if err := errors.Join(o.Engine.Close(), o.site.Close()); err != nil {
			t.Error(err)
		}
		if out := queue(t, "%A %j"); strings.Contains(out, "tfexp-test") {
			t.Errorf("left in the queue: %s", out)
		}
	})
	return o
}

// queue returns the output of squeue about all jobs that wait or run.
func queue(t testing.TB, format string) string {
	out, err := slurmcmd.Run(context.Background(), 0, "squeue", "-h", "-t", "PENDING,RUNNING", "-o", format)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// next returns the next notice of a kind.
func (o *opened) next(t *testing.T, kind scheduler.NoticeKind) scheduler.Notice {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		if i := slices.IndexFunc(o.news, func(n scheduler.Notice) bool { return n.Kind == kind }); i >= 0 {
			n := o.news[i]
			o.news = slices.Delete(o.news, i, i+1)
			return n
		}
		_, news, err := o.Next(ctx, scheduler.Never)
		if err != nil {
			t.Fatalf("wait for %s: %v", kind, err)
		}
		o.news = append(o.news, news...)
	}
}

// grant gives cores from lo to hi of a node.
func grant(node int, lo, hi int32) scheduler.Grant {
	return scheduler.Grant{Cores: part(node, lo, hi).Cores}
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("never: %s", what)
		}
	}
}

func read(path string) string {
	raw, _ := os.ReadFile(path)
	return string(raw)
}

// listens reports whether a job has said that it listens to signals.
func listens(o *opened, job int) bool {
	return strings.Contains(read(filepath.Join(o.dir, fmt.Sprintf("%d.log", job))), "listens\n")
}

// states are the states of all processes whose command line has a text.
func states(t *testing.T, text string) string {
	t.Helper()
	out, err := exec.Command("ps", "-eo", "stat=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, text) && !strings.Contains(line, "srun") && !strings.Contains(line, "slurmstepd") {
			states = append(states, line[:1])
		}
	}
	return strings.Join(states, "")
}

// Steps run on the cores that they are granted, stop and continue with all their processes, are rebound, and end as
// they should.
func TestStep(t *testing.T) {
	mark := fmt.Sprintf("7%d", os.Getpid())
	o := open(t, 2, settings{}, job(`grep Cpus_allowed_list /proc/self/status; echo "$TFEXP_JOB $TFEXP_INTRA_THREADS"
sleep `+mark+` & sleep `+mark+`; echo never`), job("exit 3"), job("kill -9 $$"), job("/nowhere/program"))
	for i, g := range []scheduler.Grant{grant(0, 1, 1), grant(1, 2, 3), grant(1, 2, 3), grant(1, 2, 3)} {
		if err := o.Start(i, g); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		end := o.next(t, scheduler.JobEnded)
		want := []string{"", "exit status 3", "killed by signal 9 (killed)", "exit status 127 on node n"}[end.Job]
		if end.State != scheduler.Failed || !strings.HasPrefix(end.Reason, want) {
			t.Errorf("job %d: %s (%s), want %s", end.Job, end.State, end.Reason, want)
		}
	}
	log := filepath.Join(o.dir, "0.log")
	eventually(t, "the log has what the job printed", func() bool { return strings.Contains(read(log), "job0 1\n") })
	if got := strings.Fields(read(log))[1]; got != "1" {
		t.Errorf("bound to core %s, want 1", got)
	}
	if err := o.Pause(0); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all is stopped", func() bool { return strings.Trim(states(t, "sleep "+mark), "T") == "" })
	if err := o.Resume(0, grant(0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "all goes on", func() bool { return !strings.Contains(states(t, "sleep "+mark), "T") })
	out, err := exec.Command("sh", "-c", "taskset -cp $(pgrep -nx -f 'sleep "+mark+"')").Output()
	if !strings.HasSuffix(string(out), ": 0\n") {
		t.Errorf("bound to %q (%v), want core 0", out, err)
	}
	if err := o.Resize(0, grant(0, 0, 1)); err != nil {
		t.Fatal(err)
	}
	if got := read(filepath.Join(o.dir, "0.control")); got != "1 2\n" {
		t.Errorf("control file %q", got)
	}
	if err := o.Stop(0); err != nil {
		t.Fatal(err)
	}
	if end := o.next(t, scheduler.JobEnded); end.State != scheduler.Stopped || states(t, "sleep "+mark) != "" {
		t.Errorf("%+v, %q left", end, states(t, "sleep "+mark))
	}
}

// A job that is paused by a checkpoint ends, holds nothing, and resumes from its checkpoint on another node.
func TestPausedByCheckpoint(t *testing.T) {
	o := openAs(t, []int{2, 2}, settings{}, true, job(`
trap 'echo "$SLURMD_NODENAME" >"$TFEXP_CHECKPOINT_DIR/saved"; exit 143' TERM
if [ -e "$TFEXP_CHECKPOINT_DIR/saved" ]; then echo "$SLURMD_NODENAME after $(cat "$TFEXP_CHECKPOINT_DIR/saved")"; exit; fi
echo listens
while :; do sleep 0.05; done`), job("exit 0"))
	o.up(t, 2)
	if err := o.Start(0, grant(0, 0, 1)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the job listens", func() bool { return listens(o, 0) })
	if err := o.Pause(0); err != nil {
		t.Fatal(err)
	}
	if err := o.Start(1, grant(0, 0, 1)); err != nil {
		t.Fatal(err)
	}
	if end := o.next(t, scheduler.JobEnded); end.Job != 1 || end.State != scheduler.Finished {
		t.Fatal(end)
	}
	if err := o.Resume(0, grant(1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	if end := o.next(t, scheduler.JobEnded); end.Job != 0 || end.State != scheduler.Finished {
		t.Error(end)
	}
	one, _ := o.pool.slotOf(0)
	other, _ := o.pool.slotOf(1)
	if log := read(filepath.Join(o.dir, "0.log")); !strings.Contains(log, other.name+" after "+one.name+"\n") {
		t.Errorf("the log is %q", log)
	}
}
