// Package fields says what readers do with every field of other programs' files: use it, ignore it knowingly, or
// reject it as unknown.
package fields

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

//go:embed fields.txt
var list string

// Table is the fields of one kind of file.
type Table struct {
	Name, Title string
	// Readers are the readers of the file, if they use different fields.
	Readers []string
	// Open says that files may have fields that are not in the table. They are named in a message and ignored.
	Open   bool
	fields []field
}

// field says what readers do with a field.
type field struct {
	name   string
	reader string // the only reader that uses it; empty for all readers
	used   bool
	effect string // results that an ignored field would change; empty if none
}

// tables has all tables, in the order of the list of fields.
var tables = func() (all []*Table) {
	names := func(text string) []string {
		return schema.Each(strings.Split(text, ","), strings.TrimSpace)
	}
	for l := range strings.Lines(list) {
		l = strings.TrimSpace(l)
		kind, rest, _ := strings.Cut(l, ": ")
		add := func(f field) {
			t := all[len(all)-1]
			if t.find(f.name) != nil {
				panic(fmt.Sprintf("fields: the table %s has the field %s twice", t.Name, f.name))
			}
			t.fields = append(t.fields, f)
		}
		switch name, other := strings.CutPrefix(kind, "other "); {
		case l == "" || l[0] == '#':
		case l[0] == '[':
			name, title, _ := strings.Cut(l[1:], "] ")
			all = append(all, &Table{Name: name, Title: title})
		case l == "open":
			all[len(all)-1].Open = true
		case kind == "readers":
			all[len(all)-1].Readers = names(rest)
		case other:
			add(field{name: name, effect: rest})
		default:
			reader, used := strings.CutSuffix(kind, "used")
			for _, one := range names(rest) {
				add(field{name: one, reader: strings.TrimSpace(reader), used: used})
			}
		}
	}
	return all
}()

// Of returns the table with a name.
func Of(name string) *Table {
	i := slices.IndexFunc(tables, func(t *Table) bool { return t.Name == name })
	if i < 0 {
		panic("fields: there is no table " + name)
	}
	return tables[i]
}

// find returns the decision about a field; nil for an unknown field.
func (t *Table) find(name string) *field {
	if i := slices.IndexFunc(t.fields, func(f field) bool { return f.name == name }); i >= 0 {
		return &t.fields[i]
	}
	return nil
}

// Knows reports whether the table has a field.
func (t *Table) Knows(name string) bool { return t.find(name) != nil }

// Fold returns the name of a field as the table spells it, for a name in another case; empty for an unknown field.
func (t *Table) Fold(name string) string {
	for _, f := range t.fields {
		if strings.EqualFold(f.name, name) {
			return f.name
		}
	}
	return ""
}

// Effect names the results that an ignored field would change if tfexp modeled it; empty for other fields.
func (t *Table) Effect(name string) string {
	if f := t.find(name); f != nil {
		return f.effect
	}
	return ""
}

// Unused returns a sentence about the fields of a file that a reader does not use; empty if it uses all. It returns
// an error for unknown fields. The caller must leave out fields that it uses itself.
func (t *Table) Unused(reader string, fields []string) (said string, err error) {
	var unknown, idle, effects []string
	for _, name := range fields {
		switch f := t.find(name); {
		case name == "":
		case f == nil && t.Open:
			idle = append(idle, name+" (not known)")
		case f == nil:
			unknown = append(unknown, name)
		case f.used && (f.reader == "" || f.reader == reader):
		case f.effect != "":
			effects = append(effects, fmt.Sprintf("%s (%s)", name, f.effect))
		default:
			idle = append(idle, name)
		}
	}
	if len(unknown) > 0 {
		return "", t.unknown(unknown)
	}
	if all := append(effects, idle...); len(all) > 0 {
		said = "not used: " + strings.Join(all, ", ")
	}
	return said, nil
}

// unknown returns the error for unknown fields.
func (t *Table) unknown(names []string) error {
	known := schema.Each(t.fields, func(f field) string { return f.name })
	hint := ""
	if near := schema.Nearest(names[0], known); near != "" {
		hint = fmt.Sprintf(" Did you mean %s?", near)
	}
	return fmt.Errorf("%s: these do not include %s.%s Leave it out of the file, or give it the name of a known field "+
		"(docs/fields.md has all)", t.Title, textfile.Names(names), hint)
}
