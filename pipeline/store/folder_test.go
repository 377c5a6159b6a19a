package store

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

func TestCellFolders(t *testing.T) {
	dir := t.TempDir()
	if got := CellFolders(dir); len(got) != 0 {
		t.Errorf("without cells: %v", got)
	}
	write(t, dir, map[string]string{"cells/a/cell.json": "{}", "cells/b/jobs.csv": "", "cells/note.txt": ""})
	if got, want := CellFolders(dir), map[string]bool{"a": true, "b": true}; !maps.Equal(got, want) {
		t.Errorf("folders %v, want %v", got, want)
	}
}

func TestState(t *testing.T) {
	for _, c := range []struct {
		content, state string
		ok             bool
	}{
		{`{"state":"failed"}`, "failed", true},
		{`{"state":""}`, "", false},
		{`{}`, "", false},
		{`{"state":"done"`, "", false},
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{"cell.json": c.content})
		if state, _, ok := State(dir); state != c.state || ok != c.ok {
			t.Errorf("%s: %q, %v, want %q, %v", c.content, state, ok, c.state, c.ok)
		}
	}
	if state, _, ok := State(t.TempDir()); ok {
		t.Errorf("without cell.json: %q", state)
	}
}

// A cell is complete only under its own key, and only if all its files have their full length.
func TestComplete(t *testing.T) {
	k := key("policy.quantum", "1s")
	dir := t.TempDir()
	write(t, dir, map[string]string{
		KeyFile: k.Description(), "jobs.csv": "12345", "cell.json": `{"files":[{"name":"jobs.csv","bytes":5}]}`,
	})
	if !Complete(dir, k.Hash()) {
		t.Error("a whole cell is not complete")
	}
	if Complete(dir, key("policy.quantum", "2s").Hash()) {
		t.Error("complete under another key")
	}
	write(t, dir, map[string]string{"jobs.csv": "1234"})
	if Complete(dir, k.Hash()) {
		t.Error("complete with a file that was cut")
	}
	write(t, dir, map[string]string{"jobs.csv": "12345"})
	if err := os.Remove(filepath.Join(dir, KeyFile)); err != nil {
		t.Fatal(err)
	}
	if Complete(dir, k.Hash()) {
		t.Error("complete without its key")
	}
}
