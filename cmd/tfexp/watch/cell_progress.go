package watch

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// progressFollower follows the state of a running cell.
type progressFollower struct {
	file fileFollower
	last *record.CellProgress // nil: not known yet
	read time.Time            // when last was read
	use  []Usage              // thinned, like that in cellFollower
}

// progressOf returns the follower of the present state of the cell.
func (x *experiment) progressOf(cell string) *progressFollower {
	s := x.stands[cell]
	if s == nil {
		hidden := filepath.Base(table.Temporary(record.CellProgressFile))
		s = &progressFollower{file: fileFollower{dir: x.dir, name: [][]string{{record.CellsDir, cell, hidden}}}}
		x.stands[cell] = s
	}
	lines, anew, err := s.file.newLines()
	if err != nil {
		return s // it is looked at again
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

// addTo adds the state of a simulated cell that its events, which are written in parts, do not contain yet.
func (s *progressFollower) addTo(c *Cell) {
	if s.last == nil {
		return
	}
	c.At, c.HeldCores, c.HeldGPUs = s.last.At, s.last.Cores, s.last.GPUs
	c.Total, c.Done, c.Running = s.last.Jobs, s.last.Done, s.last.Running
	c.Waiting, c.Failed = s.last.Waiting, s.last.Failed
	c.Use = append([]Usage{}, s.use...)
}
