package history

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
)

// A killed run leaves at most one incomplete line, which the next run removes.
func TestJournalSurvivesATornLine(t *testing.T) {
	dir := t.TempDir()
	j, err := store.OpenJournal(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Add(store.JournalEntry{Event: "run_start"}); err != nil {
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
	if j, err = store.OpenJournal(dir); err != nil {
		t.Fatal(err)
	}
	if err := j.Add(store.JournalEntry{Event: "run_end"}); err != nil {
		t.Fatal(err)
	}
	j.Close()
	entries, err = ReadJournal(dir)
	if err != nil || len(entries) != 2 || entries[1].Event != "run_end" {
		t.Errorf("after a torn line: %+v, %v", entries, err)
	}
}

// If one line is damaged, all other lines are still read.
func TestJournalWithADamagedLine(t *testing.T) {
	dir := t.TempDir()
	text := `{"time":"2024-01-01T00:00:00Z","event":"run_start"}` + "\n" + "\x00\xffgarbage\n\n" +
		`{"time":"2024-01-01T00:00:01Z","event":"run_end"}` + "\n"
	if err := os.WriteFile(filepath.Join(dir, record.JournalFile), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	entries, err := ReadJournal(dir)
	if err != nil || len(entries) != 3 || entries[1].Event != DamagedLine || entries[2].Event != "run_end" ||
		!strings.Contains(entries[1].Text, "line 2 ") || entries[1].Time != entries[0].Time {
		t.Errorf("%+v, %v", entries, err)
	}
}

// A file that is not a journal, or a link to another place, is renamed. Nothing is written through the link.
func TestJournalThatIsNone(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.WriteFile(elsewhere, []byte("mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(path string) error{
		"link":    func(path string) error { return os.Symlink(elsewhere, path) },
		"folder":  func(path string) error { return os.Mkdir(path, 0o755) },
		"no line": func(path string) error { return os.WriteFile(path, make([]byte, 3<<20), 0o644) },
	} {
		dir := t.TempDir()
		if err := put(filepath.Join(dir, record.JournalFile)); err != nil {
			t.Fatal(err)
		}
		j, err := store.OpenJournal(dir)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := j.Add(store.JournalEntry{Event: "run_start"}); err != nil {
			t.Fatal(err)
		}
		j.Close()
		if entries, err := ReadJournal(dir); err != nil || len(entries) != 1 {
			t.Errorf("%s: %+v, %v", name, entries, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, record.JournalFile+".damaged")); err != nil {
			t.Errorf("%s: it was not set aside: %v", name, err)
		}
	}
	if raw, _ := os.ReadFile(elsewhere); string(raw) != "mine\n" {
		t.Errorf("something was written through the link: %q", raw)
	}
}
