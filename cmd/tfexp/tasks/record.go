// Record has the files of the tasks of a run, and their contents.

package tasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tfexp/tfexp/results/folder"
)

// arrayDir is the folder of the cells that a batch system runs, until they have been collected.
const arrayDir = "array"

// submission is array.json in Dir: which tasks were submitted.
type submission struct {
	// On is the engine whose batch system runs them.
	On string `json:"on"`
	// Batch, AtOnce and Args are the requested options: cells per task, tasks at once, arguments of the batch
	// system.
	Batch  int               `json:"batch,omitempty"`
	AtOnce int               `json:"at_once,omitempty"`
	Args   map[string]string `json:"args,omitempty"`
	Tasks  []task            `json:"tasks"`
}

// task is one task. Its number is its index.
type task struct {
	// Job is the number of the array that runs it now; empty when its cells have been collected.
	Job string `json:"job,omitempty"`
	// Real reports whether its cell runs for real, alone on a node.
	Real  bool       `json:"real,omitempty"`
	Cells []taskCell `json:"cells"`
	// Lost counts how often the task ended without leaving word.
	Lost int `json:"lost,omitempty"`
}

// taskCell is a cell of a task, with its key.
type taskCell struct {
	Cell string `json:"cell"`
	Key  string `json:"key"`
}

// taskExit is the record of a finished task, task-N.json in Dir.
type taskExit struct {
	Cells   int     `json:"cells"`
	Ran     int     `json:"ran"` // the others were there already
	Failed  int     `json:"failed"`
	Host    string  `json:"host"`
	Ended   string  `json:"ended"` // RFC 3339
	Seconds float64 `json:"seconds"`
}

// taskFile is the path of a file of a task, or of the array itself below 0, in an experiment's folder.
func taskFile(dir string, task int, ending string) string {
	if task < 0 {
		return filepath.Join(dir, arrayDir, "array.json")
	}
	return filepath.Join(dir, arrayDir, "task-"+strconv.Itoa(task)+ending)
}

// readArray returns the submitted tasks of an experiment; ok is false without tasks, or when all have been
// collected.
func readArray(dir string) (a submission, ok bool, err error) {
	err = readTaskJSON(taskFile(dir, -1, ""), &a)
	if errors.Is(err, os.ErrNotExist) {
		return a, false, nil
	}
	if err != nil {
		return a, false, fmt.Errorf("read what was submitted: %w", err)
	}
	return a, true, nil
}

// writeArray writes it, atomically.
func writeArray(dir string, a submission) error {
	raw, err := json.MarshalIndent(a, "", " ")
	if err == nil {
		err = folder.Write(taskFile(dir, -1, ""), append(raw, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write down what is submitted: %w", err)
	}
	return nil
}

// readTaskExit returns the record of a finished task; ok is false while it is missing.
func readTaskExit(dir string, task int) (x taskExit, ok bool) {
	err := readTaskJSON(taskFile(dir, task, ".json"), &x)
	return x, err == nil
}

func readTaskJSON(path string, v any) error {
	return folder.ReadJSON(filepath.Dir(path), v, filepath.Base(path))
}
