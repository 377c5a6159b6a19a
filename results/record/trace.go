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

// EventRow is a line of events.jsonl: a change of a job, and the resources that
// it holds from then on.
type EventRow struct {
	At    float64             `json:"t_s"`
	Event scheduler.EventKind `json:"event"`
	Job   string              `json:"job"`
	Cores scheduler.CoreSet   `json:"cores"`
	GPUs  scheduler.CoreSet   `json:"gpus,omitempty"`
	// SharesWith is the job that shares these GPUs (start, resume).
	SharesWith string `json:"beside,omitempty"`
	// Parts are the parts that a job with roles has from then on (start, resize), in the order of its roles.
	Parts []PartRow `json:"parts,omitempty"`
	// Node is the node of an event that is about one, and not about a job; Market where
	// its server is rented, which is created at Created (node_request); Until when it
	// will be taken away (node_warned).
	Node    string  `json:"node,omitempty"`
	Market  string  `json:"market,omitempty"`
	Created float64 `json:"created_s,omitempty"`
	Until   float64 `json:"until_s,omitempty"`
	// Resource is the alternative with which a job starts or resumes, if it has
	// several.
	Resource string `json:"resource,omitempty"`
	// Reason is the cause in words of a failure or a stop, or the content of one
	// of the fields below in words; see scheduler.Event.Detail.
	Reason string `json:"reason,omitempty"`
	// Request is the new request of a request event, in cores; Levels the change
	// of a level event; Prediction the prediction of a predict event.
	Request    int            `json:"request,omitempty"`
	Levels     *LevelsRow     `json:"levels,omitempty"`
	Prediction *PredictionRow `json:"prediction,omitempty"`
	// Migrated reports whether a job resumes on other nodes than it was paused on, or with
	// other GPUs.
	Migrated bool `json:"migrated,omitempty"`
	// Action is a controller's decision, and Settings the settings after it.
	Action   string `json:"action,omitempty"`
	Settings string `json:"settings,omitempty"`
}

// Of returns the event as one of the job with this number, for a ledger.
func (r *EventRow) Of(job int) scheduler.Event {
	at := time.Duration(math.Round(r.At*1e6)) * time.Microsecond
	return scheduler.Event{At: at, Kind: r.Event, Job: job, Cores: r.Cores, GPUs: r.GPUs}
}

// PartRow is a part of a job, "worker-1", and the node that it is on.
type PartRow struct {
	Part string `json:"part"`
	Node string `json:"node"`
}

// LevelsRow is a change of a job's effective level.
type LevelsRow struct {
	From int `json:"from"`
	To   int `json:"to"`
}

// PredictionRow is the predicted remaining time of a job after a number of
// finished units: on its full request, in seconds; nil where it is unknown.
type PredictionRow struct {
	Done   int      `json:"units"`
	Total  int      `json:"of"`
	Left   *float64 `json:"left_s"`
	Before *float64 `json:"before_s"`
}

// DecisionRow is a line of decisions.jsonl: the reasons of the scheduler.
type DecisionRow struct {
	At       float64             `json:"t_s"`
	Decision scheduler.EventKind `json:"decision"`
	Job      string              `json:"job"`
	Cores    scheduler.CoreSet   `json:"cores"`
	Reason   string              `json:"reason"`
	// Passed are the jobs before this one in the policy's order that did not get
	// to run; PassedMore counts the unlisted ones.
	Passed     []PassedRow `json:"passed,omitempty"`
	PassedMore int         `json:"passed_more,omitempty"`
}

// PassedRow is a job that was passed over, and why.
type PassedRow struct {
	Job    string `json:"job"`
	Reason string `json:"reason"` // in words
	// Lacks lists the resources that it needed and that were not free; see scheduler.Passed.
	Lacks []LackRow `json:"lacks,omitempty"`
}

// LackRow is something that a job needs and that is not free: "cores" on a node.
type LackRow struct {
	Resource string `json:"resource,omitempty"` // the alternative, for a job that has some
	What     string `json:"what"`
	Where    string `json:"where,omitempty"`
	Need     int64  `json:"needs"`
	Free     int64  `json:"free"`
}

// readLines reads the JSON objects of a file, one a line. A last line without
// its end is still being written, and left out.
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
