package start

import (
	"regexp"
	"slices"
	"strings"
)

// Patterns of calls that print progress, of names of accuracies in them, and of a factor of 100.
var (
	printed      = regexp.MustCompile(`(?i)` + printing)
	counted      = regexp.MustCompile(`(?i)\b(?:epoch|(?:global_|train_)?step|iter(?:ation)?)(?:_num|_idx|_no|_i)?s?\b`)
	losses       = regexp.MustCompile(`(?i)loss`)
	accuracies   = regexp.MustCompile(`(?i)[a-z_]*acc(?:uracy)?(?:_[a-z]+)?\b`)
	timesHundred = regexp.MustCompile(`(?i)acc(?:uracy)?(?:_[a-z]+)?["'\])]*\s*\*\s*100\b|\b100(?:\.0*)?\s*\*\s*` +
		`[\w.\["'(]*(?:acc|correct)`)
	hundredfold = `\s*=[^=\n#][^\n#]*(?:\b100(?:\.0*)?\s*\*|\*\s*100\b)`
	ended       = regexp.MustCompile(`(?i)epoch[^"']*\b(?:in|took|time|finished|done|completed?|ended)\b`)
)

// printCalls returns the arguments of the calls of a program that print text, in their order.
func printCalls(source []byte) (calls []string) {
	for _, at := range printed.FindAllIndex(source, -1) {
		calls = append(calls, strings.Join(arguments(string(source[at[1]:])), ","))
	}
	return calls
}

// inPercent reports whether a program prints its accuracies in percent: each call that prints an accuracy multiplies it
// by 100, or prints a variable that is assigned such a product.
func inPercent(source []byte, calls []string) bool {
	found := false
	for _, call := range calls {
		names := accuracies.FindAllString(call, -1)
		if len(names) == 0 {
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

// Parts of patterns for values in separate lines. A line with the loss of a validation does not match.
const (
	correctOf = `(?:\d+/\d+\s*\(\s*)?` // 98/100 (98%)
	ownLoss   = `^(?i:(?:.*[|:\]>])?\s*(?:(?:train[a-z]*|set|avg|average|mean|running|total|epoch` +
		`|batch)[ _/:-]+)*` + lossWord +
		`(?:.*[^a-z]` + accName + `(?P<accuracy3>` + number + `))?)`
	ownAccuracy = `^(?i:(?:.*[^a-z])?` + accName + correctOf + `(?P<accuracy2>` + number + `))`
	ownBar      = `^.*?%\|.*\|\s*(?P<batch>[0-9]+)/(?P<batches>[0-9]+) \[`
)

// separated returns the lines of a style that reads loss and accuracy behind a count, for a program that prints them in
// other places: in separate lines, or the accuracy before the loss.
func (s progressStyle) separated(source []byte) string {
	with := func(call string, parts ...*regexp.Regexp) bool {
		return !slices.ContainsFunc(parts, func(part *regexp.Regexp) bool { return !part.MatchString(call) })
	}
	var beside, apart []string // calls that print an accuracy or a loss with a count, and without one
	header := false
	for _, call := range printCalls(source) {
		value := with(call, losses) || with(call, accuracies)
		switch {
		case value && with(call, counted):
			beside = append(beside, call)
		case value:
			apart = append(apart, call)
		case with(call, counted) && !ended.MatchString(call):
			header = true
		}
	}
	has := func(calls []string, part *regexp.Regexp) bool {
		return slices.ContainsFunc(calls, func(call string) bool { return with(call, part) })
	}
	lines, own, other := s.lines, `|`+ownAccuracy, `|`+ownLoss
	if inPercent(source, beside) {
		lines = strings.Replace(lines, "P<accuracy>", "P<percent>", 1)
	}
	if inPercent(source, apart) {
		own = strings.Replace(own, "P<accuracy2>", "P<percent2>", 1)
		other = strings.Replace(other, "P<accuracy3>", "P<percent3>", 1)
	}
	placed := strings.Contains(s.lines, accuracy) // the accuracy is in the same line, not in a bar or a dictionary
	switch {
	case s.steps:
	case placed && len(beside) == 0 && header && has(apart, losses):
		begin, _, _ := strings.Cut(s.lines, `(?i:(?:.*?`)
		return `^.*?` + begin + `|` + ownBar + other + own
	case (!placed || !has(beside, accuracies)) && has(apart, accuracies):
		return `^.*?` + lines + own
	}
	for _, call := range beside {
		names := accuracies.FindAllStringIndex(call, -1)
		if first := losses.FindStringIndex(call); len(names) > 0 && first != nil && names[len(names)-1][0] < first[0] {
			lines = behindAccuracy(lines)
		}
	}
	return lines
}

// behindAccuracy moves the accuracy in a pattern before the loss.
func behindAccuracy(lines string) string {
	begin := strings.Index(lines, `(?:.*?`)
	middle := strings.Index(lines, `(?:.*[^a-z]acc`)
	end := strings.LastIndex(lines, `)`)
	if begin < 0 || middle < begin || end < middle {
		return lines
	}
	return lines[:begin] + lines[middle:end] + lines[begin:middle] + lines[end:]
}
