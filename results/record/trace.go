package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"time"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler"
)

// EventRow is a line of events.jsonl: a change of a job, and the resources that it holds afterwards.
type EventRow struct {
	At    float64             `json:"t_s"`
	Event scheduler.EventKind `json:"event"`
	Job   string              `json:"job"`
	Cores scheduler.CoreSet   `json:"cores"`
	GPUs  scheduler.CoreSet   `json:"gpus,omitempty"`
	// SharesWith is the other job on these GPUs (start, resume).
	SharesWith string `json:"beside,omitempty"`
	// Parts are the parts that a job with roles has afterwards, in the order of its roles (start, resize).
	Parts []PartRow `json:"parts,omitempty"`
	// Node is the node that the event is about, instead of a job. Market is where its server is rented; the server is
	// created at Created (node_request). Until is when it will be taken away (node_warned).
	Node    string  `json:"node,omitempty"`
	Market  string  `json:"market,omitempty"`
	Created float64 `json:"created_s,omitempty"`
	Until   float64 `json:"until_s,omitempty"`
	// Resource is the alternative with which a job starts or resumes; "" if it has none.
	Resource string `json:"resource,omitempty"`
	// Reason is the cause of a failure or a stop in words, or one of the fields below in words; see
	// scheduler.Event.Detail.
	Reason string `json:"reason,omitempty"`
	// Request is the new request in cores (request), Levels the change of levels (level), and Prediction the new
	// prediction (predict).
	Request    int            `json:"request,omitempty"`
	Levels     *LevelsRow     `json:"levels,omitempty"`
	Prediction *PredictionRow `json:"prediction,omitempty"`
	// Migrated is set if a job resumes on other nodes, or with other GPUs, than before its pause.
	Migrated bool `json:"migrated,omitempty"`
	// Action is a controller's decision; Settings are the settings after it.
	Action   string `json:"action,omitempty"`
	Settings string `json:"settings,omitempty"`
}

// Of converts the row to an event of the job with this number, for a ledger.
func (r *EventRow) Of(job int) scheduler.Event {
	at := time.Duration(math.Round(r.At*1e6)) * time.Microsecond
	return scheduler.Event{At: at, Kind: r.Event, Job: job, Cores: r.Cores, GPUs: r.GPUs}
}

// PartRow is a part of a job, such as "worker-1", with its node.
type PartRow struct {
	Part string `json:"part"`
	Node string `json:"node"`
}

// LevelsRow is a change of a job's effective level.
type LevelsRow struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// PredictionRow is the predicted remaining time of a job on its full request, in seconds, after a number of finished
// units; nil if unknown.
type PredictionRow struct {
	Done   int      `json:"units"`
	Total  int      `json:"of"`
	Left   *float64 `json:"left_s"`
	Before *float64 `json:"before_s"`
}

// DecisionRow is a line of decisions.jsonl: a decision of the scheduler with its reasons.
type DecisionRow struct {
	At       float64             `json:"t_s"`
	Decision scheduler.EventKind `json:"decision"`
	Job      string              `json:"job"`
	Cores    scheduler.CoreSet   `json:"cores"`
	Reason   string              `json:"reason"`
	// Passed are jobs that precede this one in the policy's order but did not start. PassedMore is the number of
	// further ones.
	Passed     []PassedRow `json:"passed,omitempty"`
	PassedMore int         `json:"passed_more,omitempty"`
}

// PassedRow is a job that was passed over, and the reason.
type PassedRow struct {
	Job    string `json:"job"`
	Reason string `json:"reason"` // a phrase
	// Lacks are the resources that the job needed and that were not free; see scheduler.Passed.
	Lacks []LackRow `json:"lacks,omitempty"`
}

// LackRow is a resource that a job needs and that is not free, such as "cores" on a node.
type LackRow struct {
	Resource string `json:"resource,omitempty"` // the alternative, for a job with several
	What     string `json:"what"`
	Where    string `json:"where,omitempty"`
	Need     int64  `json:"needs"`
	Free     int64  `json:"free"`
}

// readLines reads the JSON objects in the lines of a file. It skips a last line without a line break, which is still
// being written.
func readLines[T any](e *Experiment, c CellRef, name string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var zero T
		f, err := e.open(c, name)
		if err != nil {
			yield(zero, err)
			return
		}
		defer f.Close()
		in := bufio.NewReaderSize(f, 1<<16)
		for n := 1; ; n++ {
			line, err := folder.ReadLine(in)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(zero, fmt.Errorf("read %s: %w", f.Name(), err))
				return
			}
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			var row T
			if err := json.Unmarshal(line, &row); err != nil {
				reason, _ := folder.InWords(err)
				yield(zero, &folder.DamagedError{Path: f.Name(), Line: n, Reason: reason})
				return
			}
			if !yield(row, nil) {
				return
			}
		}
	}
}
