package folder_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/folder"
)

// Errors in a JSON file name the file's members and the line.
func TestDamagedJSON(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plan.json")
	for _, c := range []struct{ text, want string }{
		{"", "line 1: unexpected end of JSON input"},
		{"{\n\"n\": 1e999}", `line 2: "n": number 1e999 stands where a whole number of 64 bits or less must be`},
		{"{\"x\":\n1e999}", `line 2: "x": number 1e999 stands where a number of at most 1.8e308 must be`},
		{"[]", "line 1: array stands where an object must be"},
		{`{"name": 3}`, `line 1: "name": number stands where text must be`},
		{`{"list": {}}`, `line 1: "list": object stands where a list must be`},
		{`{"on": "x"}`, `line 1: "on": string stands where true or false must be`},
		{"{\n\n}}", "line 3: invalid character '}' after top-level value"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		var v struct {
			N    int       `json:"n"`
			X    float64   `json:"x"`
			Name *string   `json:"name"`
			List []float64 `json:"list"`
			On   bool      `json:"on"`
		}
		err := folder.ReadJSON(dir, &v, "plan.json")
		var damaged *folder.DamagedError
		if !errors.As(err, &damaged) || !folder.IsUnusable(err) || err.Error() != path+" is damaged: "+c.want {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	if err := os.Truncate(path, 1<<40); err != nil {
		t.Skip(err) // the file system does not support sparse files
	}
	if err := folder.ReadJSON(dir, nil, "plan.json"); !errors.Is(err, folder.ErrTooLarge) {
		t.Errorf("a file of 1 TiB: %v", err)
	}
}

func TestSetAside(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"first", "second"} {
		if err := os.WriteFile(filepath.Join(dir, "journal.jsonl"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		name, err := folder.SetAside(dir, "journal.jsonl")
		if err != nil || !strings.HasSuffix(name, folder.AsideEnding) {
			t.Fatal(name, err)
		}
		if raw, err := folder.ReadFile(dir, name); err != nil || string(raw) != text {
			t.Errorf("set aside: %q, %v; want %q", raw, err, text)
		}
	}
}
