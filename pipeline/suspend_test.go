package pipeline

import (
	"strings"
	"testing"

	"github.com/tfexp/tfexp/stages"
)

// The setting of how jobs are paused reaches the engine of a cell.
func TestPausesByCheckpointReachTheEngine(t *testing.T) {
	for _, suspends := range []bool{false, true} {
		file := realFile
		if suspends {
			file = strings.Replace(file, `engine  = "process"`, "engine = \"process\"\n  pause = \"checkpoint\"", 1)
		}
		task, err := plan(t, file, t.TempDir()).cells[0].Task(stages.Folders{Dir: t.TempDir(), Scratch: t.TempDir()})
		if err != nil || task.ForEngine().Suspends != suspends {
			t.Errorf("%v, %v, want %v", task.ForEngine().Suspends, err, suspends)
		}
	}
}
