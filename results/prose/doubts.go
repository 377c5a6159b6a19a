package prose

import (
	"fmt"
	"github.com/tfexp/tfexp/results/record"
	"regexp"
	"strconv"
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

// number is a measured figure in a warning, as it stands between two words.
var number = regexp.MustCompile(`(?:^| )\d+\.\d+(?: |$)`)

// Doubts joins the warnings that differ only in their cell, or in one measured
// figure, whose range they then tell. It names at most most cells of each.
func Doubts(warnings []record.Warning, most int) []Doubt {
	var out []Doubt
	var ranges [][2]string // the least and the greatest figure of each
	at := map[string]int{}
	for _, w := range warnings {
		key, figure := w.Code+w.Text, ""
		if all := number.FindAllString(w.Text, -1); len(all) == 1 {
			figure = strings.TrimSpace(all[0])
			key = w.Code + number.ReplaceAllString(w.Text, " # ")
		}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out, ranges = append(out, Doubt{Text: w.Text}), append(ranges, [2]string{figure, figure})
		}
		if less(figure, ranges[i][0]) {
			ranges[i][0] = figure
		}
		if less(ranges[i][1], figure) {
			ranges[i][1] = figure
		}
		switch {
		case w.Cell == "", strings.Contains(w.Text, w.Cell): // said already
		case len(out[i].Cells) < most:
			out[i].Cells = append(out[i].Cells, w.Cell)
		default:
			out[i].More++
		}
	}
	for i, r := range ranges {
		if r[0] != r[1] {
			out[i].Text = number.ReplaceAllString(out[i].Text, " "+r[0]+" to "+r[1]+" ")
		}
	}
	return out
}

// less compares two figures as numbers.
func less(a, b string) bool {
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	return x < y
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
