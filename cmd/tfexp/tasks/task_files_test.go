package tasks

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Submissions and the results of tasks are read from separate files.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	if a, ok, err := readArray(dir); ok || err != nil {
		t.Errorf("nothing was submitted: %+v, %v, %v", a, ok, err)
	}
	if err := writeArray(dir, submission{}); err == nil {
		t.Error("it is written into no folder")
	}
	if err := os.MkdirAll(filepath.Join(dir, arrayDir), 0o755); err != nil {
		t.Fatal(err)
	}
	want := submission{On: "slurm", Batch: 2, AtOnce: 3, Args: map[string]string{"qos": "low"},
		Tasks: []task{{Job: "7", Cells: []taskCell{{"a", "k"}, {"b", "l"}}, Lost: 1}, {Real: true, Cells: []taskCell{{"c", "m"}}}}}
	if err := writeArray(dir, want); err != nil {
		t.Fatal(err)
	}
	if a, ok, err := readArray(dir); !ok || err != nil || !cmp.Equal(a, want) {
		t.Errorf("%v, %v, %s", ok, err, cmp.Diff(want, a))
	}
	if x, ok := readTaskExit(dir, 0); ok {
		t.Errorf("a task that runs has left %+v", x)
	}
	for task, text := range map[int]string{0: `{"cells": 2, "ran": 1, "host": "n"}`, 1: `{`} {
		if err := os.WriteFile(taskFile(dir, task, ".json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if x, ok := readTaskExit(dir, 0); !ok || x != (taskExit{Cells: 2, Ran: 1, Host: "n"}) {
		t.Errorf("%+v, %v", x, ok)
	}
	if x, ok := readTaskExit(dir, 1); ok {
		t.Errorf("half a file is %+v", x)
	}
	if err := os.WriteFile(taskFile(dir, -1, ""), []byte("["), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := readArray(dir); ok || err == nil {
		t.Error("a damaged file is no error")
	}
	for got, want := range map[string]string{taskFile("d", -1, ".x"): "array.json", taskFile("d", 0, ".out"): "task-0.out", taskFile("d", 12, ".json"): "task-12.json"} {
		if got != filepath.Join("d", arrayDir, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
