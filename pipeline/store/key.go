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

// SchemaVersion is part of every key: raise it when outputs change their meaning.
const SchemaVersion = 1

// Key is the labeled, canonical description of all that a stage's output
// depends on: evaluated values, never source text.
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

// Add appends a labeled value. Labels hold no spaces; values no line breaks.
func (k *Key) Add(label, value string) {
	if strings.ContainsAny(value, "\r\n") {
		value = strconv.Quote(value)
	}
	k.lines = append(k.lines, label+" "+value)
}

// Addf is Add with a format.
func (k *Key) Addf(label, format string, args ...any) { k.Add(label, fmt.Sprintf(format, args...)) }

// Given adds a value unless it is zero: an argument that a file does not set changes no key.
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

// Lines are the labeled values, for Append.
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

// Append adds lines made elsewhere by the same rules.
func (k *Key) Append(lines []string) { k.lines = append(k.lines, lines...) }

// Description is the text that is hashed and kept with the output.
func (k *Key) Description() string { return strings.Join(k.lines, "\n") + "\n" }

// Hash is the address of the output: SHA-256 of the description, in hex.
func (k *Key) Hash() string { return HashOf(k.Description()) }

// HashOf is the hash of a description.
func HashOf(description string) string {
	h := sha256.Sum256([]byte(description))
	return hex.EncodeToString(h[:])
}

// Change is one line of a key's description that differs from the last time.
// Old or New is empty when the line is new or gone.
type Change struct {
	Label string `json:"label"`
	Old   string `json:"old"`
	New   string `json:"new"`
}

// String writes the change as "policy.quantum: 1s → 500ms".
func (c Change) String() string {
	switch {
	case c.Old == "":
		return fmt.Sprintf("%s: %s (new)", c.Label, c.New)
	case c.New == "":
		return fmt.Sprintf("%s: %s (gone)", c.Label, c.Old)
	}
	return fmt.Sprintf("%s: %s → %s", c.Label, c.Old, c.New)
}

// Diff lists the labeled lines that differ between two descriptions, in the
// order of the new one, then those that are gone.
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

// labelled splits a description into label and value; a repeated label is made
// unique by its number.
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

// Reason names the changed labels: "policy.quantum changed".
func Reason(changes []Change) string {
	const most = 3
	var labels []string
	for _, c := range changes {
		// The drawn values follow from the lines before.
		if c.Label != "workload.jobs" && c.Label != "seed" || len(changes) == 1 {
			labels = append(labels, c.Label)
		}
	}
	if len(labels) > most {
		return fmt.Sprintf("%s and %d more changed", strings.Join(labels[:most], ", "), len(labels)-most)
	}
	return strings.Join(labels, ", ") + " changed"
}
