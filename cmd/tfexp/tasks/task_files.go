// This file has the files of a run's tasks and their contents.

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

// arrayDir is the folder with the files of tasks. It exists until all their cells have been collected.
const arrayDir = "array"

// submission is the content of array.json: the submitted tasks.
type submission struct {
	// On is the engine whose batch system runs the tasks.
	On string `json:"on"`
	// Batch is the number of cells in a task, AtOnce the largest number of tasks that run at once, and Args are
	// arguments of the batch system.
	Batch  int               `json:"batch,omitempty"`
	AtOnce int               `json:"at_once,omitempty"`
	Args   map[string]string `json:"args,omitempty"`
	Tasks  []task            `json:"tasks"`
}

// task is one task. Its number is its index in Tasks.
type task struct {
	// Job is the number of the array that contains the task. It is empty if the task is in no queue or its cells were
	// collected.
	Job string `json:"job,omitempty"`
	// Real reports whether its cell runs for real; such a task has one cell and a whole node.
	Real  bool       `json:"real,omitempty"`
	Cells []taskCell `json:"cells"`
	// Lost counts how often the task disappeared from the queue without a record of its end.
	Lost int `json:"lost,omitempty"`
}

// taskCell is a cell of a task, with its key.
type taskCell struct {
	Cell string `json:"cell"`
	Key  string `json:"key"`
}

// taskExit is the content of task-N.json: the record of a task that has ended.
type taskExit struct {
	Cells   int     `json:"cells"`
	Ran     int     `json:"ran"` // without cells that were already complete
	Failed  int     `json:"failed"`
	Host    string  `json:"host"`
	Ended   string  `json:"ended"` // in RFC 3339
	Seconds float64 `json:"seconds"`
}

// taskFile returns the path of a file of a task; for a negative task, the path of array.json. dir is the experiment's
// folder.
func taskFile(dir string, task int, ending string) string {
	if task < 0 {
		return filepath.Join(dir, arrayDir, "array.json")
	}
	return filepath.Join(dir, arrayDir, "task-"+strconv.Itoa(task)+ending)
}

// readArray returns the submitted tasks of an experiment. ok is false if it has none, or all were collected.
func readArray(dir string) (a submission, ok bool, err error) {
	err = readTaskJSON(taskFile(dir, -1, ""), &a)
	if errors.Is(err, os.ErrNotExist) {
		return a, false, nil
	}
	if err != nil {
		return a, false, fmt.Errorf("read the list of submitted tasks: %w", err)
	}
	return a, true, nil
}

// writeArray writes array.json atomically.
func writeArray(dir string, a submission) error {
	raw, err := json.MarshalIndent(a, "", " ")
	if err == nil {
		err = folder.Write(taskFile(dir, -1, ""), append(raw, '\n'), 0o644)
	}
	if err != nil {
		return fmt.Errorf("write the list of submitted tasks: %w", err)
	}
	return nil
}

// readTaskExit returns the record of a task's end. ok is false if the task has not written it yet.
func readTaskExit(dir string, task int) (x taskExit, ok bool) {
	err := readTaskJSON(taskFile(dir, task, ".json"), &x)
	return x, err == nil
}

func readTaskJSON(path string, v any) error {
	return folder.ReadJSON(filepath.Dir(path), v, filepath.Base(path))
}
