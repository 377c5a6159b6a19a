package results

import (
	"fmt"
	"strings"
)

// Doubt is a warning with all the cells that it is about.
type Doubt struct {
	Text string
	// Cells are the first few cells, More counts the others. Both are empty
	// when it is about the whole run, or the text names its cell.
	Cells []string
	More  int
}

// Doubts joins the warnings that differ only in their cell, naming at most
// most cells of each.
func Doubts(warnings []Warning, most int) []Doubt {
	var out []Doubt
	at := map[string]int{}
	for _, w := range warnings {
		i, ok := at[w.Code+w.Text]
		if !ok {
			i = len(out)
			at[w.Code+w.Text] = i
			out = append(out, Doubt{Text: w.Text})
		}
		switch {
		case w.Cell == "", strings.Contains(w.Text, w.Cell): // said already
		case len(out[i].Cells) < most:
			out[i].Cells = append(out[i].Cells, w.Cell)
		default:
			out[i].More++
		}
	}
	return out
}

// String is one line: "the machine was busy (a-r1, a-r2 and 3 more cells)".
func (d Doubt) String() string {
	if len(d.Cells) == 0 {
		return d.Text
	}
	s := d.Text + " (" + strings.Join(d.Cells, ", ")
	if d.More > 0 {
		s += fmt.Sprintf(" and %d more", d.More)
	}
	return s + ")"
}
