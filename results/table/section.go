package table

import "strings"

// Section is the text and tables on one topic of an experiment, for the terminal and the report.
type Section struct {
	// Answers are sentences that belong to the answer of the whole experiment.
	Answers []string
	// Terminal and Report are the items shown there, in their order.
	Terminal, Report []Item
	// Headline answers the question of an experiment without comparisons, or the whole question of one that
	// requests it.
	Headline Headline
	// Members are the section's members in the output of run --json.
	Members map[string]any
	// Whole reports whether an experiment without cells is about this alone.
	Whole bool
}

// Headline answers the question of an experiment: a sentence, and a table of a few rows.
type Headline struct {
	Sentence string
	Table    Table
	Note     string // on the table
	// Leads reports whether it comes before comparisons: the experiment requests it.
	Leads bool
}

// Says reports whether the sentence contains a finding.
func (h *Headline) Says(finding string) bool {
	return strings.Contains(h.Sentence, strings.TrimSuffix(finding, "."))
}

// Item is a piece of a section: sentences, a table with a note below it, or the section's pictures.
type Item struct {
	Sentences []string
	// Answer reports whether the sentences are the answer of an experiment that has no other.
	Answer bool
	// Plain sentences are paragraphs and not a list of answers.
	Plain bool
	Table Table
	Note  string
	// Folded reports whether a long table is opened by its reader.
	Folded bool
	// Tight items have no empty line before them on the terminal.
	Tight    bool
	Pictures bool
}
