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

// Names lists the pictures in one line; skipped ones are marked.
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

// Of lists the pictures of one kind.
func Of(pictures []record.Picture, kind string) []record.Picture {
	return schema.Where(pictures, func(p record.Picture) bool { return p.Kind == kind })
}

// Check reads both files of each drawn picture: SVG, which must be XML without NaN, and PNG. A drawn picture has a
// title and a caption, a skipped one no files.
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
			t.Errorf("%s has a number that is none", p.SVG)
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

// Golden compares each SVG with the file of its name in testdata, or updates that file.
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

// Same compares an SVG with a file in testdata, or updates that file.
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

// Sentences collects the sentences of results under names, a line each.
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

// Golden compares them with testdata/sentences.txt, or writes that.
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
