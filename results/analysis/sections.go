package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tell"
)

// Part is a part of what there is to tell of an experiment: the terminal and the report show the parts that are
// registered. Each is told by the feature that it is about.
type Part struct {
	// Name is that of its section, and of the heading there, whose text is Title. Pictures name it, too.
	Name, Title string
	// InReport and OnTerminal are its places there, the lowest first; see Policies and its like.
	InReport, OnTerminal int
	// In names the part to whose section what is told is added, behind what that tells; empty for a section of its own.
	In string
	// Tell tells it; nothing for an experiment without it.
	Tell func(*record.Experiment) (tell.Section, error)
}

// The places of what every experiment has: parts stand before and behind.
const (
	// Policies are told by the summary, Verdicts by its comparisons and thresholds, in the report with the pictures.
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

// Told is a part as it is told of an experiment.
type Told struct {
	Part
	tell.Section
}

// Parts tells all parts of an experiment, by their places in the report and then by name.
func Parts(e *record.Experiment) (told []Told, err error) {
	slices.SortFunc(parts, func(a, b Part) int { return cmp.Or(a.InReport-b.InReport, strings.Compare(a.Name, b.Name)) })
	var within []Told
	for _, p := range parts {
		s, err := p.Tell(e)
		if err != nil {
			return nil, err
		}
		if p.In == "" {
			told = append(told, Told{p, s})
		} else {
			within = append(within, Told{p, s})
		}
	}
	for _, w := range within {
		told[slices.IndexFunc(told, func(t Told) bool { return t.Name == w.In })].add(w.Section)
	}
	return told, nil
}

// add adds what another part tells: sentences of the answer stand together.
func (t *Told) add(s tell.Section) {
	t.Answers, t.Terminal = append(t.Answers, s.Answers...), append(t.Terminal, s.Terminal...)
	for _, item := range s.Report {
		i := slices.IndexFunc(t.Report, func(o tell.Item) bool { return o.Answer })
		if item.Answer && i >= 0 {
			t.Report[i].Sentences = append(t.Report[i].Sentences, item.Sentences...)
		} else {
			t.Report = append(t.Report, item)
		}
	}
}

// Whole reports whether an experiment without cells is about one of the parts alone.
func Whole(e *record.Experiment, told []Told) bool {
	return len(e.Plan.Cells) == 0 && slices.ContainsFunc(told, func(t Told) bool { return t.Whole })
}
