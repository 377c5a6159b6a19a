package record

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/tfexp/tfexp/results/table"
)

// CellProgressFile is the file in a running cell's folder with its progress, one JSON line per report. It has a
// temporary name (table.Temporary), and is removed when the cell ends.
const CellProgressFile = "standing.jsonl"

// CellProgress is the progress of a cell: the number of jobs by state, and the resources that they hold.
type CellProgress struct {
	At      float64 `json:"t_s"` // seconds since the cell's start
	Jobs    int     `json:"jobs"`
	Done    int     `json:"done"`
	Running int     `json:"running"`
	Waiting int     `json:"waiting"`
	Failed  int     `json:"failed"`
	Cores   int     `json:"cores"` // number held
	GPUs    int     `json:"gpus"`  // number held
	// Share is the finished fraction of the work of a real cell, from 0 to 1; 0 if unknown.
	Share float64 `json:"share,omitempty"`
}

// leastShare is the fraction of the work after which the remaining time is predicted from the time so far.
const leastShare = 0.1

// Left returns the remaining time of a real cell at its average speed so far. known is false below leastShare.
func (s *CellProgress) Left() (left time.Duration, known bool) {
	if s.Share < leastShare {
		return 0, false
	}
	return time.Duration(s.At * (1/s.Share - 1) * float64(time.Second)), true
}

// CellProgressWriter writes the progress of a cell for other processes to read. If Dir is "", it writes nothing.
// Close must be called.
type CellProgressWriter struct {
	Dir  string
	file *table.Pending
	done bool // a write has failed, so no more are tried
}

// Add writes a line. It ignores errors, because results do not depend on the progress.
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
