package show

import (
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/term"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/prose"
	"github.com/tfexp/tfexp/results/record"
)

// maxWarnings bounds the warnings that a summary lists; the report has all.
const maxWarnings = 5

// namedCells bounds the cells that one warning names.
const namedCells = 2

// runSummary is run --json: the results of a run.
type runSummary struct {
	Experiment string  `json:"experiment"`
	Dir        string  `json:"dir"`
	Reused     int     `json:"reused"`
	Ran        int     `json:"ran"`
	Failed     int     `json:"failed"`
	Seconds    float64 `json:"seconds"` // that the run took
	Report     string  `json:"report"`
	// Variants has the means over replicates, Comparisons the rows of
	// comparisons.csv and Answers each of them as a sentence.
	Variants    []analysis.SummaryRow  `json:"variants"`
	Comparisons []record.ComparisonRow `json:"comparisons"`
	Answers     []string               `json:"answers"`
	// Fidelity is how far real cells and their simulations differ; absent without
	// real cells.
	Fidelity *analysis.Fidelity `json:"fidelity,omitempty"`
	// Thresholds are the declared thresholds, met or missed; absent without any.
	Thresholds []prose.Verdict  `json:"thresholds,omitempty"`
	Warnings   []record.Warning `json:"warnings"`
	// Ranking has the rows of ranking.csv; absent without adaptation blocks.
	Ranking []record.RankingRow `json:"ranking,omitempty"`
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
	answers := make([]string, 0, len(comparisons))
	for _, c := range comparisons {
		answers = append(answers, prose.Comparison(e.Plan, c))
	}
	fidelity := analysis.FidelityOf(e)
	thresholds, err := prose.Thresholds(e)
	if err != nil {
		return err
	}
	adaptations, err := e.Adaptations()
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
			Warnings: append([]record.Warning{}, e.Warnings()...),
		}
		summary.Ranking = adaptations.Ranking
		if fidelity.Cells > 0 {
			summary.Fidelity = &fidelity
		}
		return p.JSON(summary)
	}
	if err := p.tunings(e); err != nil {
		return err
	}
	if len(adaptations.Ranking)+len(adaptations.RealRanking) > 0 {
		if err := p.adaptations(prose.Adaptations(adaptations)); err != nil {
			return err
		}
	}
	if len(plan.Cells) == 0 && len(adaptations.Ranking)+len(adaptations.RealRanking) > 0 {
		fmt.Fprintf(p.Out, "\ndone in %s\nreport: %s\n", live.Duration(outcome.Elapsed), outcome.Report)
		return nil
	}
	full, chosen := prose.Best(e, mostRows)
	if len(e.Plan.Tunings) == 0 || len(full.Rows) > 0 { // a file that only tunes has no policies to show
		t := narrow(full, p.Out)
		if err := t.Write(p.Out, "", p.Color); err != nil {
			return fmt.Errorf("print summary: %w", err)
		}
	}
	if chosen != "" {
		fmt.Fprintln(p.Out, chosen)
	}
	if err := p.classes(e); err != nil {
		return err
	}
	if err := p.answers(e, comparisons); err != nil {
		return err
	}
	accuracy, err := e.Accuracy()
	if err != nil {
		return err
	}
	p.accuracy(accuracy)
	forecasts, err := e.Remaining()
	if err != nil {
		return err
	}
	if s := prose.Remaining(analysis.Remaining(forecasts)); s != "" {
		fmt.Fprintln(p.Out, "\n"+s)
	}
	if s := prose.Fidelity(fidelity); s != "" {
		fmt.Fprintln(p.Out, "\n"+s)
	}
	if len(thresholds) > 0 {
		fmt.Fprintln(p.Out)
		p.thresholds(thresholds, "")
	}
	if doubts := prose.Doubts(prose.Unsaid(e, comparisons), namedCells); len(doubts) > 0 {
		fmt.Fprintln(p.Out)
		p.doubts(doubts)
	}
	if err := p.failures(e); err != nil {
		return err
	}
	fmt.Fprintf(p.Out, "\n%s in %s\nreport: %s\n", cellsDone(outcome), live.Duration(outcome.Elapsed), outcome.Report)
	return nil
}

// tunings prints what searches for settings came to.
func (p *Printer) tunings(e *record.Experiment) error {
	_, said := prose.Tunings(e)
	for _, s := range said {
		if _, err := fmt.Fprintln(p.Out, s); err != nil {
			return fmt.Errorf("print tunings: %w", err)
		}
	}
	return nil
}

// adaptations prints how controllers that deepen networks are ranked.
func (p *Printer) adaptations(blocks []prose.Adaptation) error {
	for _, b := range blocks {
		fmt.Fprintf(p.Out, "adaptation %s\n", b.Name)
		for _, table := range []prose.Table{b.Scenarios, b.Ranks, b.Regrets, b.Real} {
			if len(table.Rows) == 0 {
				continue
			}
			t := textTable(table)
			if err := t.Write(p.Out, "", p.Color); err != nil {
				return fmt.Errorf("print summary: %w", err)
			}
			fmt.Fprintln(p.Out)
		}
		for _, text := range b.Answers {
			fmt.Fprintln(p.Out, text)
		}
	}
	return nil
}

// answers prints the results of the comparisons as sentences.
func (p *Printer) answers(e *record.Experiment, rows []record.ComparisonRow) error {
	answers, more, err := prose.Conclusions(e, rows, mostAnswers)
	if err != nil || len(answers) == 0 {
		return err
	}
	fmt.Fprintln(p.Out)
	joined := false
	for _, s := range answers {
		fmt.Fprintln(p.Out, s.Text)
		joined = joined || s.Joined()
	}
	switch {
	case more > 0:
		fmt.Fprintf(p.Out, "… and %s more: see %s\n", Count(more, "answer", "answers"), record.ComparisonsFile)
	case joined:
		fmt.Fprintf(p.Out, "Each comparison, with its interval and p-value, is in %s.\n", record.ComparisonsFile)
	}
	return nil
}

// mostClassRows is the greatest number of rows of a table of classes that a summary shows.
const mostClassRows = 12

// classes prints what became of each class of jobs, where that is short.
func (p *Printer) classes(e *record.Experiment) error {
	for _, g := range prose.Groups(e) {
		if g.By != "class" || len(g.Rows) > mostClassRows {
			continue
		}
		fmt.Fprintln(p.Out)
		t := narrow(g.Table, p.Out)
		if err := t.Write(p.Out, "", p.Color); err != nil {
			return fmt.Errorf("print summary: %w", err)
		}
	}
	return nil
}

// accuracy prints the accuracy of each model's estimates, over all runs.
func (p *Printer) accuracy(rows []record.AccuracyRow) {
	first := true
	for _, r := range rows {
		if r.By != record.ByAll {
			continue
		}
		if first {
			fmt.Fprintln(p.Out)
			first = false
		}
		fmt.Fprintln(p.Out, prose.Accuracy(r))
	}
}

// thresholds prints for each threshold whether it is met.
func (p *Printer) thresholds(verdicts []prose.Verdict, indent string) {
	for _, v := range verdicts {
		mark, ink := "met:   ", Green
		if !v.Met {
			mark, ink = "MISSED:", Red
		}
		fmt.Fprintf(p.Out, "%s%s %s\n", indent, p.Paint(ink, mark), v.Text)
	}
}

func (p *Printer) doubts(doubts []prose.Doubt) {
	for i, d := range doubts {
		if i == maxWarnings {
			fmt.Fprintf(p.Out, "… and %s more: see the report\n", Count(len(doubts)-i, "warning", "warnings"))
			return
		}
		fmt.Fprintf(p.Out, "%s %s\n", p.Paint(Yellow, "warning:"), d)
	}
}

// cellsDone is "6 cells ran, 4 reused".
func cellsDone(o *pipeline.Outcome) string {
	text := Count(o.Ran, "cell", "cells") + " ran"
	if o.Reused > 0 {
		text += fmt.Sprintf(", %d reused", o.Reused)
	}
	return text
}

// The most rows and sentences that a summary has; the files have all.
const (
	mostRows    = 40
	mostAnswers = 20
)

// fileWidth is the greatest width of a table that is not for a terminal.
const fileWidth = 100

// Columns returns the width of the terminal w, or of the one that is below it, if there is one.
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

// narrow fits a table into a terminal, if it can: long heads get several lines; then, where that is narrower, the axes
// get columns of their own; then metrics are left out; last, texts on the left are broken. In a file heads have one line.
func narrow(full prose.Table, w io.Writer) Table {
	columns, terminal := Columns(w)
	if !terminal {
		columns = fileWidth
	}
	return fitted(full, columns, terminal)
}

func fitted(full prose.Table, columns int, stacks bool) Table {
	text := func(full prose.Table) (t Table, fits bool) {
		t = textTable(full)
		if stacks && t.Width() > columns {
			t.stack()
		}
		return t, t.Width() <= columns
	}
	names := spare(full, stacks)
	for {
		joined, fits := text(full)
		if fits {
			return joined
		}
		if stacks && full.Variants != nil {
			if apart, fits := text(full.Apart()); fits {
				return apart
			}
		}
		if len(names) == 0 {
			if stacks {
				joined.wrapLeft(columns)
			}
			return joined
		}
		full, names = full.Without(names[0]), names[1:]
	}
}

// spare are the metrics of a table that may be left out, the first first: those without which summaries do, then, on a
// terminal, the others from the right. The first metric stays, and those that the experiment compares.
func spare(full prose.Table, terminal bool) (names []string) {
	leave := func(name string) {
		if !slices.Contains(full.Kept, name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, m := range measure.ShownIn(measure.Spare) {
		leave(m.Name)
	}
	if terminal {
		for i := len(full.Header) - 1; i > full.Left+1; i-- {
			if name, ok := full.Metrics[i]; ok {
				leave(name)
			}
		}
	}
	return names
}

func textTable(t prose.Table) Table { return Table{Left: t.Left, Header: t.Header, Rows: t.Rows} }
