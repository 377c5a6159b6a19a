package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// paperFigure is a number of a paper, and the corresponding mean over the rows of replicates.
type paperFigure struct {
	experiment, at, metric string
	theirs, ours           float64
	rows                   int
}

// paperTable returns the rows of a CSV file, as fields by column name.
func paperTable(t *testing.T, file string) []map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var list []map[string]string
	for _, row := range rows[1:] {
		m := map[string]string{}
		for i, name := range rows[0] {
			m[name] = row[i]
		}
		list = append(list, m)
	}
	return list
}

// figuresOf reads the figures of an experiment, in the order of its references.
func figuresOf(t *testing.T, experiment, file string) []*paperFigure {
	var list []*paperFigure
	for _, row := range paperTable(t, file) {
		at := strings.Join(slices.DeleteFunc(strings.Fields(row["at"]), func(part string) bool {
			return strings.HasPrefix(part, "replicate=")
		}), " ")
		theirs, err1 := strconv.ParseFloat(row["expected"], 64)
		ours, err2 := strconv.ParseFloat(row["ours"], 64)
		if cmp.Or(err1, err2) != nil {
			continue // no cell has this number
		}
		i := slices.IndexFunc(list, func(f *paperFigure) bool { return f.at == at && f.metric == row["metric"] })
		if i < 0 {
			i = len(list)
			list = append(list, &paperFigure{experiment: experiment, at: at, metric: row["metric"]})
		}
		f := list[i]
		f.theirs, f.ours, f.rows = f.theirs+theirs, f.ours+ours, f.rows+1
	}
	for _, f := range list {
		f.theirs, f.ours = f.theirs/float64(f.rows), f.ours/float64(f.rows)
	}
	return list
}

// Figures are divided into classes by their difference from the paper.
const (
	within1     = "within 1%"
	within2     = "within 2%"
	within5     = "within 5%"
	explained   = "more, explained"
	unexplained = "more"
)

func nearness(f *paperFigure, why func(f *paperFigure) string) string {
	switch off := math.Abs(f.ours - f.theirs); {
	case off <= 0.01*math.Abs(f.theirs):
		return within1
	case off <= 0.02*math.Abs(f.theirs):
		return within2
	case off <= 0.05*math.Abs(f.theirs):
		return within5
	case why(f) != "":
		return explained
	}
	return unexplained
}

// papersTable returns a table: for each experiment, how many figures are in each class, and which figures differ by
// more than 1%.
func papersTable(figures []*paperFigure, why func(f *paperFigure) string) string {
	var b strings.Builder
	b.WriteString("# Published figures, repeated\n\nWhen you want to know whether tfexp's policies are those of a paper, compare the " +
		"published figures with ours here. `make papers`\nruns the experiments and writes this page; the report of one has all its " +
		"figures, with intervals:\n\n    tfexp run experiments/papers/gavel.hcl\n\n")
	classes := []string{within1, within2, within5, explained, unexplained}
	fmt.Fprintf(&b, "| experiment | %s |\n|---%s|\n", strings.Join(classes, " | "), strings.Repeat("|---", len(classes)))
	counts := map[string]map[string]int{"all": {}}
	var names []string
	for _, f := range figures {
		if counts[f.experiment] == nil {
			counts[f.experiment] = map[string]int{}
			names = append(names, f.experiment)
		}
		counts[f.experiment][nearness(f, why)]++
		counts["all"][nearness(f, why)]++
	}
	for _, name := range append(names, "all") {
		fmt.Fprintf(&b, "| `%s`", name)
		for _, class := range classes {
			fmt.Fprintf(&b, " | %d", counts[name][class])
		}
		b.WriteString(" |\n")
	}
	b.WriteString("\n## Figures that differ by more than 1%\n\nThey are means over replicates.\n\n" +
		"| experiment | figure | theirs | ours | difference |\n|---|---|---|---|---|\n")
	var reasons []string
	for _, f := range figures {
		if nearness(f, why) == within1 {
			continue
		}
		number := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
		change := "–"
		if f.theirs != 0 {
			change = fmt.Sprintf("%+.1f%%", 100*(f.ours/f.theirs-1))
		}
		fmt.Fprintf(&b, "| `%s` | %s, %s | %s | %s | %s |\n", f.experiment, strings.ReplaceAll(f.at, "|", "/"), f.metric,
			number(f.theirs), number(f.ours), change)
		if reason := why(f); reason != "" {
			reasons = append(reasons, fmt.Sprintf("- `%s`: %s\n", f.experiment, reason))
		}
	}
	b.WriteString("\nReasons:\n\n" + strings.Join(slices.Compact(reasons), ""))
	return b.String()
}

// rulesTable returns a table of the rules in which policies differ from the programs of their authors.
func rulesTable(rules []map[string]string) string {
	var b strings.Builder
	b.WriteString("\n## Policies that differ from their authors' programs\n\n| policy | which program | theirs | ours |\n" +
		"|---|---|---|---|\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r["policy"], r["source"], r["theirs"], r["ours"])
	}
	return b.String()
}

// TestPapersTable writes docs/papers.md if TFEXP_PAPERS is set (make papers). Otherwise it checks the page: the figures
// of gavel.hcl, the number of figures in each class, and the rules.
func TestPapersTable(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs whole experiments")
	}
	reasons := paperTable(t, filepath.Join("..", "..", "experiments", "papers", "why.csv"))
	why := func(f *paperFigure) string {
		for _, r := range reasons {
			if r["experiment"] == f.experiment && r["at"] == f.at && math.Abs(f.ours/f.theirs-1) > 0.02 {
				return r["why"]
			}
		}
		return ""
	}
	page := filepath.Join("..", "..", "docs", "papers.md")
	write := os.Getenv("TFEXP_PAPERS") != ""
	var figures []*paperFigure
	for _, file := range papers(t) {
		name := strings.TrimSuffix(filepath.Base(file), ".hcl")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("\nreference \"")) || !write && name != "gavel" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			e := runPaper(t, file)
			figures = append(figures, figuresOf(t, name, filepath.Join(e.Dir, "references.csv"))...)
		})
	}
	rules := rulesTable(paperTable(t, filepath.Join("..", "..", "experiments", "papers", "rules.csv")))
	table := papersTable(figures, why) + rules
	if write {
		if err := os.WriteFile(page, []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	kept, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(kept, []byte(rules)) {
		t.Errorf("docs/papers.md does not end with (make papers writes it anew):\n%s", rules)
	}
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "| `gavel`") && !bytes.Contains(kept, []byte(line)) {
			t.Errorf("docs/papers.md does not have the line (make papers writes it anew):\n%s", line)
		}
	}
}
