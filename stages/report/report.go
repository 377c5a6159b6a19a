// Package report writes report.html: one file without any outside reference
// that says what was asked, what came out, how sure that is, and how to repeat it.
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

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

//go:embed report.html.tmpl
var page string

//go:embed report.css
var style string

// policy is the page's Content-Security-Policy. The page shows what may come from
// somebody else's folder: nothing runs in it, nothing is fetched, and no style holds
// but its own, which is named by its hash.
func policy() string {
	hash := sha256.Sum256([]byte(style))
	return "default-src 'none'; img-src data:; style-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) +
		"'; base-uri 'none'; form-action 'none'"
}

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"style":  func() template.CSS { return template.CSS(style) },
	"policy": policy,
}).Parse(page))

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
	if err := folder.Write(path, b.Bytes(), 0o644); err != nil {
		return "", fmt.Errorf("write report: %w", err)
	}
	return path, nil
}
