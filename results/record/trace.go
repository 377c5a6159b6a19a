package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/tfexp/tfexp/scheduler"
)

// EventRow is a line of events.jsonl: what happened to a job, and what it
// holds from then on.
type EventRow struct {
	At    float64             `json:"t_s"`
	Event scheduler.EventKind `json:"event"`
	Job   string              `json:"job"`
	Cores scheduler.CoreSet   `json:"cores"`
	GPUs  scheduler.CoreSet   `json:"gpus,omitempty"`
	// Resource is the alternative with which a job starts or resumes, if it has
	// several.
	Resource string `json:"resource,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// DecisionRow is a line of decisions.jsonl: why the scheduler did what it did.
type DecisionRow struct {
	At       float64             `json:"t_s"`
	Decision scheduler.EventKind `json:"decision"`
	Job      string              `json:"job"`
	Cores    scheduler.CoreSet   `json:"cores"`
	Reason   string              `json:"reason"`
	// Passed are the jobs before this one in the policy's order that did not
	// get to run; PassedMore counts those that are not listed.
	Passed     []PassedRow `json:"passed,omitempty"`
	PassedMore int         `json:"passed_more,omitempty"`
}

// PassedRow is a job that was passed over, and why.
type PassedRow struct {
	Job    string `json:"job"`
	Reason string `json:"reason"`
}

// readLines reads the JSON objects of a file, one a line. A last line without
// its end is still being written, and left out.
func readLines[T any](path string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		f, err := os.Open(path)
		if err != nil {
			yield(zero, err)
			return
		}
		defer f.Close()
		in := bufio.NewReaderSize(f, 1<<16)
		for n := 1; ; n++ {
			line, err := in.ReadBytes('\n')
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(zero, fmt.Errorf("read %s: %w", path, err))
				return
			}
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			var row T
			if err := json.Unmarshal(line, &row); err != nil {
				yield(zero, fmt.Errorf("read %s: line %d: %w", path, n, err))
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}
