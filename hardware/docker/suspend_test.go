package docker

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/enginetest"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// A job that goes on is in a new container, on the node that it is given; both nodes are of one daemon.
func TestRoundsMoveContainersByCheckpoints(t *testing.T) {
	h := local(t)
	jobs := map[string]launch.Job{}
	enginetest.MovesByCheckpoints(t, 300*time.Millisecond,
		func(cluster scheduler.Cluster, script string, names []string) scheduler.Engine {
			var programs []launch.Job
			for _, name := range names {
				jobs[name] = shell(t, name, script)
				programs = append(programs, jobs[name])
			}
			e, err := New(programs, []Node{{Host: h, CPUs: []int{0}}, {Host: h, CPUs: []int{0}}},
				Options{Folder: t.TempDir(), Suspends: true, Cluster: cluster})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			return e
		},
		func(name string) string { return logOf(t, jobs[name]) })
}
