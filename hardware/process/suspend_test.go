//go:build unix

package process

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/enginetest"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

func TestRoundsMoveJobsByCheckpoints(t *testing.T) {
	cpu, dir := hardware.AllowedCPUs()[0], t.TempDir()
	logOf := func(name string) string { return filepath.Join(dir, name+".log") }
	enginetest.MovesByCheckpoints(t, 80*time.Millisecond,
		func(cluster scheduler.Cluster, script string, names []string) scheduler.Engine {
			var programs []launch.Job
			for _, name := range names {
				j := sh(script)
				j.Name, j.CheckpointDir, j.LogPath = name, filepath.Join(dir, name), logOf(name)
				programs = append(programs, j)
			}
			return open(t, Options{Suspends: true, CPUs: []int{cpu, cpu}, Cluster: cluster}, programs...)
		},
		func(name string) string { return read(t, logOf(name)) })
}
