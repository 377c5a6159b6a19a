package watch

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// progressFollower reads the progress of a running cell.
type progressFollower struct {
	file fileFollower
	last *record.CellProgress // nil: unknown
	read time.Time            // when last was read
	use  []Usage              // with at most a few hundred points, as in cellFollower
}

// progressOf reads the current progress of a running cell.
func (x *experiment) progressOf(cell string) *progressFollower {
	s := x.stands[cell]
	if s == nil {
		hidden := filepath.Base(table.Temporary(record.CellProgressFile))
		s = &progressFollower{file: fileFollower{dir: x.dir, name: [][]string{{record.CellsDir, cell, hidden}}}}
		x.stands[cell] = s
	}
	lines, anew, err := s.file.newLines()
	if err != nil {
		return s // a later call tries again
	}
	if anew {
		s.last, s.use = nil, nil
	}
	for _, line := range lines {
		var at record.CellProgress
		if json.Unmarshal(line, &at) != nil {
			continue
		}
		s.last, s.read = &at, time.Now()
		s.use = append(s.use, Usage{At: at.At, Cores: at.Cores, GPUs: at.GPUs, Waiting: at.Waiting})
		if len(s.use) > 8*mostPoints {
			s.use = thin(s.use)
		}
	}
	return s
}

// addTo adds the progress of a simulated cell to its state. Events of a simulated cell are written in blocks, so they
// are not current.
func (s *progressFollower) addTo(c *Cell) {
	if s.last == nil {
		return
	}
	c.At, c.HeldCores, c.HeldGPUs = s.last.At, s.last.Cores, s.last.GPUs
	c.Total, c.Done, c.Running = s.last.Jobs, s.last.Done, s.last.Running
	c.Waiting, c.Failed = s.last.Waiting, s.last.Failed
	c.Use = append([]Usage{}, s.use...)
}
