// Package report writes report.html: one file without any outside reference
// that says what was asked, what came out, how sure that is, and how to repeat it.
package report

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/tfexp/tfexp/results/record"
)

//go:embed report.html.tmpl
var page string

var pageTemplate = template.Must(template.New("report").Parse(page))

// Write writes report.html of an experiment into dir, from the experiment's
// plain files alone, and returns its path. Pictures are taken from the list
// that the plot stage left; without one the report says so.
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
	if err := renameio.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return "", fmt.Errorf("write report: %w", err)
	}
	return path, nil
}
