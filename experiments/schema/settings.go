package schema

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Setting is a name with a value in its canonical text form.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// SettingsText joins settings with a separator, as in "batch=32 ps=1".
func SettingsText(settings []Setting, between string) string {
	return strings.Join(Each(settings, func(s Setting) string { return s.Name + "=" + s.Value }), between)
}

// Settings are the values of a block's arguments, including defaults.
type Settings struct {
	// Name is the type of the block; Label is its label.
	Name, Label string
	// Args has the values by name of the argument. Their types follow the schema: string, int, float64, bool,
	// time.Duration, []string or []int. The value of a reference is the name of the block. An argument without a
	// value has no entry.
	Args map[string]any
	// Blocks are the nested blocks, in the order of the file.
	Blocks []Settings
}

// Get returns the value of an argument, or the zero value if it has none.
func Get[T any](v Settings, name string) T {
	value, _ := v.Args[name].(T)
	return value
}

// KeyLine is a labeled value in a key: an input on which results depend. Labels contain no spaces.
type KeyLine struct{ Label, Value string }

// Lines returns the settings as key lines: the arguments by name, then the nested blocks.
func (v Settings) Lines(prefix string) (lines []KeyLine) {
	prefix += v.Name
	if v.Label != "" {
		prefix += "." + v.Label
	}
	for _, name := range slices.Sorted(maps.Keys(v.Args)) {
		lines = append(lines, KeyLine{prefix + "." + name, fmt.Sprint(v.Args[name])})
	}
	for i, b := range v.Blocks {
		lines = append(lines, b.Lines(fmt.Sprintf("%s.%d.", prefix, i+1))...)
	}
	return lines
}
