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

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/prose"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/sections"
	"github.com/tfexp/tfexp/results/stats"
)

// view is what the page shows, in words.
type view struct {
	Title, Description string
	Progress           string // "7 of 10 cells so far"; empty when complete
	State              string
	When               string
	Answers            []answer
	MoreAnswers        int
	Joined             bool // some answers stand for several comparisons
	NoAnswer           string
	Warnings           []prose.Doubt
	Summary            prose.Table
	Blocks             []block
	Axes               []string // of the matrix
	Comparisons        prose.Table
	Tunings            prose.Table
	Thresholds         []prose.Verdict
	Pictures           []shownPicture
	More               []string // of pictures that are not shown
	Skipped            []record.Picture
	NoPictures         string
	Fidelity           fidelity
	Adaptations        adaptations
	NoCells            bool // the matrix has none, and other things are shown
	Estimates          estimates
	Sections           []section
	Failures           []failure
	MoreFailures       int
	Cells              prose.Table
	MoreCells          int // those that the table leaves out
	Host               []record.Setting
	Repeat             []string
	Seed               int64
	Replicates         string
	SourceName, Source string

	spans int // of the charts so far
}

// answer is a comparison, or several, in a sentence. Tag is the verdict of one;
// Kind is for the colour.
type answer struct{ Text, Tag, Kind string }

// section is one that a stage has added. ID is that of its heading.
type section struct {
	ID, Title string
	Sentences []string
	Table     prose.Table
}

// block is a workload, hardware or policy in one line.
type block struct{ Kind, Name, Summary string }

// shownPicture is a picture as a data URL, with its caption. What is shown as an
// image runs no script and fetches nothing, whatever is in it.
type shownPicture struct {
	Title, Caption string
	Image          template.URL
	Chart          *chart // for the page's script; nil: the picture is all there is
}

// How much the page shows before it refers to the files.
const (
	mostAnswers  = 20
	mostOfCells  = 8
	mostFailures = 20
	mostNames    = 6
	mostCells    = 2000
	// mostPrinted is the number of rows up to which a table is printed whole; of a longer one, paper has the first
	// printed, a number that report.css has too.
	mostPrinted = 200
	printed     = 60
	// mostGroupRows are those of a table of classes, users or sizes.
	mostGroupRows = 200
)

func newView(ctx context.Context, e *record.Experiment) (*view, error) {
	v := &view{
		Title: e.Plan.Experiment, Description: e.Plan.Description, State: e.Run.State,
		When: when(e.Run), Summary: prose.Summary(e), Host: environment(e.Run), Repeat: commands(e),
		Seed: e.Plan.Seed, Replicates: replicates(e.Plan.Replicates), Axes: e.Plan.Axes,
	}
	if !e.Complete() {
		v.Progress = fmt.Sprintf("%d of %d cells so far", len(e.Cells), len(e.Plan.Cells))
	}
	if err := v.answers(e); err != nil {
		return nil, err
	}
	v.blocks(e.Plan)
	v.cells(e)
	if err := v.pictures(ctx, e); err != nil {
		return nil, err
	}
	if err := v.fidelity(e); err != nil {
		return nil, err
	}
	if err := v.estimates(e); err != nil {
		return nil, err
	}
	if len(v.Answers) == 0 && len(v.Estimates.Answers) > 0 { // estimates are what it was about
		v.NoAnswer = ""
		for _, text := range v.Estimates.Answers {
			v.Answers = append(v.Answers, answer{Text: text, Kind: kind("")})
		}
		v.Estimates.Answers = nil
	}
	if err := v.adaptations(e); err != nil {
		return nil, err
	}
	if err := v.sections(e); err != nil {
		return nil, err
	}
	if err := v.failures(e); err != nil {
		return nil, err
	}
	var err error
	if v.Thresholds, err = prose.Thresholds(e); err != nil {
		return nil, err
	}
	if v.SourceName, v.Source, err = e.Source(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return v, nil
}

// sections fills in what stages have added to the report.
func (v *view) sections(e *record.Experiment) error {
	for _, g := range prose.Groups(e) {
		t := g.Table
		s := section{ID: "by-" + g.By, Title: "By " + g.By}
		if more := len(t.Rows) - mostGroupRows; more > 0 {
			t.Rows = t.Rows[:mostGroupRows]
			s.Sentences = []string{fmt.Sprintf("The first %d of %d rows.", mostGroupRows, mostGroupRows+more)}
		}
		s.Table = t
		v.Sections = append(v.Sections, s)
	}
	added, err := sections.All(e.Dir)
	for _, s := range added {
		v.Sections = append(v.Sections, section{
			ID: "section-" + s.Name, Title: s.Title, Sentences: s.Sentences,
			Table: prose.Table{Left: s.Text, Header: s.Header, Rows: s.Rows},
		})
	}
	return err
}

// when says when the run was made, and how long it took.
func when(r record.Run) string {
	start, err := time.Parse(time.RFC3339, r.Started)
	if err != nil {
		return ""
	}
	s := start.Format("2 January 2006, 15:04 MST")
	if r.Ran == 0 && r.Reused > 0 {
		s += ", with all cells taken from earlier runs"
	} else if end, err := time.Parse(time.RFC3339, r.Ended); err == nil {
		s += ", took " + end.Sub(start).String()
	}
	return s
}

func (v *view) answers(e *record.Experiment) error {
	rows, err := analysis.Comparisons(e)
	if err != nil {
		return err
	}
	v.Comparisons = prose.Comparisons(e.Plan, rows)
	var tuned []string
	if v.Tunings, tuned = prose.Tunings(e); len(tuned) > 0 {
		for _, text := range tuned[:min(len(tuned), mostAnswers)] {
			v.Answers = append(v.Answers, answer{Text: text, Kind: kind("")})
		}
	}
	answers, more, err := prose.Conclusions(e, rows, mostAnswers)
	if err != nil {
		return err
	}
	for _, a := range answers {
		tag := a.Verdict
		if a.Rows > 1 {
			tag = "" // the text has the numbers
		}
		v.Answers = append(v.Answers, answer{a.Text, tag, kind(a.Verdict)})
		v.Joined = v.Joined || a.Joined()
	}
	v.MoreAnswers = more
	v.Warnings = prose.Doubts(prose.Unsaid(e, rows), mostNames)
	switch {
	case len(tuned) > 0:
	case len(e.Cells) == 0:
		v.NoAnswer = "No cell is complete yet."
	case len(rows) == 0:
		v.NoAnswer = "There is nothing to compare: the experiment has one policy, or names no baseline."
	}
	return nil
}

// kind is the class of a verdict in the page's style.
func kind(verdict string) string {
	switch verdict {
	case record.Better, record.Worse:
		return verdict
	}
	return "open"
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

// cells is the table of all cells of the plan.
func (v *view) cells(e *record.Experiment) {
	v.Cells = prose.Table{Left: 2, Header: []string{"cell", "state"}}
	metrics := slices.DeleteFunc(measure.ShownIn(measure.InCells), func(m measure.Metric) bool { // those known nowhere
		return !slices.ContainsFunc(e.Cells, func(c record.Cell) bool { return stats.Finite(m.Of(&c.Metrics)) })
	})
	for _, m := range metrics {
		v.Cells.Header = append(v.Cells.Header, m.Label())
	}
	v.MoreCells = max(0, len(e.Plan.Cells)-mostCells)
	done := map[string]record.Cell{}
	for _, c := range e.Cells {
		done[c.Cell] = c
	}
	for _, ref := range e.Plan.Cells[:min(len(e.Plan.Cells), mostCells)] {
		c, ok := done[ref.Cell]
		row := []string{ref.Cell, "not there yet"}
		if ok {
			row[1] = c.State
		}
		for _, m := range metrics {
			text := ""
			if ok {
				text = prose.Number(m.Of(&c.Metrics))
			}
			row = append(row, text)
		}
		v.Cells.Rows = append(v.Cells.Rows, row)
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
		out = append(out, record.Setting{Name: "Python", Value: prose.Python(p)})
	}
	return out
}

// commands are the command lines that repeat the run: the one that was given,
// and the one that needs nothing but this folder.
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
