package progress

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// The names of groups in a pattern of lines: finished epochs, finished epochs counted from 0, finished steps, a batch of
// the epoch and how many it has, loss, and accuracy.
const (
	groupEpoch    = "epoch"
	groupEpoch0   = "epoch0"
	groupStep     = "step"
	groupBatch    = "batch"
	groupBatches  = "batches"
	groupLoss     = "loss"
	groupAccuracy = "accuracy"
)

// lineGroups are the names that groups in a pattern of lines may have.
var lineGroups = []string{groupEpoch, groupEpoch0, groupStep, groupBatch, groupBatches, groupLoss, groupAccuracy}

// meaning is the meaning of a group: its name may end in 2, where a pattern has two places for it.
func meaning(group string) string { return strings.TrimSuffix(group, "2") }

func isCount(group string) bool {
	group = meaning(group)
	return group == groupEpoch || group == groupEpoch0 || group == groupStep
}

// linePattern is a pattern of lines.
type linePattern struct {
	full *regexp.Regexp
	// bare is the pattern without its loss, for lines that have none; nil where nothing else says that a line is meant.
	bare *regexp.Regexp
	// counts and batches report which groups there are.
	counts, batches bool
}

// newPattern compiles a pattern of lines.
func newPattern(text string) (*linePattern, error) {
	full, err := regexp.Compile(text)
	if err != nil {
		return nil, err
	}
	p := &linePattern{full: full, bare: withoutLoss(text)}
	for _, name := range full.SubexpNames() {
		p.counts = p.counts || isCount(name)
		p.batches = p.batches || meaning(name) == groupBatch
	}
	return p, nil
}

// withoutLoss is a pattern without the part around its loss, from one ".*" to the next. It is nil if that part also has a
// count, if no other part has a count, or if the loss is optional already.
func withoutLoss(text string) *regexp.Regexp {
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil || tree.Op != syntax.OpConcat {
		return nil
	}
	var parts [][]*syntax.Regexp // between wildcards, which are parts as well
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

// reading has the values of a line.
type reading struct {
	// epoch is the number of the epoch that the line is about, from 1; 0 for none.
	epoch, step int
	// batch and batches are the place in the epoch; inside reports whether the line has one.
	batch, batches int
	inside         bool
	loss, accuracy *float64
	// strange is a value that is no number, or no accuracy.
	strange string
}

// read matches a line; nil where it does not match. Where the line as it is has no loss, scalars of numpy and tensors in it
// are taken for numbers.
func (p *linePattern) read(re *regexp.Regexp, line string) *reading {
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

// match matches a line as it is; nil where it does not match.
func (p *linePattern) match(re *regexp.Regexp, line string) *reading {
	var plain string
	var m []int
	for _, plain = range []string{zeroes(line), unsigned(line), line} { // the pattern may have digits alone where a loss is "nan"
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
	isValue := func(group string) bool { return meaning(group) == groupLoss || meaning(group) == groupAccuracy }
	switch {
	case decimal == plain && grouped == plain:
	case m == nil: // the pattern matches numbers without commas alone
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

// equalStarts reports whether two matches have all groups at the same places.
func equalStarts(a, b []int) bool {
	for i := 0; i < len(a); i += 2 {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// nearlyWhole is the part of an epoch from which a fraction of epochs is taken for the next whole number: programs round
// it to two digits, so that the last line of an epoch may have 0.99.
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
	case groupAccuracy:
		if strings.HasPrefix(strings.TrimLeft(rest, " 0123456789."), "%") {
			v /= 100
		}
		if !(v >= 0 && v <= 1) {
			r.strange = group + " " + text
			return
		}
		r.accuracy = &v
	}
}

// places are how programs write a place within an epoch, where the pattern has no group for it: a bar's percentage and
// its batches, batches in brackets or behind the number of the epoch, or with a word before them, or at the beginning of
// a line without a count.
var places = []struct {
	behind, uncounted bool
	by                *regexp.Regexp
}{
	{behind: true, by: regexp.MustCompile(`\d+%\|[^|]*\|\s*(\d+)/(\d+)`)},
	{behind: true, by: regexp.MustCompile(own + `[:\s]*(\d+)(%)`)},
	{behind: true, by: regexp.MustCompile(`\[\s*(\d+)\s*/\s*(\d+)`)},
	{behind: true, by: regexp.MustCompile(own + `[\s,:;|(-]+(\d+)\s*/\s*(\d+)`)},
	{by: regexp.MustCompile(`(?i)\b(?:mini-?)?(?:batch(?:es)?|steps?|iters?|iterations?)\b[^\w/]{0,4}(\d+)\s*(?:/|of)\s*(\d+)`)},
	{uncounted: true, by: regexp.MustCompile(`^\s*(\d+)/(\d+)\b`)},
}

// own matches what belongs to the number of the epoch: how many there are, and a bracket.
const own = `^(?:\s*/\s*\d+)?[\])]?`

// correct matches the words before fractions that are no places.
var correct = regexp.MustCompile(`(?i)(?:acc\w*|correct)\W*$`)

// find looks for the place within an epoch in a line whose epoch is at that place.
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
		if !ok { // percent
			batches = 100
		}
		r.batch, r.batches, r.inside = count(batch), count(batches), true
		return
	}
}

// isLast reports whether the epoch is over with the line.
func (r *reading) isLast() bool { return r.batches > 0 && r.batch >= r.batches }

// equal reports whether two lines without a loss say the same.
func (r *reading) equal(o *reading) bool {
	return r.epoch == o.epoch && r.step == o.step && r.batch == o.batch && r.batches == o.batches
}
