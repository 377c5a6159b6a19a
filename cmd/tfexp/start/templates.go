package start

import (
	"embed"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"

	"github.com/tfexp/tfexp/experiments/eval"
)

//go:embed *.hcl.tmpl
var templates embed.FS

// forms has the templates of first experiments, for a program and for a log.
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

// printable reports whether a comment can contain a text: it is UTF-8, and has no control characters.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
