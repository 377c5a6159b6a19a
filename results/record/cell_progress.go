package record

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/tfexp/tfexp/results/table"
)

// CellProgressFile holds the state of a running cell, in its folder: one JSON line for each time it was written,
// under the temporary name of the file (table.Temporary). It is removed when the cell ends.
const CellProgressFile = "standing.jsonl"

// CellProgress is the state of a cell at an instant of the cell's time: its jobs by state, and their resources.
type CellProgress struct {
	At      float64 `json:"t_s"` // seconds since the cell's start
	Jobs    int     `json:"jobs"`
	Done    int     `json:"done"`
	Running int     `json:"running"`
	Waiting int     `json:"waiting"`
	Failed  int     `json:"failed"`
	Cores   int     `json:"cores"` // held
	GPUs    int     `json:"gpus"`  // held
	// Share is the finished part of the work of a real cell, from 0 to 1; 0 where it is not known.
	Share float64 `json:"share,omitempty"`
}

// leastShare is the share from which the time of a cell so far says how long it takes.
const leastShare = 0.1

// Left returns the remaining time of a real cell, which is expected to keep its average speed. It is not known while the
// cell has done too little.
func (s *CellProgress) Left() (left time.Duration, known bool) {
	if s.Share < leastShare {
		return 0, false
	}
	return time.Duration(s.At * (1/s.Share - 1) * float64(time.Second)), true
}

// CellProgressWriter writes the progress of the cell in a folder, for other processes to read. The zero value of Dir
// writes none. Close must be called.
type CellProgressWriter struct {
	Dir  string
	file *table.Pending
	done bool // nothing more can be written
}

// Add writes a line. Failed writes are ignored: a cell's results do not depend on them.
func (w *CellProgressWriter) Add(s CellProgress) {
	if w.Dir == "" || w.done {
		return
	}
	var err error
	if w.file == nil {
		if w.file, err = table.NewPending(filepath.Join(w.Dir, CellProgressFile), false); err != nil {
			w.done = true
			return
		}
	}
	line, err := json.Marshal(s)
	if err == nil {
		_, err = w.file.Write(append(line, '\n'))
	}
	if err == nil {
		err = w.file.Flush()
	}
	w.done = err != nil
}

// Close removes the file.
func (w *CellProgressWriter) Close() {
	w.file.Abort()
	w.done = true
}
