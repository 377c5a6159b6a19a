package progress

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// Names of groups in a pattern of lines: finished epochs, finished epochs counted from 0, finished steps, a batch
// within the epoch, the number of batches, loss, accuracy, and accuracy in percent.
const (
	groupEpoch    = "epoch"
	groupEpoch0   = "epoch0"
	groupStep     = "step"
	groupBatch    = "batch"
	groupBatches  = "batches"
	groupLoss     = "loss"
	groupAccuracy = "accuracy"
	groupPercent  = "percent"
)

// lineGroups are the possible names of groups in a pattern of lines.
var lineGroups = []string{groupEpoch, groupEpoch0, groupStep, groupBatch, groupBatches, groupLoss, groupAccuracy,
	groupPercent}

// meaning returns a group's name without a final digit from 2 to 9. A pattern can have further groups for the same
// value, whose names end in such a digit.
func meaning(group string) string { return strings.TrimRight(group, "23456789") }

func isCount(group string) bool {
	group = meaning(group)
	return group == groupEpoch || group == groupEpoch0 || group == groupStep
}

// linePattern is a compiled pattern of lines.
type linePattern struct {
	full *regexp.Regexp
	// bare is the pattern without its loss, for lines that have none. It is nil if the pattern would match too many
	// lines without its loss.
	bare *regexp.Regexp
	// counts and batches report whether the pattern has such groups.
	counts, batches bool
	// plain reports whether the pattern names no validation. The names of values in the lines then decide which values
	// belong to a validation.
	plain bool
}

// newPattern compiles a pattern of lines.
func newPattern(text string) (*linePattern, error) {
	full, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	p := &linePattern{full: full, bare: withoutLoss(text), plain: !ofValidation.MatchString(text)}
	for _, name := range full.SubexpNames() {
		p.counts = p.counts || isCount(name)
		p.batches = p.batches || meaning(name) == groupBatch
	}
	return p, nil
}

// withoutLoss returns the pattern without the part around its loss, between two ".*". It returns nil if that part also
// has a count, if no other part has a count, or if the loss is already optional.
func withoutLoss(text string) *regexp.Regexp {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil || tree.Op != syntax.OpConcat {
		return nil
	}
	var parts [][]*syntax.Regexp // wildcards and the parts between them
	var part []*syntax.Regexp
	for _, sub := range tree.Sub {
		if isWildcard(sub) {
			parts = append(parts, part, []*syntax.Regexp{sub})
			part = nil
			continue
		}
		part = append(part, sub)
	}
	parts = append(parts, part)
	needed := slices.IndexFunc(parts, func(part []*syntax.Regexp) bool {
		return slices.ContainsFunc(part, func(r *syntax.Regexp) bool { return r.Op == syntax.OpCapture && meaning(r.Name) == groupLoss })
	})
	if needed < 0 || slices.ContainsFunc(parts[needed], hasCount) {
		return nil
	}
	parts[needed] = nil
	tree.Sub = slices.Concat(parts...)
	if !slices.ContainsFunc(tree.Sub, hasCount) {
		return nil
	}
	bare, err := regexp.Compile(tree.String())
	if err != nil {
		return nil
	}
	return bare
}

// isWildcard reports whether an expression matches any text.
func isWildcard(r *syntax.Regexp) bool {
	return (r.Op == syntax.OpStar || r.Op == syntax.OpPlus) &&
		(r.Sub[0].Op == syntax.OpAnyChar || r.Sub[0].Op == syntax.OpAnyCharNotNL)
}

// hasCount reports whether an expression has a group that is a count.
func hasCount(r *syntax.Regexp) bool {
	return r.Op == syntax.OpCapture && isCount(r.Name) || slices.ContainsFunc(r.Sub, hasCount)
}

// reading has the values in a line.
type reading struct {
	// epoch is the number of the epoch that the line is about, from 1; 0 if the line names none.
	epoch, step int
	// batch and batches are the position within the epoch. inside reports whether the line has one.
	batch, batches int
	inside         bool
	// counted reports whether the line has a number of epochs or steps.
	counted        bool
	loss, accuracy *float64
	// strange is a text that is not a number, or not a valid accuracy.
	strange string
}

// read matches a line; it returns nil if the line does not match. If the line has no loss, numpy scalars and tensors in
// it are read as numbers.
func (p *linePattern) read(re *regexp.Regexp, line string) *reading {
	if at := anEpoch.FindStringIndex(line); at != nil && resumes.MatchString(line[:at[0]]) {
		return nil
	}
	if clear := masked(line); p.plain && clear != line && re.MatchString(clear) {
		line = clear
	}
	r := p.match(re, line)
	if r != nil && r.loss != nil || !strings.Contains(line, "(") {
		return r
	}
	if plain := unwrapped(line); plain != line {
		if other := p.match(re, plain); other != nil && (r == nil || other.loss != nil) {
			return other
		}
	}
	return r
}

// Patterns of lines that name the epoch of a checkpoint, which was trained earlier: words about resuming stand before
// the first epoch in the line.
var (
	anEpoch = regexp.MustCompile(`(?i)\bepoch`)
	resumes = regexp.MustCompile(`(?i)\b(?:load(?:ed|ing)|resum(?:ed?|ing)|restor(?:ed?|ing))\b`)
)

// Patterns of names in lines: of a validation, of its loss, of its accuracy, and of the accuracy of the training. The
// group is the last word of a name.
var (
	ofValidation = regexp.MustCompile(`(?i)val|test|dev`)
	validLoss    = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:val|test|eval|dev)[a-z]*[ _/:.-]+(?:(?:set|avg|average` +
		`|mean|total)[ _:]+)*(loss)`)
	validAccuracy = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:val|test|eval|dev)[a-z]*[ _/:.-]+acc`)
	trainAccuracy = regexp.MustCompile(`(?i)(?:^|[^a-z])train[a-z]*[ _/:.-]+(acc)`)
)

// masked returns a line of the same length without the name of the loss of a validation, and without the name of the
// training's accuracy if the line also has the accuracy of a validation.
func masked(line string) string {
	out := []byte(line)
	mask := func(name *regexp.Regexp) {
		for _, at := range name.FindAllStringSubmatchIndex(line, -1) {
			copy(out[at[2]:at[3]], "xxxx")
		}
	}
	mask(validLoss)
	if validAccuracy.MatchString(line) {
		mask(trainAccuracy)
	}
	return string(out)
}

// match matches a line without replacing tensors; it returns nil if the line does not match.
func (p *linePattern) match(re *regexp.Regexp, line string) *reading {
	var plain string
	var m []int
	// Patterns may allow only digits where the loss is "nan".
	for _, plain = range []string{zeroes(line), unsigned(line), line} {
		if m = re.FindStringSubmatchIndex(plain); m != nil {
			break
		}
	}
	decimal, grouped := withPoints(plain, false), withPoints(plain, true)
	texts := map[string]string{}
	take := func(pointed string, match []int, takes func(group string) bool) {
		for i, name := range re.SubexpNames() {
			if name != "" && match[2*i] >= 0 && takes(name) {
				texts[name] = pointed[match[2*i]:match[2*i+1]]
			}
		}
	}
	isValue := func(group string) bool {
		return slices.Contains([]string{groupLoss, groupAccuracy, groupPercent}, meaning(group))
	}
	switch {
	case decimal == plain && grouped == plain:
	case m == nil: // the pattern matches only numbers without commas
		pointed := withPoints(grouped, false)
		if m = re.FindStringSubmatchIndex(pointed); m != nil {
			take(pointed, m, func(string) bool { return true })
		}
	default:
		if other := re.FindStringSubmatchIndex(decimal); other != nil && equalStarts(m, other) {
			take(decimal, other, isValue)
		}
		if other := re.FindStringSubmatchIndex(grouped); other != nil && equalStarts(m, other) {
			take(grouped, other, func(group string) bool { return !isValue(group) })
		}
	}
	if m == nil {
		return nil
	}
	r := &reading{}
	var epoch [2]int
	for i, name := range re.SubexpNames() {
		if name == "" || m[2*i] < 0 {
			continue
		}
		text, ok := texts[name]
		if raw := line[m[2*i]:m[2*i+1]]; !ok || notNumber.MatchString(raw) {
			text = raw
		}
		name = meaning(name)
		if name == groupEpoch || name == groupEpoch0 {
			epoch = [2]int{m[2*i], m[2*i+1]}
		}
		r.set(name, text, line[m[2*i+1]:])
	}
	if !p.batches {
		r.find(line, epoch, p.counts)
	}
	return r
}

// equalStarts reports whether all groups of two matches start at the same places.
func equalStarts(a, b []int) bool {
	for i := 0; i < len(a); i += 2 {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// nearlyWhole is the fraction of an epoch that is rounded up to the whole epoch. Programs print two digits, so the last
// line of an epoch may have 0.99.
const nearlyWhole = 0.985

// set sets the value of a group; rest is the text after it.
func (r *reading) set(group, text, rest string) {
	v, ok := number(text)
	infinite := ok && v > 1e300
	if !ok || infinite && group != groupLoss {
		if !infinite && text != "" {
			r.strange = group + " " + text
		}
		return
	}
	n := count(v)
	r.counted = r.counted || isCount(group)
	switch group {
	case groupEpoch:
		if part := v - float64(n); part >= nearlyWhole {
			n++
		}
		r.epoch = n
	case groupEpoch0:
		r.epoch = n + 1
	case groupStep:
		r.step = n
	case groupBatch:
		if r.batch, r.inside = n, true; strings.HasPrefix(rest, "%") {
			r.batches = 100
		}
	case groupBatches:
		r.batches = n
	case groupLoss:
		r.loss = &v
	case groupAccuracy, groupPercent:
		if group == groupPercent || strings.HasPrefix(strings.TrimLeft(rest, " 0123456789."), "%") {
			v /= 100
		}
		if !(v >= 0 && v <= 1) {
			r.strange = group + " " + text
			return
		}
		r.accuracy = &v
	}
}

// places matches a position within an epoch, for patterns without a group for it. Programs print it as a percentage and
// batches of a progress bar, in brackets or after the epoch's number, after a word, or at the start of a line without a
// count. The number of batches may be missing behind a word.
var places = []struct {
	behind, uncounted bool
	by                *regexp.Regexp
}{
	{behind: true, by: regexp.MustCompile(`\d+%\|[^|]*\|\s*(\d+)/(\d+)`)},
	{behind: true, by: regexp.MustCompile(own + `[:\s]*(\d+)(%)`)},
	{behind: true, by: regexp.MustCompile(`\[\s*(\d+)\s*/\s*(\d+)`)},
	{behind: true, by: regexp.MustCompile(own + `[\s,:;|(-]+(\d+)\s*/\s*(\d+)`)},
	{by: regexp.MustCompile(`(?i)\b(?:mini-?)?(?:batch(?:es)?|steps?|iters?|iterations?)` + id +
		`\b[^\w/]{0,4}(\d+)\s*(?:/|of)\s*(\d+)`)},
	{behind: true, by: regexp.MustCompile(`(?i)\b(?:mini-?)?(?:batch|step|iter|iteration)` + id +
		`\b[^\w/]{0,4}(\d+)()`)},
	{uncounted: true, by: regexp.MustCompile(`^\s*(\d+)/(\d+)\b`)},
}

// id matches the rest of a word such as batch_idx.
const id = `(?:[_ ](?:idx?|index|no|num|number))?`

// over matches words in lines about the end of an epoch, which may have the number of its last step.
var over = regexp.MustCompile(`(?i)\b(?:finished|done|completed?|ended|end of)\b`)

// own matches the text that belongs to the epoch's number: the number of epochs, and a bracket.
const own = `^(?:\s*/\s*\d+)?[\])]?`

// correct matches words before fractions that are not positions.
var correct = regexp.MustCompile(`(?i)(?:acc\w*|correct)\W*$`)

// find sets the position within an epoch. epoch is where the line has the epoch's number.
func (r *reading) find(line string, epoch [2]int, counts bool) {
	for _, place := range places {
		from := 0
		if place.behind {
			from = epoch[1]
		}
		if place.uncounted && counts {
			continue
		}
		m := place.by.FindStringSubmatchIndex(line[from:])
		if m == nil || correct.MatchString(line[:from+m[2]]) ||
			epoch[1] > 0 && from+m[2] <= epoch[0] && epoch[0] < from+m[5] {
			continue
		}
		batch, _ := number(line[from+m[2] : from+m[3]])
		batches, ok := number(line[from+m[4] : from+m[5]])
		switch {
		case m[4] == m[5]: // the number of batches is not known
			if epoch[1] == 0 || over.MatchString(line) {
				continue
			}
		case !ok: // a percentage
			batches = 100
		}
		r.batch, r.batches, r.inside = count(batch), count(batches), true
		return
	}
}

// isLast reports whether the line is about the last batch of the epoch.
func (r *reading) isLast() bool { return r.batches > 0 && r.batch >= r.batches }

// equal reports whether two lines without a loss have the same values.
func (r *reading) equal(o *reading) bool {
	return r.epoch == o.epoch && r.step == o.step && r.batch == o.batch && r.batches == o.batches
}
