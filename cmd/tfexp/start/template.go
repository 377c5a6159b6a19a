package start

import (
	"embed"
	"io/fs"
	"strings"
	"text/template"
	"unicode"

	"github.com/mitchellh/go-wordwrap"

	"github.com/tfexp/tfexp/experiments/eval"
)

//go:embed *.hcl.tmpl
var files embed.FS

// templates are the templates of the experiments with a program.
var templates = Templates(files)

// Templates parses the templates of first experiments in a folder, which are called NAME.hcl.tmpl. It panics where one
// has a mistake.
func Templates(folder fs.FS) *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"list": func(items []string) string {
			quoted := make([]string, len(items))
			for i, item := range items {
				quoted[i] = eval.Literal(item)
			}
			return strings.Join(quoted, ", ")
		},
		"quote": eval.Literal,
		"join":  func(items []string) string { return strings.Join(items, " and ") },
	}).ParseFS(folder, "*.hcl.tmpl"))
}

// Wrapped divides texts into lines of comments.
func Wrapped(texts []string) (out [][]string) {
	for _, text := range texts {
		text = strings.Map(func(r rune) rune {
			if !unicode.IsPrint(r) {
				return '?'
			}
			return r
		}, text)
		out = append(out, strings.Split(wordwrap.WrapString(text, widest), "\n"))
	}
	return out
}

// widest is how long the lines of comments are, in characters.
const widest = 110
