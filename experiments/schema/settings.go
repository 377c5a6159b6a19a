package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Setting is a name with a value in its canonical text form.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SettingsText lists settings with a text between them: "batch=32 ps=1".
func SettingsText(settings []Setting, between string) string {
	return strings.Join(Each(settings, func(s Setting) string { return s.Name + "=" + s.Value }), between)
}

// Settings are the values of a block: the values in the file, and the defaults.
type Settings struct {
	// Name is the word that begins the block, Label its label.
	Name, Label string
	// Given is set when the file has the block; else all values are defaults.
	Given bool
	// Args are the values of the arguments. Their types follow the types of the schema:
	// string, int, float64, bool, time.Duration, []string, []int, and the name of a
	// block for a reference to one. An argument without a value is not in it.
	Args map[string]any
	// Blocks are the blocks within the block, in the order of the file.
	Blocks []Settings
}

// Get returns the value of an argument, and the zero value when it has none.
func Get[T any](v Settings, name string) T {
	value, _ := v.Args[name].(T)
	return value
}

// KeyLine is a labeled value of a key: an input that results depend on. Labels hold no spaces.
type KeyLine struct{ Label, Value string }

// Lines are the values with their labels, for a key: arguments by name, then the
// blocks within.
func (v Settings) Lines(prefix string) (lines []KeyLine) {
	prefix += v.Name
	if v.Label != "" {
		prefix += "." + v.Label
	}
	names := make([]string, 0, len(v.Args))
	for name := range v.Args {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		lines = append(lines, KeyLine{prefix + "." + name, fmt.Sprint(v.Args[name])})
	}
	for i, b := range v.Blocks {
		lines = append(lines, b.Lines(fmt.Sprintf("%s.%d.", prefix, i+1))...)
	}
	return lines
}
