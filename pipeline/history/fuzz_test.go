package history

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
)

// Any journal is read or renamed. Appended lines are read back, and complete lines stay.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(`{"time":"2024-01-01T00:00:00Z","event":"run_start"}` + "\n" + `{"time":"2024-01-0`))
	f.Add([]byte("\x00\xff\n\n[null]\n{}\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, record.JournalFile), raw, 0o644); err != nil {
			t.Fatal(err)
		}
		before, err := ReadJournal(dir)
		if err != nil {
			t.Fatal(err)
		}
		j, err := store.OpenJournal(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Add(store.JournalEntry{Event: "run_end"}); err != nil {
			t.Fatal(err)
		}
		j.Close()
		after, err := ReadJournal(dir)
		if err != nil || len(after) == 0 || after[len(after)-1].Event != "run_end" {
			t.Fatalf("%d entries, %v", len(after), err)
		}
		if cut := bytes.LastIndexByte(raw, '\n') + 1; cut == len(raw) && len(after) != len(before)+1 {
			t.Errorf("%d entries, then %d", len(before), len(after))
		}
	})
}
