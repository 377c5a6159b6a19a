// This file writes a cell into a file, for another process that runs it.

package tasks

import (
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/stages"
)

// Settings of policies contain durations and maps.
func init() {
	gob.Register(time.Duration(0))
	gob.Register([]schema.Setting(nil))
}

// written is the file format of a cell.
type written struct {
	// Version is the version of this file format.
	Version int
	Task    stages.Task
	// Key is the description of the cell's key, which is written into the cell's folder.
	Key string
	// Speeds has, for each distinct speed-up function, its values on 1, 2, 3, … threads. Speed has the index in Speeds
	// for each piece of work, in the order of eachWork; -1 means no speed-up. gob cannot encode functions.
	Speeds [][]float64
	Speed  []int
	// Checkpoints are the simulated checkpoints by job number. They are a map because gob cannot encode nil elements of
	// a list.
	Checkpoints map[int]simulated.Checkpoint
}

const writtenForm = 6

// errCourse is returned for a cell with jobs whose speed changes over time, since such a cell cannot be written into a
// file.
var errCourse = errors.New("a cell with jobs whose speed changes over time cannot run as a task")

// writeTask writes a task and the description of its key.
func writeTask(to io.Writer, t stages.Task, key string) error {
	course := false
	eachWork(&t, func(w *simulated.Scaling) { course = course || w.Special != nil && w.Special.Begin != nil })
	if course {
		return errCourse
	}
	w := written{Version: writtenForm, Task: t, Key: key}
	threads := 1
	for _, n := range t.Setup.Cluster.Nodes {
		threads += n.Threads
	}
	for _, j := range t.Setup.Jobs {
		threads = max(threads, j.Threads, j.MaxThreads)
	}
	at := map[string]int{}
	eachWork(&w.Task, func(work *simulated.Scaling) {
		if work.SpeedUp == nil {
			w.Speed = append(w.Speed, -1)
			return
		}
		speeds := make([]float64, max(threads, work.Threads))
		for i := range speeds {
			speeds[i] = work.SpeedUp(i + 1)
		}
		id := fmt.Sprint(speeds)
		n, ok := at[id]
		if !ok {
			n = len(w.Speeds)
			at[id] = n
			w.Speeds = append(w.Speeds, speeds)
		}
		w.Speed = append(w.Speed, n)
	})
	if t.Simulation != nil && t.Simulation.Options.Checkpoints != nil {
		alone := *t.Simulation
		alone.Options.Checkpoints = nil
		w.Task.Simulation, w.Checkpoints = &alone, map[int]simulated.Checkpoint{}
		for job, c := range t.Simulation.Options.Checkpoints {
			if c != nil {
				w.Checkpoints[job] = *c
			}
		}
	}
	if err := gob.NewEncoder(to).Encode(&w); err != nil {
		return fmt.Errorf("write a cell to a file: %w", err)
	}
	return nil
}

// readTask reads a task that writeTask has written.
func readTask(from io.Reader) (t stages.Task, key string, err error) {
	var w written
	if err := gob.NewDecoder(from).Decode(&w); err != nil {
		return t, "", fmt.Errorf("read a cell: %w", err)
	}
	if w.Version != writtenForm {
		return t, "", fmt.Errorf("read a cell: it was written by another version of tfexp")
	}
	n := 0
	eachWork(&w.Task, func(work *simulated.Scaling) {
		if n >= len(w.Speed) || w.Speed[n] >= len(w.Speeds) || w.Speed[n] >= 0 && len(w.Speeds[w.Speed[n]]) == 0 {
			err = errors.New("read a cell: its file lacks the speed-up of its jobs")
			return
		}
		if s := w.Speed[n]; s >= 0 {
			speeds := w.Speeds[s]
			work.SpeedUp = func(threads int) float64 { return speeds[min(max(threads, 1), len(speeds))-1] }
		}
		n++
	})
	if len(w.Checkpoints) > 0 && w.Task.Simulation == nil {
		return t, "", errors.New("read a cell: its file has checkpoints but no simulation")
	}
	if len(w.Checkpoints) > 0 {
		all := make([]*simulated.Checkpoint, len(w.Task.Simulation.Jobs))
		for job, c := range w.Checkpoints {
			if job < 0 || job >= len(all) {
				return t, "", errors.New("read a cell: its file has checkpoints of unknown jobs")
			}
			all[job] = &c
		}
		w.Task.Simulation.Options.Checkpoints = all
	}
	return w.Task, w.Key, err
}

// eachWork calls visit for each piece of work of a task, always in the same order.
func eachWork(t *stages.Task, visit func(*simulated.Scaling)) {
	var each func([]simulated.Scaling)
	each = func(all []simulated.Scaling) {
		for i := range all {
			visit(&all[i])
			each(all[i].Alternatives())
		}
	}
	if t.Simulation != nil {
		each(t.Simulation.Work)
	}
	if t.Online != nil {
		each(t.Online.Work)
	}
	each(t.Speeds)
}
