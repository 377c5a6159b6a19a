package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/supply"
)

// inParts returns the grant of a job with a worker on each of two cores, and a parameter server that shares the first
// core. Each core is a separate node.
func inParts(workers ...int) scheduler.Grant {
	g := scheduler.Grant{Layout: &cluster.Layout{}}
	for _, w := range workers {
		set := scheduler.CoreSet{{Lo: int32(w), Hi: int32(w) + 1}}
		g.Cores = g.Cores.Union(set)
		g.Layout.Parts = append(g.Layout.Parts, scheduler.Part{Node: w, Role: "worker", Task: w, Cores: set})
	}
	g.Layout.Parts = append(g.Layout.Parts, scheduler.Part{Node: workers[0], Role: "ps"})
	return g
}

// plannedFleet has a server for each node from the start, and gives the notices in news at their times.
type plannedFleet struct{ news []scheduler.Notice }

func (f *plannedFleet) Acquire(node int, now time.Duration) *scheduler.Server {
	return &scheduler.Server{Created: now, Market: "spot"}
}
func (f *plannedFleet) Release(int) {}
func (f *plannedFleet) Next() time.Duration {
	if len(f.news) == 0 {
		return scheduler.Never
	}
	return f.news[0].At
}
func (f *plannedFleet) Take(now time.Duration, news []scheduler.Notice) []scheduler.Notice {
	for len(f.news) > 0 && f.news[0].At <= now {
		news, f.news = append(news, f.news[0]), f.news[1:]
	}
	return news
}

// The engine of a task with a fleet gives the fleet's servers.
func TestSiteHasTheFleetOfItsTask(t *testing.T) {
	h, err := Connect(t.Context(), fakeDaemon(t, "1.51", nil))
	if err != nil {
		t.Fatal(err)
	}
	s := &session{hosts: map[string]*Host{"a": h}}
	e, err := s.Engine(t.Context(), engine.Task{Cell: "c", Fleet: &plannedFleet{}, Hardware: &engine.Hardware{
		Settings: &settings{Hosts: []string{"a"}}, Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Threads: 1}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := e.(supply.Provider).Acquire(0); err != nil || s == nil || s.Market != "spot" {
		t.Errorf("the server: %+v, %v", s, err)
	}
	if err := errors.Join(e.Close(), h.Close()); err != nil {
		t.Error(err)
	}
}

// twoNodes returns an engine on two nodes of one core each, both on the daemon of this machine.
func twoNodes(t *testing.T, h *Host, opts Options, jobs ...launch.Job) *Engine {
	t.Helper()
	opts.Folder = t.TempDir()
	opts.Cluster = scheduler.Cluster{Nodes: []scheduler.Node{{Name: "a", Threads: 1}, {Name: "b", Threads: 1}}}
	e, err := New(jobs, []Node{{Host: h, CPUs: []int{0}}, {Host: h, CPUs: []int{1}}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if left, err := h.Containers(context.Background(), opts.Folder); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
	return e
}

// states returns the states of the containers that belong to an engine's folder, by part.
func states(t *testing.T, e *Engine) map[string]string {
	t.Helper()
	all := map[string]string{}
	e.mu.Lock()
	containers := e.Programs(0)
	e.mu.Unlock()
	for _, jc := range containers {
		state, known := e.inspectContainer(jc)
		switch {
		case !known:
			t.Errorf("the daemon does not know %s", launch.PartName(e.Part(jc)))
		case state != nil && state.Running:
			all[launch.PartName(e.Part(jc))] = docker(t, "inspect", "--format", "{{.State.Status}} {{.HostConfig.CpusetCpus}}",
				jc.id)
		}
	}
	return all
}

// next waits for the next notice of a kind.
func next(t *testing.T, e *Engine, kind scheduler.NoticeKind) scheduler.Notice {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
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

// Each part of a job is a container with its own role, task and cores. The containers share a network that no other
// container has. The job ends with its first worker, and so do parameter servers, which never end by themselves. An
// action on the job applies to all of its containers.
func TestParts(t *testing.T) {
	h := local(t)
	j := shell(t, "a", `echo "$TFEXP_ROLE $TFEXP_TASK $TFEXP_INTRA_THREADS $TFEXP_CONTROL"; echo "$TFEXP_CLUSTER"
		echo "$TF_CONFIG"; ip link | grep -c '^[0-9]'
		port=${TFEXP_CLUSTER#*\"ps\":[\"127.0.0.1:}; port=${port%%\"*}
		case $TFEXP_ROLE in
		ps) trap "" TERM; while :; do echo weights | nc -l -p $port; done;;
		worker) until nc 127.0.0.1 $port </dev/null 2>/dev/null; do sleep 0.1; done; until test -e $TFEXP_CHECKPOINT_DIR/end; do sleep 0.1; done;;
		esac; test $TFEXP_TASK = 0 || sleep 1000`)
	e := twoNodes(t, h, Options{Grace: 200 * time.Millisecond}, j)
	if err := e.Start(0, inParts(0, 1)); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprint(map[string]string{"worker-0": "running 0", "worker-1": "running 1", "ps-0": "running 0"})
	if got := fmt.Sprint(states(t, e)); got != want {
		t.Errorf("containers %s, want %s", got, want)
	}
	log := func(part string) string {
		l := j
		l.LogPath = strings.TrimSuffix(j.LogPath, ".log") + part
		return logOf(t, l)
	}
	for _, part := range []string{".log", ".worker-1.log"} {
		until(t, "the worker"+part+" has weights", func() bool { return strings.Contains(log(part), "weights") })
	}
	if err := e.Pause(0); err != nil {
		t.Fatal(err)
	}
	for part, got := range states(t, e) {
		if !strings.HasPrefix(got, "paused") {
			t.Errorf("%s is %s", part, got)
		}
	}
	if err := e.Resume(0, inParts(0, 1)); err != nil {
		t.Fatal(err)
	}
	docker(t, "exec", e.Programs(0)[0].id, "touch", "/tfexp/checkpoint/end")
	if end := ended(t, e); end.State != scheduler.Finished || end.Reason != "" {
		t.Fatalf("%+v\n%s", end, log(".log"))
	}
	first := strings.Split(log(".log"), "\n")
	other := strings.Split(log(".worker-1.log"), "\n")
	if first[0] != "worker 0 1 /tfexp/control/control.worker-0" ||
		other[0] != "worker 1 1 /tfexp/control/control.worker-1" {
		t.Errorf("%q and %q", first[0], other[0])
	}
	if first[1] != other[1] || strings.Count(first[1], "127.0.0.1:") != 3 || first[3] != "1" {
		t.Errorf("clusters %q and %q, %s interfaces", first[1], other[1], first[3])
	}
	if want := fmt.Sprintf(`{"cluster":%s,"task":{"type":"worker","index":1}}`, first[1]); other[2] != want {
		t.Errorf("TF_CONFIG %s, want %s", other[2], want)
	}
}

// If a part fails, the job ends. If a part cannot be started, no container of the job is left behind.
func TestPartsFail(t *testing.T) {
	h := local(t)
	e := twoNodes(t, h, Options{Grace: 200 * time.Millisecond}, shell(t, "a", `test $TFEXP_TASK = 1 && exit 3; sleep 1000`))
	if err := e.Start(0, inParts(0, 1)); err != nil {
		t.Fatal(err)
	}
	if end := ended(t, e); end.State != scheduler.Failed || end.Reason != "worker-1: exit status 3" {
		t.Errorf("%+v", end)
	}
	bad := inParts(0, 1)
	bad.Layout.Parts[1].Cores = scheduler.CoreSet{{Lo: 7, Hi: 8}}
	e = twoNodes(t, h, Options{}, shell(t, "a", "sleep 1000"))
	if err := e.Start(0, bad); err == nil || !strings.Contains(err.Error(), "worker-1: there is no core 7") {
		t.Error(err)
	}
}

// The containers on a node are warned before the node is lost, and are removed after it. The other containers of the
// job continue, or end if the lost part was the job's lead.
func TestNodeIsLost(t *testing.T) {
	h := local(t)
	for _, revoke := range []bool{false, true} {
		node := 1
		if revoke {
			node = 0
		}
		j := shell(t, "a", `trap 'cp $TFEXP_CONTROL $TFEXP_CHECKPOINT_DIR/$TFEXP_ROLE.$TFEXP_TASK; echo asked; exit 143' TERM
			while :; do cp $TFEXP_CONTROL $TFEXP_CHECKPOINT_DIR/$TFEXP_ROLE.$TFEXP_TASK; sleep 0.02; done`)
		fleet := &plannedFleet{}
		e := twoNodes(t, h, Options{Grace: 20 * time.Second, Fleet: fleet}, j)
		if err := e.Start(0, inParts(0, 1)); err != nil {
			t.Fatal(err)
		}
		said := func(part string) string {
			raw, _ := os.ReadFile(filepath.Join(j.CheckpointDir, part)) // missing until the part has written it
			return string(raw)
		}
		until(t, "both listen", func() bool { return said("worker.0") != "" && said("worker.1") != "" })
		fleet.news = []scheduler.Notice{{Kind: scheduler.NodeWarned, Node: node, At: e.Now(), Until: e.Now() + time.Minute}}
		next(t, e, scheduler.NodeWarned)
		until(t, "the program is told", func() bool { return strings.Contains(said(fmt.Sprintf("worker.%d", node)), `"warning":`) })
		if !revoke {
			until(t, "the first is asked for a checkpoint", func() bool { return strings.Contains(said("worker.0"), `"checkpoint":true`) })
		}
		lost := strings.TrimSuffix(j.LogPath, ".log") + map[bool]string{false: ".worker-1.log", true: ".log"}[revoke]
		until(t, "it is asked to end", func() bool { return strings.Contains(logAt(t, lost), "asked") })
		if revoke { // then lose the other part, which is the lead
			other := strings.TrimSuffix(j.LogPath, ".log") + ".worker-1.log"
			until(t, "the other is asked to end", func() bool { return strings.Contains(logAt(t, other), "asked") })
		}
		at := e.Now()
		fleet.news = []scheduler.Notice{{Kind: scheduler.NodeDown, Node: node, At: at}}
		if down := next(t, e, scheduler.NodeDown); down.At < at {
			t.Errorf("lost at %s, before %s", down.At, at)
		}
		left := map[bool]string{false: "map[ps-0:running 0 worker-0:running 0]", true: "map[]"}[revoke]
		until(t, "the containers are "+left, func() bool { return fmt.Sprint(states(t, e)) == left })
		if log := logAt(t, lost); !strings.HasSuffix(log, "asked\ntfexp: its server was taken away\n") {
			t.Errorf("log %q", log)
		}
		if revoke {
			if _, err := e.Revoke(0); err != nil {
				t.Fatal(err)
			}
			if got := states(t, e); len(got) > 0 {
				t.Errorf("left of a revoked job: %s", got)
			}
			if err := e.Start(0, inParts(0, 1)); err != nil {
				t.Fatal(err)
			}
		} else {
			if err := e.Reshape(0, inParts(0)); err != nil {
				t.Fatal(err)
			}
			if err := e.Reshape(0, inParts(0, 1)); err != nil { // the worker comes back
				t.Fatal(err)
			}
			if got := states(t, e); len(got) != 3 {
				t.Errorf("containers %s", got)
			}
		}
		if err := e.Stop(0); err != nil {
			t.Fatal(err)
		}
		if end := next(t, e, scheduler.JobEnded); end.State != scheduler.Stopped {
			t.Error(end)
		}
	}
}

// logAt returns the content of the file at path.
func logAt(t *testing.T, path string) string {
	t.Helper()
	return logOf(t, launch.Job{LogPath: path})
}
