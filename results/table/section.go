package table

import "strings"

// Section is the text and tables on one topic of an experiment, for the terminal and the report.
type Section struct {
	// Answers are sentences for the answer of the whole experiment.
	Answers []string
	// Terminal and Report are the items to show on the terminal and in the report, in this order.
	Terminal, Report []Item
	// Headline is the answer of an experiment that compares nothing or that asks for this topic.
	Headline Headline
	// Members are added to the JSON object that tfexp run --json prints, by name.
	Members map[string]any
	// Whole reports whether the section is all that an experiment without cells shows.
	Whole bool
}

// Headline is the main answer of an experiment: a sentence, and a table of a few rows.
type Headline struct {
	Sentence string
	Table    Table
	Note     string // shown with the table
	// Leads reports whether the headline comes before comparisons, since the experiment asks for it.
	Leads bool
}

// Says reports whether the headline's sentence contains a finding.
func (h *Headline) Says(finding string) bool {
	return strings.Contains(h.Sentence, strings.TrimSuffix(finding, "."))
}

// Item is a piece of a section: sentences, a table with a note below it, or the section's pictures.
type Item struct {
	Sentences []string
	// Answer reports whether the sentences are the experiment's answer when it has no other.
	Answer bool
	// Plain reports whether the sentences are paragraphs instead of a list.
	Plain bool
	Table Table
	Note  string
	// Folded reports whether the table is hidden until a reader of the report opens it.
	Folded bool
	// Tight reports whether the terminal shows the item without an empty line before it.
	Tight    bool
	Pictures bool
}
