package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// Part is a part of the results of an experiment. The terminal and the report show the registered parts. Each
// feature registers the part about it.
type Part struct {
	// Name names its section and the heading there, whose text is Title. Pictures refer to it, too.
	Name, Title string
	// InReport and OnTerminal are its places there, the lowest first; see Policies and its like.
	InReport, OnTerminal int
	// In names the part to whose section this part is appended; empty for a separate section.
	In string
	// Tell writes the section; it is empty for an experiment without the feature.
	Tell func(*record.Experiment) (table.Section, error)
}

// The places of the parts of every experiment: other parts come before and after.
const (
	// Policies are in the summary, Verdicts in its comparisons and thresholds, in the report with the pictures.
	Policies = 100
	Verdicts = 200
)

var parts []Part

// Register adds a part. It panics when one of that name exists.
func Register(p Part) Part {
	if slices.ContainsFunc(parts, func(o Part) bool { return o.Name == p.Name }) {
		panic(fmt.Sprintf("there are two parts %q of results", p.Name))
	}
	parts = append(parts, p)
	return p
}

// Shown is a table of an experiment as people read it.
type Shown func(*record.Experiment) (table.Table, error)

var shown = map[string]Shown{}

// ForPeople has the table of a name shown to people in place of the columns of its file. It returns show.
func ForPeople(name string, show Shown) Shown {
	shown[name] = show
	return show
}

var _ = ForPeople(record.Comparisons.Name(), func(e *record.Experiment) (table.Table, error) {
	rows, err := Comparisons(e)
	return ComparisonTable(e.Plan, rows), err
})

// ShownAs returns how people are shown the table of a name; nil as its file.
func ShownAs(name string) Shown { return shown[name] }

// Content is a part with its section for one experiment.
type Content struct {
	Part
	table.Section
}

// Parts returns all parts of an experiment, sorted by their places in the report and then by name.
func Parts(e *record.Experiment) (contents []Content, err error) {
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Or(a.InReport-b.InReport, strings.Compare(a.Name, b.Name)) })
	var within []Content
	for _, p := range parts {
		s, err := p.Tell(e)
		if err != nil {
			return nil, err
		}
		if p.In == "" {
			contents = append(contents, Content{p, s})
		} else {
			within = append(within, Content{p, s})
		}
	}
	for _, w := range within {
		contents[slices.IndexFunc(contents, func(t Content) bool { return t.Name == w.In })].add(w.Section)
	}
	return contents, nil
}

// add appends the section of another part; the sentences of the answer stay together.
func (t *Content) add(s table.Section) {
	t.Answers, t.Terminal = append(t.Answers, s.Answers...), append(t.Terminal, s.Terminal...)
	for _, item := range s.Report {
		i := slices.IndexFunc(t.Report, func(o table.Item) bool { return o.Answer })
		if item.Answer && i >= 0 {
			t.Report[i].Sentences = append(t.Report[i].Sentences, item.Sentences...)
		} else {
			t.Report = append(t.Report, item)
		}
	}
}

// Whole reports whether an experiment without cells is about one of the parts alone.
func Whole(e *record.Experiment, contents []Content) bool {
	return len(e.Plan.Cells) == 0 && slices.ContainsFunc(contents, func(t Content) bool { return t.Whole })
}
