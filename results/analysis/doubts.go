package analysis

import (
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/results/record"
)

// Doubt is a warning with all the cells that it is about.
type Doubt struct {
	Text string
	// Cells are the first few cells, More counts the others. Both are empty
	// when it is about the whole run.
	Cells []string
	More  int
}

// Doubts joins the warnings that differ only in their cell, or in their measured
// figure, of which it gives the range. It names at most most cells of each.
func Doubts(warnings []record.Warning, most int) []Doubt {
	type key struct{ code, text, before, after string }
	var out []Doubt
	var ranges [][2]record.Figure // the least and the greatest figure of each
	at := map[key]int{}
	for _, w := range warnings {
		f := w.Figure
		k := key{w.Code, w.Text, f.Before, f.After}
		if f.Text != "" {
			k.text = ""
		}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out, ranges = append(out, Doubt{Text: w.Text}), append(ranges, [2]record.Figure{f, f})
		}
		if f.Value < ranges[i][0].Value {
			ranges[i][0] = f
		}
		if f.Value > ranges[i][1].Value {
			ranges[i][1] = f
		}
		switch {
		case w.Cell == "":
		case len(out[i].Cells) < most:
			out[i].Cells = append(out[i].Cells, w.Cell)
		default:
			out[i].More++
		}
	}
	for i, r := range ranges {
		if low, high := r[0], r[1]; low.Text != high.Text {
			out[i].Text = low.Before + low.Text + " to " + high.Text + low.After
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
