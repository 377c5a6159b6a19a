package analysis

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// Doubt is a warning with all the cells that it is about.
type Doubt struct {
	Text string
	// Cells are the first few cells, More counts the others. Both are empty
	// when it is about the whole run.
	Cells []string
	More  int
}

// Doubts joins warnings that differ only in their cell and in numbers. A number becomes the range of the numbers, and
// each doubt names at most `most` cells.
func Doubts(warnings []record.Warning, most int) []Doubt {
	type key struct{ code, text string }
	var out []Doubt
	var ranges [][][2]string // the least and the greatest of each number
	at := map[key]int{}
	for _, w := range warnings {
		words := strings.Split(w.Text, " ")
		var numbers []string
		for n, word := range words {
			if bare := strings.Trim(word, "(,;:)"); w.Cell != "" && amount.MatchString(bare) {
				numbers = append(numbers, bare)
				words[n] = strings.Replace(word, bare, "\x00", 1)
			}
		}
		text := strings.Join(words, " ")
		k := key{w.Code, text}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out, ranges = append(out, Doubt{Text: text}), append(ranges, make([][2]string, len(numbers)))
		}
		for n, number := range numbers {
			r := &ranges[i][n]
			if r[0] == "" || sizeOf(number) < sizeOf(r[0]) {
				r[0] = number
			}
			if sizeOf(number) > sizeOf(r[1]) {
				r[1] = number
			}
		}
		switch {
		case w.Cell == "":
		case len(out[i].Cells) < most:
			out[i].Cells = append(out[i].Cells, w.Cell)
		default:
			out[i].More++
		}
	}
	for i := range out {
		for _, r := range ranges[i] {
			text := r[0]
			if r[0] != r[1] {
				text += " to " + r[1]
			}
			out[i].Text = strings.Replace(out[i].Text, "\x00", text, 1)
		}
	}
	return out
}

var amount = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)

// sizeOf is the value of an amount; below all amounts for none.
func sizeOf(amount string) float64 {
	v, err := strconv.ParseFloat(amount, 64)
	if err != nil {
		return -1
	}
	return v
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

// Unsaid returns the warnings of an experiment, without those that its comparisons say already, and with one more if
// hardly any job waited.
func Unsaid(e *record.Experiment, rows []record.ComparisonRow) []record.Warning {
	few := slices.ContainsFunc(rows, func(r record.ComparisonRow) bool { return r.Verdict == record.NotEnoughReplicates })
	warnings := slices.DeleteFunc(e.Warnings(),
		func(w record.Warning) bool { return few && w.Code == record.FewReplicates })
	if len(rows) > 0 {
		if w, ok := idle(e); ok {
			warnings = append(warnings, w)
		}
	}
	return warnings
}

// Idle is the code of the warning that hardly any job waited.
const Idle = "idle"

// Policies can only change how long jobs wait. If jobs wait less than mostIdle of their completion time, and this time
// differs by at most a factor of alike between the cells of a replicate, only a higher load can show a difference.
const (
	mostIdle = 0.02
	alike    = 1.05
)

// idle is the warning that several policies were compared while hardly any job waited.
func idle(e *record.Experiment) (record.Warning, bool) {
	type drawn struct {
		workload  string
		replicate int
	}
	least, greatest := map[drawn]float64{}, map[drawn]float64{}
	policies := map[string]bool{}
	share := 0.0
	for i := range e.Cells {
		c := &e.Cells[i]
		waiting, jct := measure.MeanWaiting.Of(&c.Metrics), measure.MeanJCT.Of(&c.Metrics)
		if !(jct > 0) || !(waiting <= mostIdle*jct) { // or one of the two is unknown (NaN)
			return record.Warning{}, false
		}
		share = max(share, waiting/jct)
		policies[c.Policy] = true
		k := drawn{c.Workload, c.Replicate}
		if least[k] == 0 || jct < least[k] {
			least[k] = jct
		}
		greatest[k] = max(greatest[k], jct)
		if greatest[k] > alike*least[k] {
			return record.Warning{}, false
		}
	}
	if len(policies) < 2 {
		return record.Warning{}, false
	}
	how := fmt.Sprintf("at most %s of the mean completion time was waiting", table.Share(share))
	if share == 0 {
		how = "none waited at all"
	}
	return record.Warning{Code: Idle, Text: "policies can hardly differ here: hardly any job waited (" + how +
		"); jobs that arrive closer together, or fewer cores, would show more"}, true
}
