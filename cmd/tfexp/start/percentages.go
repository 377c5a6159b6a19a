package start

import (
	"regexp"
	"strings"
)

// Patterns of calls that print progress, of names of accuracies in them, and of a factor of 100.
var (
	printed      = regexp.MustCompile(`(?i)` + printing)
	counted      = regexp.MustCompile(`(?i)epoch|step|iter`)
	accuracies   = regexp.MustCompile(`(?i)[a-z_]*acc(?:uracy)?(?:_[a-z]+)?\b`)
	timesHundred = regexp.MustCompile(`(?i)acc(?:uracy)?(?:_[a-z]+)?["'\])]*\s*\*\s*100\b|\b100(?:\.0*)?\s*\*\s*` +
		`[\w.\["'(]*(?:acc|correct)`)
	hundredfold = `\s*=[^=\n#][^\n#]*(?:\b100(?:\.0*)?\s*\*|\*\s*100\b)`
)

// inPercent reports whether a program prints its accuracies in percent: each call that prints an accuracy with a count
// multiplies it by 100, or prints a variable that is assigned such a product.
func inPercent(source []byte) bool {
	found := false
	for _, at := range printed.FindAllIndex(source, -1) {
		call := strings.Join(arguments(string(source[at[1]:])), ",")
		names := accuracies.FindAllString(call, -1)
		if len(names) == 0 || !counted.MatchString(call) {
			continue
		}
		if found = timesHundred.MatchString(call); !found {
			for _, name := range names {
				assigned := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(name) + hundredfold)
				found = found || assigned.Match(source)
			}
		}
		if !found {
			return false
		}
	}
	return found
}
