package program

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/jobs/contract"
)

// Any content of a control file is refused, or it is a message that is unchanged after writing and reading it again.
func FuzzControl(f *testing.F) {
	for _, text := range []string{
		"1 2\n", "1 -2", "99999999999999999999 1", "", "\x00", "{", "{}", `{"inter": 1, "intra": 2, "serial": 7}`,
		`{"allotment": 3, "change": "up", "settings": {"a": "1", "b": 0.5, "c": null}}`, `{"budget": -1}`,
		`{"budget": 1e308, "time_left": 0, "warning": 30, "deepen": {}, "checkpoint": true}`, `{"settings": [`, "[[[[[[",
		`{"INTER": 2}`, `{"inter": 1.5}`, `{"change": "sideways"}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "control")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		m, _, err := NewControl(path).Read()
		if err != nil {
			return
		}
		if a, ok := Threads(m); ok && (a.Inter < 1 || a.Intra < 1) {
			t.Fatalf("%q allots %+v", text, a)
		}
		for name := range m.Settings {
			if _, ok := m.Setting(name); !ok {
				t.Errorf("the setting %q is lost", name)
			}
		}
		if err := WriteMessage(path, m); err != nil {
			t.Fatalf("%q cannot be written: %v", text, err)
		}
		again, _, err := NewControl(path).Read()
		if err != nil {
			t.Fatalf("%q cannot be read again: %v", text, err)
		}
		first, second := m, again
		for _, of := range []*contract.Message{&first, &second} { // a text in JSON may be written in several ways
			of.Settings = nil
		}
		if a, b := first.Asks(), second.Asks(); a != b || first.Allotment != second.Allotment || first.Inter != second.Inter ||
			first.Intra != second.Intra || first.Serial != second.Serial || len(m.Settings) != len(again.Settings) {
			t.Errorf("%+v comes back as %+v", m, again)
		}
	})
}
