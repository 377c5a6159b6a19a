// Package formats writes tables of results as others read them: papers, pages, notebooks and databases. Each format
// registers itself in a file of its own.
package formats

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/results/prose"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Format is a way to write a table.
type Format struct {
	// Name selects it: --format latex.
	Name string
	// Doc says what it is, without a full stop.
	Doc string
	// Write writes a table.
	Write func(io.Writer, *Table) error
}

// Table is a table with its values as they are in its file: text by columns, where a field that is empty is not known.
type Table struct {
	Name   string
	Header []string
	Rows   [][]string
	// Text reports whether a column holds text, even where it looks like numbers.
	Text func(column string) bool
	// People is the table as people read it, if there is one: with units, intervals and rounded numbers.
	People *prose.Table
}

var registered []Format

func register(f Format) Format {
	registered = append(registered, f)
	slices.SortFunc(registered, func(a, b Format) int { return strings.Compare(a.Name, b.Name) })
	return f
}

// All lists the formats by name.
func All() []Format { return slices.Clone(registered) }

// Names lists their names.
func Names() []string {
	var names []string
	for _, f := range registered {
		names = append(names, f.Name)
	}
	return names
}

// ByName finds a format.
func ByName(name string) (Format, bool) {
	i := slices.IndexFunc(registered, func(f Format) bool { return f.Name == name })
	if i < 0 {
		return Format{}, false
	}
	return registered[i], true
}

// Read reads a table in CSV.
func Read(name string, from io.Reader, text func(column string) bool) (*Table, error) {
	in := csv.NewReader(workload.BoundRows(from))
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return &Table{Name: name, Text: text}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	rows, err := in.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("read table: %w", err)
	}
	return &Table{Name: name, Header: head, Rows: rows, Text: text}, nil
}

// kind is what the fields of a column are.
type kind int

const (
	ofText kind = iota
	ofNumbers
	ofBooleans
)

// kind returns what a column holds: numbers and booleans are such where all known fields are.
func (t *Table) kind(column int) kind {
	if t.Text(t.Header[column]) {
		return ofText
	}
	numbers, booleans, known := true, true, false
	for _, row := range t.Rows {
		field := row[column]
		if field == "" {
			continue
		}
		known = true
		_, err := strconv.ParseFloat(field, 64)
		numbers = numbers && err == nil && json.Valid([]byte(field)) // not all numbers of Go are such of JSON
		booleans = booleans && (field == "true" || field == "false")
	}
	switch {
	case known && booleans:
		return ofBooleans
	case numbers:
		return ofNumbers
	}
	return ofText
}

// forPeople is the table as people read it: of one that has nothing better, the columns that are known somewhere.
func (t *Table) forPeople() prose.Table {
	if t.People != nil {
		return *t.People
	}
	var out prose.Table
	var text, numbers []int
	for i := range t.Header {
		switch {
		case !slices.ContainsFunc(t.Rows, func(row []string) bool { return row[i] != "" }):
		case t.kind(i) == ofNumbers:
			numbers = append(numbers, i)
		default:
			text = append(text, i)
		}
	}
	out.Left = len(text)
	columns := slices.Concat(text, numbers)
	for _, i := range columns {
		out.Header = append(out.Header, t.Header[i])
	}
	for _, row := range t.Rows {
		var line []string
		for k, i := range columns {
			field := row[i]
			if v, err := strconv.ParseFloat(field, 64); err == nil && k >= out.Left {
				field = prose.Number(v)
			}
			line = append(line, field)
		}
		out.Rows = append(out.Rows, line)
	}
	return out
}
