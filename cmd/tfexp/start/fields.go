package start

import (
	"regexp"
	"strings"
)

// parameter is an option that a library makes of a parameter of a function, or of a field of a dataclass.
type parameter struct {
	name, option string
	value, kind  string // its default, and its type; both as in the source
}

// Patterns of programs whose options are parameters or fields: by Fire, Typer, and libraries that read dataclasses.
var (
	fired      = regexp.MustCompile(`\b(?:fire\.Fire|typer\.run)\(\s*(\w+)\s*\)`)
	typed      = regexp.MustCompile(`(?s)@\w+\.command\([^)]*\)\s*def \w+\(`)
	dataclass  = regexp.MustCompile(`(?m)^@(?:\w+\.)?dataclass\b[^\n]*\nclass \w+[^\n]*:\n((?:(?:[ \t]+[^\n]*)?\n)*)`)
	readsClass = regexp.MustCompile(`\bHfArgumentParser\(|\btyro\.cli\(|\bsimple_parsing\b` +
		`|\bArgumentParser\(\s*parser_mode`)
	hyphens  = regexp.MustCompile(`\btyper\b|\btyro\b`)
	declared = regexp.MustCompile(`^\s*(\w+)\s*(?::\s*([^=]*?))?\s*=\s*(?:(?:typer\.)?Option\(\s*|` +
		`(?:\w+\.)?field\(\s*default\s*=\s*)?([-+]?[\d.][\w.+-]*)\s*[,)]?`)
)

// parameters returns the options with a number as default that a program has by its parameters and fields.
func parameters(raw []byte) (list []parameter) {
	source := string(raw)
	var texts []string
	for _, m := range fired.FindAllStringSubmatch(source, -1) {
		if _, behind, found := strings.Cut(source, "def "+m[1]+"("); found {
			texts = append(texts, arguments(behind)...)
		}
	}
	for _, at := range typed.FindAllStringIndex(source, -1) {
		texts = append(texts, arguments(source[at[1]:])...)
	}
	if readsClass.MatchString(source) {
		for _, m := range dataclass.FindAllStringSubmatch(source, -1) {
			texts = append(texts, strings.Split(m[1], "\n")...)
		}
	}
	for _, text := range texts {
		if m := declared.FindStringSubmatch(text); m != nil && amounts.MatchString(m[3]) {
			option := "--" + m[1]
			if hyphens.MatchString(source) {
				option = strings.ReplaceAll(option, "_", "-")
			}
			list = append(list, parameter{m[1], option, m[3], m[2]})
		}
	}
	return list
}
