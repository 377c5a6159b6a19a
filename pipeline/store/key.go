package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
)

// SchemaVersion is part of every key. Increase it when the meaning of outputs changes.
const SchemaVersion = 1

// Key is a description of everything that an output depends on, as lines with a label and a value. Values are
// evaluated, so the layout of the source does not matter.
type Key struct {
	lines []string
}

// NewKey begins the description of a stage's output.
func NewKey(stage string) *Key {
	k := &Key{lines: make([]string, 0, 48)}
	k.Add("schema", strconv.Itoa(SchemaVersion))
	k.Add("stage", stage)
	return k
}

// KeyOf returns the key with a description.
func KeyOf(description string) *Key {
	return &Key{lines: strings.Split(strings.TrimSuffix(description, "\n"), "\n")}
}

// Add appends a labeled value. Labels contain no spaces, and values no line breaks.
func (k *Key) Add(label, value string) {
	if strings.ContainsAny(value, "\r\n") {
		value = strconv.Quote(value)
	}
	k.lines = append(k.lines, label+" "+value)
}

// Addf is Add with a format.
func (k *Key) Addf(label, format string, args ...any) { k.Add(label, fmt.Sprintf(format, args...)) }

// Given adds a value unless it is zero, so that arguments that the file does not set do not change the key.
func (k *Key) Given(label string, value any) {
	if !reflect.ValueOf(value).IsZero() {
		k.Add(label, fmt.Sprint(value))
	}
}

// AddAll adds labeled values.
func (k *Key) AddAll(lines []schema.KeyLine) {
	for _, l := range lines {
		k.Add(l.Label, l.Value)
	}
}

// Lines returns the labeled values, for Append.
func (k *Key) Lines() []string { return k.lines }

// Values returns the labels with their values, in their order.
func (k *Key) Values() iter.Seq2[string, string] {
	return func(yield func(label, value string) bool) {
		for _, l := range k.lines {
			if label, value, _ := strings.Cut(l, " "); !yield(label, value) {
				return
			}
		}
	}
}

// Append adds lines that Lines has returned.
func (k *Key) Append(lines []string) { k.lines = append(k.lines, lines...) }

// Description returns the text that is hashed and stored with the output.
func (k *Key) Description() string { return strings.Join(k.lines, "\n") + "\n" }

// Hash returns the address of the output: SHA-256 of the description, in hexadecimal.
func (k *Key) Hash() string { return HashOf(k.Description()) }

// HashOf returns the hash of a description.
func HashOf(description string) string {
	h := sha256.Sum256([]byte(description))
	return hex.EncodeToString(h[:])
}

// Change is a line that differs between two descriptions of a key. Old is empty for a new line, and New for a removed
// one.
type Change struct {
	Label string `json:"label"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// String formats the change, such as "policy.quantum: 1s → 500ms".
func (c Change) String() string {
	switch {
	case c.Old == "":
		return fmt.Sprintf("%s: %s (new)", c.Label, c.New)
	case c.New == "":
		return fmt.Sprintf("%s: %s (gone)", c.Label, c.Old)
	}
	return fmt.Sprintf("%s: %s → %s", c.Label, c.Old, c.New)
}

// Diff returns the lines that differ between two descriptions, in the order of the new one. Removed lines come last.
func Diff(old, new string) []Change {
	before := labelled(old)
	after := labelled(new)
	at := make(map[string]string, len(before))
	for _, l := range before {
		at[l[0]] = l[1]
	}
	var changes []Change
	for _, l := range after {
		was, known := at[l[0]]
		if !known || was != l[1] {
			changes = append(changes, Change{Label: l[0], Old: was, New: l[1]})
		}
		delete(at, l[0])
	}
	for _, l := range before {
		if was, gone := at[l[0]]; gone {
			changes = append(changes, Change{Label: l[0], Old: was})
		}
	}
	return changes
}

// labelled splits a description into pairs of label and value. A repeated label gets a number.
func labelled(description string) [][2]string {
	seen := map[string]int{}
	var out [][2]string
	for label, value := range KeyOf(description).Values() {
		seen[label]++
		if n := seen[label]; n > 1 {
			label += "#" + strconv.Itoa(n)
		}
		out = append(out, [2]string{label, value})
	}
	return out
}

// Reason names the changed labels, as in "policy.quantum changed".
func Reason(changes []Change) string {
	const most = 3
	var labels []string
	for _, c := range changes {
		// These two values change only as a result of the other changed lines.
		if c.Label != "workload.jobs" && c.Label != "seed" || len(changes) == 1 {
			labels = append(labels, c.Label)
		}
	}
	if len(labels) > most {
		return fmt.Sprintf("%s and %d more changed", strings.Join(labels[:most], ", "), len(labels)-most)
	}
	return strings.Join(labels, ", ") + " changed"
}
