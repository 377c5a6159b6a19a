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

// printable reports whether a text can stand in a comment as it is: it has no control characters, and is UTF-8.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
