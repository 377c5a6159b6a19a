package report

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// view is the content of the page, for its template.
type view struct {
	Title, Description string
	Progress           string // "7 of 10 cells so far"; empty when complete
	State              string
	When               string
	Contents           []heading
	shownAnswers
	Warnings, MoreWarnings []analysis.Doubt
	Summary                table.Table
	Policies               bool // the page has a list of policies
	Blocks                 []block
	Axes                   []string // of the matrix
	comparisons
	Thresholds []analysis.Verdict
	shownPictures
	NoCells bool // the matrix has no cells, and the page is about a part such as an adaptation
	// First, Middle and Last are sections of registered parts. Their places are before the policies, before the
	// pictures, and after the pictures.
	First, Middle, Last []*section
	failedCells
	Cells     table.Table
	MoreCells int // cells that the table leaves out
	origin

	spans int // the stretches in the charts so far
}

// failedCells are the first of the cells that failed.
type failedCells struct {
	Failures     []failure
	MoreFailures int
}

// shownAnswers are the sentences at the top of the page.
type shownAnswers struct {
	Headline table.Headline
	Answers  []string // answers of parts, below the headline
	Folded   []string
	NoAnswer string
}

// comparisons are the table of comparisons, and the method of all of them; "" if they have several methods.
type comparisons struct {
	Comparisons table.Table
	Method      string
	Corrected   bool // some comparisons have Holm's correction
}

// shownPictures are the pictures on the page.
type shownPictures struct {
	AnswerPictures []shownPicture
	Pictures       []shownPicture
	More           []string // notes on pictures that are not shown
	Skipped        []record.Picture
	NoPictures     string
}

// origin says where the numbers come from.
type origin struct {
	Host               []record.Setting
	Repeat             []string
	Seed               int64
	Replicates         string
	Methods            string // how the replicates are compared
	SourceName, Source string
}

// heading is the heading of a section, with its name in links.
type heading struct{ Name, Title string }

// contents lists the sections of the page, as its template shows them.
func (v *view) contents() {
	add := func(there bool, name, title string) {
		if there {
			v.Contents = append(v.Contents, heading{name, title})
		}
	}
	parts := func(list []*section) {
		for _, s := range list {
			add(s.Shown(), s.Name, s.Title)
		}
	}
	parts(v.First)
	add(len(v.Thresholds) > 0, "thresholds", "Thresholds")
	parts(v.Middle)
	add(!v.NoCells, "pictures", "Pictures")
	add(len(v.Comparisons.Rows) > 0, "comparisons", "Comparisons")
	add(len(v.Failures) > 0, "failures", "What failed")
	add(true, "details", "Details")
}

// section is the section of a registered part.
type section struct {
	analysis.Content
	Pictures []shownPicture
	More     []string // notes on pictures that are not shown
}

// Shown reports whether a section has any content.
func (s *section) Shown() bool {
	return slices.ContainsFunc(s.Report, func(i table.Item) bool {
		return len(i.Table.Rows) > 0 || i.Pictures && len(s.Pictures) > 0
	})
}

// block is a workload, hardware or policy in one line.
type block struct{ Kind, Name, Summary string }

// shownPicture is a picture as a data URL, with its caption. An image runs no
// script and fetches nothing, whatever its content.
type shownPicture struct {
	Title, Caption string
	Kind           string
	Image          template.URL
	Chart          *chart // for the page's script; nil: the picture is all there is
	Folded         bool   // only its title is open
}

// The most that the page shows; for more it names the files.
const (
	mostAnswers  = 20
	mostOpen     = 3 // answers below the headline, and pictures other than schedules; more are folded
	mostOfCells  = 4 // pictures of single cells, of each kind
	mostCaveats  = 2 // more are folded
	mostFailures = 20
	mostNames    = 6
	mostCells    = 2000
	printed      = 60 // rows of a table on paper; report.css has the number, too
)

func newView(ctx context.Context, e *record.Experiment) (*view, error) {
	v := &view{
		Title: e.Plan.Experiment, Description: e.Plan.Description, State: e.Run.State,
		When: when(e.Run), Summary: analysis.SummaryTable(e), Axes: e.Plan.Axes,
		origin: origin{Host: environment(e.Run), Repeat: commands(e), Seed: e.Plan.Seed, Replicates: replicates(e.Plan.Replicates)},
	}
	if !e.Complete() {
		v.Progress = fmt.Sprintf("%d of %d cells so far", len(e.Cells), len(e.Plan.Cells))
	}
	contents, err := analysis.Parts(e)
	if err != nil {
		return nil, err
	}
	if err := v.answers(e, contents); err != nil {
		return nil, err
	}
	v.sections(contents)
	v.Policies = len(v.Summary.Rows) > 0 || !slices.ContainsFunc(v.First, (*section).Shown)
	v.blocks(e.Plan)
	v.cells(e)
	if err := v.pictures(ctx, e); err != nil {
		return nil, err
	}
	if err := v.failures(e); err != nil {
		return nil, err
	}
	if v.Thresholds, err = analysis.Thresholds(e); err != nil {
		return nil, err
	}
	v.contents()
	if v.SourceName, v.Source, err = e.Source(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return v, nil
}

// sections puts each part into First, Middle or Last by its place.
func (v *view) sections(contents []analysis.Content) {
	for _, t := range contents {
		s := &section{Content: t}
		switch {
		case t.InReport < analysis.Policies:
			v.First = append(v.First, s)
		case t.InReport < analysis.Verdicts:
			v.Middle = append(v.Middle, s)
		default:
			v.Last = append(v.Last, s)
		}
	}
}

// when describes the time and length of the run.
func when(r record.Run) string {
	start, err := time.Parse(time.RFC3339, r.Started)
	if err != nil {
		return ""
	}
	s := start.Format("2 January 2006, 15:04 MST")
	if r.Ran == 0 && r.Reused > 0 {
		s += ", with all cells taken from earlier runs"
	} else if end, err := time.Parse(time.RFC3339, r.Ended); err == nil {
		s += ", took " + table.WithUnit(end.Sub(start).Seconds(), "s")
	}
	return s
}

func (v *view) answers(e *record.Experiment, contents []analysis.Content) error {
	rows, err := analysis.Comparisons(e)
	if err != nil {
		return err
	}
	v.Comparisons = analysis.ComparisonTable(e.Plan, rows)
	if len(rows) > 0 && !slices.ContainsFunc(rows, func(r record.ComparisonRow) bool { return r.Method != rows[0].Method }) {
		v.Method = rows[0].Method
	}
	for _, t := range contents {
		for _, text := range t.Answers[:min(len(t.Answers), mostAnswers)] {
			v.say(text)
		}
	}
	said := len(v.Answers)
	v.NoCells = analysis.Whole(e, contents)
	v.Methods = methods(e, rows)
	if v.Headline, err = analysis.HeadlineOf(e, rows, contents); err != nil {
		return err
	}
	v.Warnings = analysis.Doubts(analysis.Unsaid(e, rows), mostNames)
	if len(v.Warnings) > mostCaveats {
		v.Warnings, v.MoreWarnings = v.Warnings[:mostCaveats], v.Warnings[mostCaveats:]
	}
	v.Corrected = slices.ContainsFunc(rows, func(r record.ComparisonRow) bool { return r.Candidates > 1 })
	switch {
	case said > 0 || len(v.Answers) == 0 && v.elsewhere(contents) || v.NoCells:
	case len(e.Cells) == 0:
		v.NoAnswer = "No cell is complete yet."
	case len(rows) == 0:
		v.NoAnswer = "There is nothing to compare: the experiment has one policy, or names no baseline."
	}
	v.Answers = slices.DeleteFunc(v.Answers, v.Headline.Says)
	if v.Headline.Sentence != "" { // the other answers qualify the headline
		v.Answers, v.Folded = nil, v.Answers
	} else if n := len(v.Answers); n > mostOpen {
		v.Answers, v.Folded = v.Answers[:mostOpen], v.Answers[mostOpen:]
	}
	return nil
}

// methods describes how means and differences are made, for a reader who repeats the experiment.
func methods(e *record.Experiment, rows []record.ComparisonRow) string {
	var text []string
	if e.Plan.Replicates > 1 {
		text = append(text, "A replicate has the same random numbers for all that is compared: jobs, arrivals, seeds of "+
			"programs. Means have 95% confidence intervals by Student's t, corrected for skewness.")
	}
	var tests []string
	corrected := ""
	for _, r := range rows {
		if !slices.Contains(tests, r.Method) && r.Method != record.OneRun {
			tests = append(tests, r.Method)
		}
		if r.Candidates > 1 {
			corrected = ", with Holm's correction where several candidates have one baseline"
		}
	}
	if len(tests) > 0 {
		text = append(text, fmt.Sprintf("Differences are tested by %s, two-sided%s.", table.Listed(tests), corrected))
	}
	if e.Run.Version != "" {
		text = append(text, "Run by tfexp "+e.Run.Version+".")
	}
	return strings.Join(text, " ")
}

func (v *view) say(text string) { v.Answers = append(v.Answers, text) }

// elsewhere takes the answer of the report from features if the comparisons give none, or if the experiment is only
// about a feature. These sentences are then not repeated below.
func (v *view) elsewhere(contents []analysis.Content) bool {
	for i := range contents {
		if contents[i].Whole && !v.NoCells {
			continue
		}
		for k := range contents[i].Report {
			if item := &contents[i].Report[k]; item.Answer {
				for _, text := range item.Sentences {
					v.say(text)
				}
				item.Sentences = nil
			}
		}
	}
	return len(v.Answers) > 0
}

func (v *view) blocks(p record.Plan) {
	for _, l := range []struct {
		kind  string
		named []record.Named
	}{{"workload", p.Workloads}, {"hardware", p.Hardware}, {"policy", p.Policies}} {
		for _, n := range l.named {
			v.Blocks = append(v.Blocks, block{l.kind, n.Name, n.Summary})
		}
	}
}

// cells fills in the table of the plan's cells.
func (v *view) cells(e *record.Experiment) {
	v.Cells = table.New(2, "cell", "state")
	metrics := slices.DeleteFunc(measure.ShownIn(measure.InCells), func(m measure.Metric) bool { // known nowhere
		return !slices.ContainsFunc(e.Cells, func(c record.Cell) bool { return stats.Finite(m.Of(&c.Metrics)) })
	})
	var units []table.Unit
	for _, m := range metrics {
		u := table.UnitFor(m.Unit, schema.Each(e.Cells, func(c record.Cell) float64 { return m.Of(&c.Metrics) })...)
		units = append(units, u)
		v.Cells.Columns = append(v.Cells.Columns,
			table.Column{Name: u.Label(m.Title), Kind: table.AsNumber, Metric: m.Name})
	}
	v.MoreCells = max(0, len(e.Plan.Cells)-mostCells)
	done := map[string]record.Cell{}
	for _, c := range e.Cells {
		done[c.Cell] = c
	}
	for _, ref := range e.Plan.Cells[:min(len(e.Plan.Cells), mostCells)] {
		c, ok := done[ref.Cell]
		row := []string{ref.Cell, "not written yet"}
		if ok {
			row[1] = c.State
		}
		for i, m := range metrics {
			text := ""
			if ok {
				text = units[i].Number(m.Of(&c.Metrics))
			}
			row = append(row, text)
		}
		v.Cells.Add(row...)
	}
}

func environment(r record.Run) []record.Setting {
	out := append([]record.Setting(nil), r.Host...)
	versions := []record.Setting{
		{Name: "tfexp", Value: r.Version}, {Name: "Go", Value: r.Go}, {Name: "git", Value: r.Git},
	}
	for _, s := range versions {
		if s.Value != "" {
			out = append(out, s)
		}
	}
	for _, p := range r.Python {
		out = append(out, record.Setting{Name: "Python", Value: analysis.Python(p)})
	}
	return out
}

// commands are the command lines that repeat the run: the one that was given, and the one that runs the copy of the
// experiment file in this folder.
func commands(e *record.Experiment) []string {
	var out []string
	if len(e.Run.Command) > 0 {
		out = append(out, shell(e.Run.Command))
	}
	name, _, err := e.Source()
	if err != nil {
		return out
	}
	again := []string{"tfexp", "run", name}
	for _, s := range e.Plan.Variables {
		again = append(again, "-var", s.Name+"="+s.Value)
	}
	return append(out, shell(again))
}

func replicates(n int) string {
	if n == 1 {
		return "one replicate"
	}
	return fmt.Sprintf("%d replicates", n)
}

// shell writes a command line as a shell reads it.
func shell(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = a
		if a == "" || strings.ContainsFunc(a, func(r rune) bool {
			letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
			return !letter && (r < '0' || r > '9') && !strings.ContainsRune("_-./=:,+@%", r)
		}) {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}
