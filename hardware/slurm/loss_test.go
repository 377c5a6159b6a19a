//go:build unix

package slurm

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/hardware/slurmcmd"
	"github.com/tfexp/tfexp/scheduler"
)

// needOwnCluster skips the test where the cluster is not the one that cluster.sh has started: it stops parts of it.
func needOwnCluster(t *testing.T) {
	t.Helper()
	needCluster(t)
	raw, err := os.ReadFile(os.Getenv("SLURM_CONF"))
	if err != nil || !strings.Contains(string(raw), "ClusterName=tfexp\n") {
		t.Skip("it stops parts of the cluster, and this one was not started by hardware/slurm/cluster.sh")
	}
	if _, err := exec.LookPath("slurmd"); err != nil {
		need.This(t, "slurm", err, "put /usr/sbin on the PATH")
	}
}

// daemons runs cluster.sh.
func daemons(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command("./cluster.sh", args...)
	cmd.Env = append(os.Environ(), "TFEXP_SLURM="+filepath.Dir(os.Getenv("SLURM_CONF")))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cluster.sh %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// setState gives a node another state, as an administrator does.
func setState(t *testing.T, node, state string) {
	t.Helper()
	if _, err := slurmcmd.Run(t.Context(), 0, "scontrol", "update", "NodeName="+node, "State="+state,
		"Reason=test"); err != nil {
		t.Fatal(err)
	}
}

// up asks for all nodes, as the scheduler does when it begins.
func (o *opened) up(t *testing.T, nodes int) {
	t.Helper()
	for v := range nodes {
		if s, err := o.Acquire(v); err != nil || s == nil {
			t.Fatal(s, err)
		}
	}
	for range nodes {
		o.next(t, scheduler.NodeUp)
	}
}

// A killed controller costs only time: steps continue, and requests to it meanwhile are carried out when it is back.
func TestControllerRestarts(t *testing.T) {
	needOwnCluster(t)
	end := filepath.Join(t.TempDir(), "end")
	o := open(t, 1, settings{}, job("while ! [ -e "+end+" ]; do sleep 0.05; done; exit 7"), job("echo here; exit 8"))
	o.up(t, 1)
	granted := time.Now()
	if err := o.Start(0, grant(0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the first job runs", func() bool { return runs(o, 0) })
	// A killed controller forgets state that it has not written down.
	eventually(t, "the allocation is written down", func() bool {
		state, err := os.Stat(filepath.Join(filepath.Dir(os.Getenv("SLURM_CONF")), "state", "job_state"))
		return err == nil && state.ModTime().After(granted.Add(20*time.Millisecond))
	})
	daemons(t, "kill", "slurmctld")
	t.Cleanup(func() { daemons(t, "daemon", "slurmctld") })
	if err := o.Start(1, grant(0, 1, 1)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(end, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if end := o.next(t, scheduler.JobEnded); end.Job != 0 || end.Reason != "exit status 7" {
		t.Error(end)
	}
	daemons(t, "daemon", "slurmctld")
	if end := o.next(t, scheduler.JobEnded); end.Job != 1 || end.Reason != "exit status 8" {
		t.Error(end)
	}
}

// A node that goes down is lost with its steps. The other nodes continue, and another node replaces it when one is
// available.
func TestNodeGoesDown(t *testing.T) {
	needOwnCluster(t)
	o := open(t, 2, settings{}, job("sleep 1000"), job("sleep 1000"))
	o.up(t, 2)
	for i := range 2 {
		if err := o.Start(i, grant(i, int32(2*i), int32(2*i))); err != nil {
			t.Fatal(err)
		}
	}
	lost, _ := o.pool.slotOf(1)
	eventually(t, "both run", func() bool {
		return runs(o, 0) && runs(o, 1)
	})
	daemons(t, "kill", lost.name)
	t.Cleanup(func() { daemons(t, "daemon", lost.name) })
	setState(t, lost.name, "DOWN") // as the controller does when a node has not answered for SlurmdTimeout
	down := o.next(t, scheduler.NodeDown)
	if down.Node != 1 {
		t.Fatal(down)
	}
	if _, err := o.Revoke(1); err != nil {
		t.Fatal(err)
	}
	if s, err := o.Acquire(1); s == nil || err != nil {
		t.Fatal(s, err)
	}
	if up := o.next(t, scheduler.NodeUp); up.Node != 1 { // the third node of the cluster
		t.Fatal(up)
	}
	if found, _ := o.pool.slotOf(1); found.name == lost.name {
		t.Errorf("the node %s is there again", lost.name)
	}
	if err := o.Start(1, grant(1, 2, 2)); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		if err := o.Stop(i); err != nil {
			t.Fatal(err)
		}
		if end := o.next(t, scheduler.JobEnded); end.State != scheduler.Stopped {
			t.Error(end)
		}
	}
	daemons(t, "daemon", lost.name)
	eventually(t, "the cluster is whole", func() bool {
		out, _ := slurmcmd.Run(t.Context(), 0, "sinfo", "-h", "-N", "-p", "main", "-t", "idle,alloc,mix", "-o", "%N")
		return len(slices.Compact(strings.Fields(out))) == 3
	})
}

// A node that is drained is left in time: its jobs are warned, asked to end, and gone at the end of the notice.
func TestNodeIsDrained(t *testing.T) {
	needOwnCluster(t)
	o := open(t, 1, settings{Notice: 5 * time.Second}, job(`trap 'cat "$TFEXP_CONTROL"; echo asked; exit 0' TERM
while :; do cat "$TFEXP_CONTROL"; sleep 0.1; done`))
	o.up(t, 1)
	if err := o.Start(0, grant(0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the job runs", func() bool { return read(filepath.Join(o.dir, "0.log")) != "" })
	s, _ := o.pool.slotOf(0)
	setState(t, s.name, "DRAIN")
	defer setState(t, s.name, "RESUME")
	if n := o.next(t, scheduler.NodeWarned); n.Until-n.At < 4*time.Second {
		t.Error(n)
	}
	eventually(t, "the job is told", func() bool { return strings.Contains(read(filepath.Join(o.dir, "0.log")), `"warning":`) })
	eventually(t, "the job is asked to end", func() bool {
		return strings.Contains(read(filepath.Join(o.dir, "0.log")),
			"asked\n")
	})
	// It had ended before its node was taken away.
	if end := o.next(t, scheduler.JobEnded); end.State != scheduler.Finished {
		t.Error(end)
	}
	o.next(t, scheduler.NodeDown)
}

// An allocation that is canceled, preempted or out of time takes all nodes with it, and another one is requested.
func TestAllocationGoesAway(t *testing.T) {
	o := open(t, 2, settings{}, job("sleep 1000"))
	o.up(t, 2)
	if err := o.Start(0, grant(0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	first, _ := o.pool.slotOf(0)
	if _, err := slurmcmd.Run(t.Context(), 0, "scancel", first.alloc.job); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		o.next(t, scheduler.NodeDown)
	}
	if _, err := o.Revoke(0); err != nil {
		t.Fatal(err)
	}
	o.up(t, 2)
	second, _ := o.pool.slotOf(0)
	if second.alloc.job == first.alloc.job {
		t.Errorf("the allocation %s again", first.alloc.job)
	}
	if err := o.Start(0, grant(0, 0, 0)); err != nil {
		t.Fatal(err)
	}
}

// A preempted allocation: its jobs are asked to end, and have not failed when they do. Another allocation is asked for.
func TestAllocationIsPreempted(t *testing.T) {
	needOwnCluster(t)
	o := open(t, 1, settings{}, job(`trap 'echo asked; exit 143' TERM; echo listens; while :; do sleep 0.1; done`))
	o.up(t, 1)
	if err := o.Start(0, grant(0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the job listens", func() bool { return listens(o, 0) })
	first, _ := o.pool.slotOf(0)
	urgent, err := slurmcmd.Run(t.Context(), 0, "sbatch", "--parsable", "--partition=urgent", "--nodelist="+first.name,
		"--exclusive", "--output=/dev/null", "--wrap", "sleep 1000")
	if err != nil {
		t.Fatal(err)
	}
	cancel := func() { slurmcmd.Run(context.Background(), 0, "scancel", strings.TrimSpace(urgent)) }
	t.Cleanup(cancel)
	o.next(t, scheduler.NodeDown)
	if log := read(filepath.Join(o.dir, "0.log")); !strings.Contains(log, "asked\n") {
		t.Errorf("the job was not asked to end: %s", log)
	}
	if _, err := o.Revoke(0); err != nil {
		t.Fatal(err)
	}
	cancel()
	o.up(t, 1)
	if second, _ := o.pool.slotOf(0); second.alloc.job == first.alloc.job {
		t.Errorf("the allocation %s again", first.alloc.job)
	}
	if err := o.Start(0, grant(0, 0, 0)); err != nil {
		t.Fatal(err)
	}
}

// An allocation that is preempted, but keeps its nodes for a grace time: Slurm asks the jobs to end. A job that ends
// has not failed; the others learn how long they have. The engine notices at once, though it asks the controller
// seldom.
func TestAllocationHasGraceTime(t *testing.T) {
	needOwnCluster(t)
	o := open(t, 1, settings{Partition: "patient", Watch: time.Hour, Notice: time.Minute},
		job(`trap 'echo asked; exit 143' TERM; echo listens; while :; do sleep 0.1; done`),
		job(`trap 'cat "$TFEXP_CONTROL"' TERM; echo listens; while :; do sleep 0.1; done`))
	o.up(t, 1)
	for i := range 2 {
		if err := o.Start(i, grant(0, int32(i), int32(i))); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "the jobs listen", func() bool { return listens(o, 0) && listens(o, 1) })
	first, _ := o.pool.slotOf(0)
	urgent, err := slurmcmd.Run(t.Context(), 0, "sbatch", "--parsable", "--partition=urgent", "--nodelist="+first.name,
		"--exclusive", "--output=/dev/null", "--wrap", "sleep 1000")
	if err != nil {
		t.Fatal(err)
	}
	cancel := func() { slurmcmd.Run(context.Background(), 0, "scancel", strings.TrimSpace(urgent)) }
	t.Cleanup(cancel)
	if warned := o.next(t, scheduler.NodeWarned); warned.Until-warned.At > 15*time.Second {
		t.Errorf("warned of its end in %s, and it has 15 s", warned.Until-warned.At)
	}
	if end := o.next(t, scheduler.JobEnded); end.Job != 0 || !end.Revoked {
		t.Error(end)
	}
	eventually(t, "the other job is told", func() bool { return strings.Contains(read(filepath.Join(o.dir, "1.log")), `"warning":`) })
	if err := o.Stop(1); err != nil {
		t.Fatal(err)
	}
	o.next(t, scheduler.JobEnded)
	o.next(t, scheduler.NodeDown)
	cancel()
	o.up(t, 1)
	if second, _ := o.pool.slotOf(0); second.alloc.job == first.alloc.job {
		t.Errorf("the allocation %s again", first.alloc.job)
	}
}

// An allocation that runs out of time: its jobs are warned and asked to end in time. When they have left, it is given
// back before its end, and they resume in another allocation.
func TestAllocationRunsOut(t *testing.T) {
	const notice = 50 * time.Second
	o := open(t, 2, settings{Time: time.Minute, Notice: notice}, job(`trap 'cat "$TFEXP_CONTROL"; echo asked; exit 143' TERM
while :; do cat "$TFEXP_CONTROL"; sleep 0.1; done`))
	o.up(t, 2)
	if err := o.Start(0, grant(0, 0, 0)); err != nil {
		t.Fatal(err)
	}
	first, _ := o.pool.slotOf(0)
	warned := o.next(t, scheduler.NodeWarned)
	if end := o.next(t, scheduler.JobEnded); !end.Revoked {
		t.Error(end)
	}
	if log := read(filepath.Join(o.dir, "0.log")); !strings.Contains(log, `"warning":`) || !strings.Contains(log, "asked\n") {
		t.Errorf("the job was not told: %s", log)
	}
	if down := o.next(t, scheduler.NodeDown); down.At > warned.Until-notice/2 {
		t.Errorf("warned until %s, down at %s: the allocation stood idle", warned.Until, down.At)
	}
	o.next(t, scheduler.NodeDown)
	o.up(t, 2)
	if second, _ := o.pool.slotOf(0); second.alloc.job == first.alloc.job {
		t.Errorf("the allocation %s again", first.alloc.job)
	}
	if err := o.Start(0, grant(0, 0, 0)); err != nil {
		t.Fatal(err)
	}
}

// runs reports whether the program of a job that has started runs.
func runs(e *opened, job int) bool {
	s := e.Programs(job)[0]
	e.mu.Lock()
	defer e.mu.Unlock()
	return s.began
}
