package start

import "regexp"

// number is a number in a line of progress.
const number = `[0-9.eE+-]+`

// accuracy is the part of a pattern for an accuracy behind the loss, as a part of 1; lines without one match as well.
const accuracy = `(?:.*\bacc(?:uracy)?\W+(?P<accuracy>[01]?\.[0-9]+))?`

// progressStyles are the ways in which programs print their progress. Each has a pattern that must occur in the source,
// one that must not, and the pattern of the printed lines (see the argument lines of progress blocks). The first
// match counts.
var progressStyles = []struct{ by, unless, lines string }{
	{`(?ms)^\s*(?:import|from)\s+transformers\b.*\bTrainer\(|print\(\s*(?:str\()?\{[^}]*'loss'[^}]*'epoch'`, ``,
		`'loss': '?(?P<loss>` + number + `).*'epoch': '?(?P<epoch>[0-9.]+)`},
	{`(?m)^\s*(?:import|from)\s+(?:pytorch_lightning|lightning)\b`, ``,
		`Epoch (?P<epoch0>[0-9]+): 100%.*loss[=:] ?(?P<loss>` + number + `)`},
	{`(?s)\.fit\(.*\bverbose\s*=\s*2\b`, ``, `^[0-9]+/[0-9]+ - .*\bloss: (?P<loss>` + number + `)` + accuracy},
	{`(?i)print\w*\(.*epoch(?:\W{0,4}\{|\W{0,2}["'],\s*\w)`, `(?i)print.*epoch\W{0,5}\w+\s*\+\s*1|range\(\s*1\s*,`,
		`[Ee]poch\W*(?P<epoch0>[0-9]+)(?:.*\bloss\W+(?P<loss>` + number + `))?` + accuracy},
	{`(?i)print\w*\(.*epoch(?:\W{0,4}[{%]|\W{0,2}["'],\s*\w)`, ``,
		`[Ee]poch\W*(?P<epoch>[0-9]+)(?:.*\bloss\W+(?P<loss>` + number + `))?` + accuracy},
}

// progressPattern is the pattern of the lines by which a program prints its progress; empty where none is recognized.
func progressPattern(source []byte) string {
	for _, p := range progressStyles {
		if regexp.MustCompile(p.by).Match(source) && (p.unless == "" || !regexp.MustCompile(p.unless).Match(source)) {
			return p.lines
		}
	}
	return ""
}
