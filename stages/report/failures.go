package report

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/prose"
	"github.com/tfexp/tfexp/results/record"
)

// failure is a job that did not finish, or a cell that is wrong as a whole.
type failure struct {
	Cell, Job, At, Reason string
	// Log has the last lines of the job's log.
	Log string
}

func (v *view) failures(e *record.Experiment) error {
	for _, c := range e.FailedCells() {
		if c.Error != "" {
			v.addFailure(failure{Cell: c.Cell, Reason: c.Error})
		}
		for _, f := range c.Failures {
			if len(v.Failures) == mostFailures {
				v.MoreFailures++
				continue
			}
			log, err := logTail(e.Dir, filepath.Join(record.CellsDir, c.Cell, record.LogsDir, f.Job+".log"))
			if err != nil {
				return err
			}
			v.addFailure(failure{c.Cell, f.Job, prose.Number(f.At) + " s", f.Reason, log})
		}
		v.MoreFailures += max(0, measure.Failed.CountOf(&c.Metrics)-len(c.Failures))
	}
	return nil
}

func (v *view) addFailure(f failure) {
	if len(v.Failures) == mostFailures {
		v.MoreFailures++
		return
	}
	v.Failures = append(v.Failures, f)
}

// How much of a log the page shows.
const (
	tailLines = 12
	tailBytes = 4 << 10
)

// logTail reads the last lines of a log below dir; "" when there is none.
func logTail(dir, log string) (string, error) {
	f, err := folder.Open(dir, log)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	start := max(0, info.Size()-tailBytes)
	raw, err := io.ReadAll(io.NewSectionReader(f, start, tailBytes))
	if err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	lines := strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
	if start > 0 && len(lines) > 1 {
		lines = lines[1:] // its beginning is missing
	}
	lines = lines[max(0, len(lines)-tailLines):]
	text := strings.ToValidUTF8(strings.Join(lines, "\n"), "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1 // control characters of terminals
		}
		return r
	}, text), nil
}
