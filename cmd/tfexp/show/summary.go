package show

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"golang.org/x/term"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// maxWarnings is the largest number of warnings in a summary; the report has all.
const maxWarnings = 5

// NamedCells is the largest number of cells that one warning names.
const NamedCells = 2

// runSummary is the output of run --json.
type runSummary struct {
	Experiment string  `json:"experiment"`
	Dir        string  `json:"dir"`
	Reused     int     `json:"reused"`
	Ran        int     `json:"ran"`
	Failed     int     `json:"failed"`
	Seconds    float64 `json:"seconds"` // how long the run took
	Report     string  `json:"report"`
	// Variants has the means over replicates. Comparisons has the rows of comparisons.csv, and Answers a sentence for
	// each row.
	Variants    []analysis.SummaryRow  `json:"variants"`
	Comparisons []record.ComparisonRow `json:"comparisons"`
	Answers     []string               `json:"answers"`
	// Fidelity is the difference between real cells and their simulations; absent without real cells.
	Fidelity *analysis.Fidelity `json:"fidelity,omitempty"`
	// Thresholds are the thresholds of the experiment with their verdicts; absent if it declares none.
	Thresholds []analysis.Verdict `json:"thresholds,omitempty"`
	Warnings   []record.Warning   `json:"warnings"`

	more map[string]any // additional fields, from features' parts of the results
}

// MarshalJSON writes the fields of more after the other fields.
func (s runSummary) MarshalJSON() ([]byte, error) {
	type plain runSummary // plain has no MarshalJSON, so encoding does not recurse
	raw, err := json.Marshal(plain(s))
	if err != nil || len(s.more) == 0 {
		return raw, err
	}
	more, err := json.Marshal(s.more)
	return slices.Concat(raw[:len(raw)-1], []byte{','}, more[1:]), err
}

// Summary prints the results of a run.
func (p *Printer) Summary(plan *pipeline.Plan, outcome *pipeline.Outcome, asJSON bool) error {
	e, err := record.Open(plan.Dir)
	if err != nil {
		return err
	}
	comparisons, err := analysis.Comparisons(e)
	if err != nil {
		return err
	}
	answers := schema.Each(comparisons, func(c record.ComparisonRow) string { return analysis.Comparison(e.Plan, c) })
	thresholds, err := analysis.Thresholds(e)
	if err != nil {
		return err
	}
	told, err := analysis.Parts(e)
	if err != nil {
		return err
	}
	if asJSON {
		summary := runSummary{
			Experiment: plan.Experiment, Dir: plan.Dir,
			Reused: outcome.Reused, Ran: outcome.Ran, Failed: outcome.Failed,
			Seconds: outcome.Elapsed.Seconds(), Report: outcome.Report,
			Variants: analysis.Summary(e), Comparisons: append([]record.ComparisonRow{}, comparisons...),
			Answers: answers, Thresholds: thresholds,
			Warnings: append([]record.Warning{}, e.Warnings()...), more: map[string]any{},
		}
		for _, t := range told {
			maps.Copy(summary.more, t.Members)
		}
		if fidelity := analysis.FidelityOf(e); fidelity.Cells > 0 {
			summary.Fidelity = &fidelity
		}
		return p.JSON(summary)
	}
	headline, err := analysis.HeadlineOf(e, comparisons, told)
	if err != nil {
		return err
	}
	if err := p.Headline(e.Plan.Description, headline); err != nil {
		return err
	}
	slices.SortStableFunc(told, func(a, b analysis.Content) int { return a.OnTerminal - b.OnTerminal })
	if err := p.parts(told, 0, analysis.Policies, headline.Sentence); err != nil {
		return err
	}
	if analysis.Whole(e, told) {
		fmt.Fprintf(p.Out, "\ndone in %s\nreport: %s\n", live.Duration(outcome.Elapsed), outcome.Report)
		return nil
	}
	if err := p.parts(told, analysis.Policies, analysis.Verdicts, headline.Sentence); err != nil {
		return err
	}
	p.remarks(told, headline.Sentence)
	if len(thresholds) > 0 {
		fmt.Fprintln(p.Out)
		p.Thresholds(thresholds, "")
	}
	if doubts := analysis.Doubts(analysis.Unsaid(e, comparisons), NamedCells); len(doubts) > 0 {
		fmt.Fprintln(p.Out)
		p.Doubts(doubts)
	}
	if err := p.failures(e); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "\n%s in %s\nreport: %s\n", cellsDone(outcome), live.Duration(outcome.Elapsed), outcome.Report)
	return nil
}

// Headline prints an experiment's question and its answer.
func (p *Printer) Headline(question string, h table.Headline) error {
	if question != "" {
		fmt.Fprintln(p.Out, p.Paint(table.Dim, question))
	}
	if h.Sentence != "" {
		fmt.Fprintln(p.Out, p.Paint(table.Bold, h.Sentence))
	}
	if len(h.Table.Rows) > 0 {
		fmt.Fprintln(p.Out)
		t := narrow(h.Table, p.Out)
		if err := t.Write(p.Out, "", p.Color); err != nil {
			return fmt.Errorf("print headline: %w", err)
		}
	}
	if h.Note != "" {
		fmt.Fprintln(p.Out, h.Note)
	}
	return nil
}

// parts prints the registered parts whose place on the terminal is at least from and less than below. It skips the
// sentence printed, which the terminal already shows.
func (p *Printer) parts(all []analysis.Content, from, below int, printed string) error {
	for _, t := range all {
		if t.OnTerminal < from || t.OnTerminal >= below {
			continue
		}
		for _, item := range t.Terminal {
			sentences := slices.DeleteFunc(slices.Clone(item.Sentences), func(s string) bool { return s == printed })
			if len(sentences) == 0 && len(item.Table.Rows) == 0 {
				continue
			}
			if !item.Tight {
				fmt.Fprintln(p.Out)
			}
			for _, text := range sentences {
				fmt.Fprintln(p.Out, text)
			}
			if len(item.Table.Rows) > 0 {
				view := narrow(item.Table, p.Out)
				if err := view.Write(p.Out, "", p.Color); err != nil {
					return fmt.Errorf("print %s: %w", t.Name, err)
				}
			}
		}
	}
	return nil
}

// remarks prints the first sentence of each part that qualifies the answer. It skips the sentence printed, which the
// terminal already shows.
func (p *Printer) remarks(all []analysis.Content, printed string) {
	begin := "\n"
	for _, t := range all {
		for _, item := range t.Terminal {
			if t.OnTerminal >= analysis.Verdicts && len(item.Sentences) > 0 {
				if item.Sentences[0] != printed {
					fmt.Fprintln(p.Out, begin+item.Sentences[0])
					begin = ""
				}
				break
			}
		}
	}
}

// Thresholds prints whether each threshold is met.
func (p *Printer) Thresholds(verdicts []analysis.Verdict, indent string) {
	for _, v := range verdicts {
		mark, ink := "met:   ", table.Green
		if !v.Met {
			mark, ink = "MISSED:", table.Red
		}
		fmt.Fprintf(p.Out, "%s%s %s\n", indent, p.Paint(ink, mark), v.Text)
	}
}

// Doubts prints the first warnings about results, and the number of further ones.
func (p *Printer) Doubts(doubts []analysis.Doubt) {
	for i, d := range doubts {
		if i == maxWarnings {
			fmt.Fprintf(p.Out, "… and %s more: see the report\n", Count(len(doubts)-i, "warning", "warnings"))
			return
		}
		fmt.Fprintf(p.Out, "%s %s\n", p.Paint(table.Yellow, "warning:"), d)
	}
}

// cellsDone counts the cells of a run: "6 cells ran, 4 reused".
func cellsDone(o *pipeline.Outcome) string {
	text := Count(o.Ran, "cell", "cells") + " ran"
	if o.Reused > 0 {
		text += fmt.Sprintf(", %d reused", o.Reused)
	}
	return text
}

// fileWidth is the largest width of a table that is not printed on a terminal, in columns.
const fileWidth = 100

// Columns returns the width of a terminal. w is the terminal or a writer around it; otherwise ok is false.
func Columns(w io.Writer) (int, bool) {
	for {
		below, ok := w.(interface{ Unwrap() io.Writer })
		if !ok {
			break
		}
		w = below.Unwrap()
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0, false
	}
	n, _, err := term.GetSize(int(f.Fd()))
	return n, err == nil && n > 0
}

// narrow fits a table into the terminal w, or into fileWidth if w is not a terminal; see table.Table.Fit.
func narrow(full table.Table, w io.Writer) table.Table {
	columns, terminal := Columns(w)
	if !terminal {
		columns = fileWidth
	}
	spare := schema.Each(measure.ShownIn(measure.Spare), func(m measure.Metric) string { return m.Name })
	return full.Fit(columns, terminal, spare)
}
