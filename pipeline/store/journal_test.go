package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
)

// A killed run leaves half a line at the most; the next one cuts it off.
func TestJournalSurvivesATornLine(t *testing.T) {
	dir := t.TempDir()
	j, err := OpenJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Add(JournalEntry{Event: "run_start"}); err != nil {
		t.Fatal(err)
	}
	j.Close()
	path := filepath.Join(dir, record.JournalFile)
	f, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	f.WriteString(`{"time":"2024-01-01T00:00:00Z","event":"cell_st`)
	f.Close()

	entries, err := ReadJournal(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("read %d entries (%v), want the whole one", len(entries), err)
	}
	if j, err = OpenJournal(dir); err != nil {
		t.Fatal(err)
	}
	if err := j.Add(JournalEntry{Event: "run_end"}); err != nil {
		t.Fatal(err)
	}
	j.Close()
	entries, err = ReadJournal(dir)
	if err != nil || len(entries) != 2 || entries[1].Event != "run_end" {
		t.Errorf("after a torn line: %+v, %v", entries, err)
	}
}

func TestLockNamesItsHolder(t *testing.T) {
	dir := t.TempDir()
	l, err := LockFolder(dir, []string{"tfexp", "run", "a.hcl"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = LockFolder(dir, []string{"tfexp", "run", "b.hcl"})
	var inUse *InUseError
	if !errors.As(err, &inUse) || !strings.Contains(err.Error(), "tfexp run a.hcl") {
		t.Errorf("second lock: %v, want the holder's command", err)
	}
	if h, held := Holder(dir); !held || !strings.Contains(h, "a.hcl") {
		t.Errorf("Holder = %q, %v", h, held)
	}
	l.Release()
	if h, held := Holder(dir); held {
		t.Errorf("released, but held by %s", h)
	}
	again, err := LockFolder(dir, nil)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	again.Release()
}
