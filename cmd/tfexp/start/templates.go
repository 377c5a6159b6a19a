package start

import (
	"embed"
	"strings"
	"text/template"

	"github.com/tfexp/tfexp/experiments/eval"
)

//go:embed *.hcl.tmpl
var templates embed.FS

// forms are the templates of first experiments: of a program, and of a log.
var forms = template.Must(template.New("").Funcs(template.FuncMap{
	"list": func(items []string) string {
		quoted := make([]string, len(items))
		for i, item := range items {
			quoted[i] = eval.Literal(item)
		}
		return strings.Join(quoted, ", ")
	},
	"quote": eval.Literal,
	"join":  func(items []string) string { return strings.Join(items, " and ") },
}).ParseFS(templates, "*.hcl.tmpl"))
