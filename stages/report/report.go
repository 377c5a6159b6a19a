// Package report writes report.html: one file without any outside reference with
// the question, the results, their uncertainty, and how to repeat them.
package report

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"path/filepath"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

//go:embed report.html.tmpl
var page string

//go:embed report.css
var style string

// The page's script: its tables, its pictures, and its schedules. Without it the page has the same content.
var (
	//go:embed tables.js
	tables string
	//go:embed pictures.js
	drawings string
	//go:embed schedules.js
	schedules string

	script = tables + drawings + schedules
)

// policy returns the page's Content-Security-Policy. The page may show data from somebody else's folder, so it may
// fetch nothing, and only its own scripts and styles, named by their hashes, have an effect.
func policy() string {
	return "default-src 'none'; img-src data:; style-src " + hash(style) + "; script-src " + hash(script) +
		"; base-uri 'none'; form-action 'none'"
}

// hash returns the name of a style or a script in a Content-Security-Policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"style":     func() template.CSS { return template.CSS(style) },
	"script":    func() template.JS { return template.JS(script) },
	"policy":    policy,
	"cell":      cell,
	"count":     func(rows [][]string) string { return table.Number(float64(len(rows))) },
	"long":      func(rows [][]string) bool { return len(rows) > printed },
	"bound":     table.Bound,
	"plural":    schema.Plural,
	"explained": explained,
	"pointed":   pointed,
	"terms":     func() []term { return terms },
	"printed":   func() int { return printed },
}).Parse(page))

// cell returns the text of a table's cell. A line may break before an interval, but not within it.
func cell(text string) string {
	if strings.ContainsAny(text, "±(") && len(text) < 60 {
		value, interval, _ := strings.Cut(text, " (")
		text = strings.ReplaceAll(value, " ", "\u00a0")
		if interval != "" {
			text += " (" + strings.ReplaceAll(interval, " ", "\u00a0")
		}
	}
	return text
}

// Write writes report.html of an experiment into dir, from the files in the experiment's folder alone, and returns its
// path. The pictures are those in the list of the plot stage; without the list the report has a note.
func Write(ctx context.Context, e *record.Experiment, dir string) (string, error) {
	v, err := newView(ctx, e)
	if err != nil {
		return "", fmt.Errorf("write report: %w", err)
	}
	var b bytes.Buffer
	if err := pageTemplate.Execute(&b, v); err != nil {
		return "", fmt.Errorf("write report: %w", err)
	}
	path := filepath.Join(dir, record.ReportFile)
	if err := folder.Write(path, b.Bytes(), 0o644); err != nil {
		return "", fmt.Errorf("write report: %w", err)
	}
	return path, nil
}
