// Package sections has the sections that stages add to the report, each in a file of its own.
package sections

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/folder"
)

// Dir holds the sections, below an experiment's folder.
const Dir = "sections"

// Section is a section of the report: sentences, and a table.
type Section struct {
	Title     string   `json:"title"`
	Sentences []string `json:"sentences,omitempty"`
	// Text is the number of columns, from the left, that hold text rather than
	// numbers.
	Text   int        `json:"text_columns,omitempty"`
	Header []string   `json:"header,omitempty"`
	Rows   [][]string `json:"rows,omitempty"`
	// Name is that of its file, without the ending. It decides the order.
	Name string `json:"-"`
}

// File is the file of a section, in the experiment's folder.
func File(name string) string { return filepath.Join(Dir, name+".json") }

// Write writes a section into an experiment's folder, for its report.
func Write(dir, name string, s Section) error {
	raw, err := json.MarshalIndent(s, "", "  ")
	if _, made := folder.Make(dir, Dir); err != nil || made != nil {
		return fmt.Errorf("write a section of the report: %w", errors.Join(err, made))
	}
	if err := folder.Write(filepath.Join(dir, File(name)), append(raw, '\n'), 0o644); err != nil {
		return fmt.Errorf("write a section of the report: %w", err)
	}
	return nil
}

// Remove removes a section of an experiment's folder that there is nothing to say in any more.
func Remove(dir, name string) error {
	if err := os.Remove(filepath.Join(dir, File(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove a section of the report: %w", err)
	}
	return nil
}

// All reads the sections of an experiment's folder, in the order of their
// names.
func All(dir string) ([]Section, error) {
	files, err := filepath.Glob(filepath.Join(dir, Dir, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("read the sections of the report: %w", err)
	}
	slices.Sort(files)
	var sections []Section
	for _, file := range files {
		raw, err := folder.ReadFile(dir, Dir, filepath.Base(file))
		if err != nil {
			return nil, fmt.Errorf("read the sections of the report: %w", err)
		}
		s := Section{Name: strings.TrimSuffix(filepath.Base(file), ".json")}
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, fmt.Errorf("read the section %s of the report: %w", s.Name, err)
		}
		sections = append(sections, s)
	}
	return sections, nil
}
