// Package plottest checks drawn pictures and sentences in tests.
package plottest

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// Names returns the names of the pictures in one line, with a mark for skipped ones.
func Names(pictures []record.Picture) string {
	var s []string
	for _, p := range pictures {
		name := p.Name
		if p.Skipped != "" {
			name += "(skipped)"
		}
		s = append(s, name)
	}
	return strings.Join(s, " ")
}

// Of returns the pictures of one kind.
func Of(pictures []record.Picture, kind string) []record.Picture {
	return schema.Where(pictures, func(p record.Picture) bool { return p.Kind == kind })
}

// Check checks the files of each drawn picture: the SVG must be XML without NaN, and the PNG must decode. A drawn
// picture must have a title and a caption; a skipped one must have no files.
func Check(t testing.TB, pictures []record.Picture) {
	t.Helper()
	for _, p := range pictures {
		if p.Skipped != "" {
			if p.SVG != "" || p.PNG != "" {
				t.Errorf("%s is skipped and has files", p.Name)
			}
			continue
		}
		if p.Title == "" || p.Caption == "" {
			t.Errorf("%s has title %q and caption %q", p.Name, p.Title, p.Caption)
		}
		raw, err := os.ReadFile(p.SVG)
		if err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(bytes.NewReader(raw)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", p.SVG, err)
			}
		}
		if bytes.Contains(raw, []byte("NaN")) || bytes.Contains(raw, []byte("Inf")) {
			t.Errorf("%s has a value that is not a number", p.SVG)
		}
		if p.PNG == "" {
			continue
		}
		f, err := os.Open(p.PNG)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := png.Decode(f); err != nil {
			t.Errorf("%s: %v", p.PNG, err)
		}
		f.Close()
	}
}

// Golden compares each SVG with its file in testdata. If update is set, it writes the file instead.
func Golden(t testing.TB, pictures []record.Picture, update bool) {
	t.Helper()
	for _, p := range pictures {
		if p.Skipped != "" {
			continue
		}
		got, err := os.ReadFile(p.SVG)
		if err != nil {
			t.Fatal(err)
		}
		Same(t, filepath.Base(p.SVG), got, update)
	}
}

// Same compares an SVG with a file in testdata. If update is set, it writes the file instead.
func Same(t testing.TB, name string, got []byte, update bool) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not as in testdata; look at it and run with -update if it should be", name)
	}
}

// Sentences collects sentences and tables of results under names.
type Sentences struct{ strings.Builder }

// Add adds a text.
func (s *Sentences) Add(name, text string) { fmt.Fprintf(s, "%s: %s\n", name, text) }

// Table adds the header and the rows of a table.
func (s *Sentences) Table(name string, t table.Table) {
	s.Add(name, fmt.Sprintf("%d left | %s", t.Left(), strings.Join(t.Header(), " | ")))
	for _, row := range t.Rows {
		s.Add(name, strings.Join(row, " | "))
	}
}

// Golden compares the collected text with testdata/sentences.txt. If update is set, it writes the file instead.
func (s *Sentences) Golden(t *testing.T, update bool) {
	t.Helper()
	path := filepath.Join("testdata", "sentences.txt")
	if update {
		if err := os.WriteFile(path, []byte(s.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(s.String(), "\n")); d != "" {
		t.Errorf("%s\nIf this is meant: go test -update", d)
	}
}
