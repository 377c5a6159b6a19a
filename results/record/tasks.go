// Tasks records the cells that a batch system runs as tasks, and the results of tasks.

package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/tfexp/tfexp/results/folder"
)

// ArrayDir is the folder of the cells that a batch system runs, until they have been collected.
const ArrayDir = "array"

// Array is array.json in Dir: which tasks were submitted.
type Array struct {
	// On is the engine whose batch system runs them.
	On string `json:"on"`
	// Batch, AtOnce and Args are the requested options: cells per task, tasks at once, arguments of the batch
	// system.
	Batch  int               `json:"batch,omitempty"`
	AtOnce int               `json:"at_once,omitempty"`
	Args   map[string]string `json:"args,omitempty"`
	Tasks  []Task            `json:"tasks"`
}

// Task is one task. Its number is its index.
type Task struct {
	// Job is the number of the array that runs it now; empty when its cells have been collected.
	Job string `json:"job,omitempty"`
	// Real reports whether its cell runs for real, alone on a node.
	Real  bool       `json:"real,omitempty"`
	Cells []TaskCell `json:"cells"`
	// Lost counts how often the task ended without leaving word.
	Lost int `json:"lost,omitempty"`
}

// TaskCell is a cell of a task, with its key.
type TaskCell struct {
	Cell string `json:"cell"`
	Key  string `json:"key"`
}

// TaskExit is the record of a finished task, task-N.json in Dir.
type TaskExit struct {
	Cells   int     `json:"cells"`
	Ran     int     `json:"ran"` // the others were there already
	Failed  int     `json:"failed"`
	Host    string  `json:"host"`
	Ended   string  `json:"ended"` // RFC 3339
	Seconds float64 `json:"seconds"`
}

// TaskFile is the path of a file of a task, or of the array itself below 0, in an experiment's folder.
func TaskFile(dir string, task int, ending string) string {
	if task < 0 {
		return filepath.Join(dir, ArrayDir, "array.json")
	}
	return filepath.Join(dir, ArrayDir, "task-"+strconv.Itoa(task)+ending)
}

// ReadArray returns the submitted tasks of an experiment; ok is false when there are none, or all have been
// collected.
func ReadArray(dir string) (a Array, ok bool, err error) {
	err = readTaskJSON(TaskFile(dir, -1, ""), &a)
	if errors.Is(err, os.ErrNotExist) {
		return a, false, nil
	}
	if err != nil {
		return a, false, fmt.Errorf("read what was submitted: %w", err)
	}
	return a, true, nil
}

// WriteArray writes it, atomically.
func WriteArray(dir string, a Array) error {
	raw, err := json.MarshalIndent(a, "", " ")
	if err == nil {
		err = folder.Write(TaskFile(dir, -1, ""), append(raw, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write down what is submitted: %w", err)
	}
	return nil
}

// ReadTaskExit returns the record of a finished task; ok is false while there is none.
func ReadTaskExit(dir string, task int) (x TaskExit, ok bool) {
	err := readTaskJSON(TaskFile(dir, task, ".json"), &x)
	return x, err == nil
}

func readTaskJSON(path string, v any) error {
	return folder.ReadJSON(filepath.Dir(path), v, filepath.Base(path))
}
