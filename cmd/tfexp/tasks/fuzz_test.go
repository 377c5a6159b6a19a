package tasks

import (
	"bytes"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// Any file of a cell is read or refused. The work of a cell that is read has a speed at any size.
func FuzzTasks(f *testing.F) {
	ways := simulated.Scaling{Scaled: time.Hour}
	ways.AddAlternative(simulated.Scaling{Scaled: time.Second, SpeedUp: func(threads int) float64 { return float64(threads) }})
	task := stages.Task{Simulation: &stages.Simulation{Work: []simulated.Scaling{ways}}, Speeds: []simulated.Scaling{ways}}
	task.Setup.Cluster.Nodes = []scheduler.Node{{Threads: 2}}
	task.Setup.Jobs = []scheduler.Job{{Threads: 1, MaxThreads: 7}}
	var b bytes.Buffer
	if err := writeTask(&b, task, "key"); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()/2])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, raw []byte) {
		task, _, err := readTask(bytes.NewReader(raw))
		if err != nil {
			return
		}
		eachWork(&task, func(w *simulated.Scaling) {
			for _, threads := range []int{-1, 0, 1, 1 << 30} {
				if w.SpeedUp != nil {
					w.SpeedUp(threads)
				}
			}
		})
	})
}
