package progress

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/jobs/contract"
)

// The names of groups in a pattern of lines: finished epochs, finished epochs counted from 0, finished steps, loss, and
// accuracy.
const (
	groupEpoch    = "epoch"
	groupEpoch0   = "epoch0"
	groupStep     = "step"
	groupLoss     = "loss"
	groupAccuracy = "accuracy"
)

// lineGroups are the names that groups in a pattern of lines may have.
var lineGroups = []string{groupEpoch, groupEpoch0, groupStep, groupLoss, groupAccuracy}

// mostLine bounds the length of a line that is matched, in bytes.
const mostLine = 4 << 10

// notNumber matches the words for numbers that are not finite.
var notNumber = regexp.MustCompile(`(?i)\b(?:nan|inf|infinity)\b`)

// progressLines finds progress in the lines that a program prints, by a pattern.
type progressLines struct {
	pattern *regexp.Regexp
	epochs  bool // lines without a count are epochs, and not steps
	counted int
	line    []byte
}

// add takes the next piece of output, and calls each for every line that matches.
func (l *progressLines) add(piece []byte, each func(contract.Progress)) {
	for {
		end := bytes.IndexAny(piece, "\r\n")
		part := piece
		if end >= 0 {
			part = piece[:end]
		}
		l.line = append(l.line, part[:min(len(part), mostLine-len(l.line))]...)
		if end < 0 {
			return
		}
		if p, ok := l.progress(l.line); ok {
			each(p)
		}
		l.line, piece = l.line[:0], piece[end+1:]
	}
}

// progress reads a line; false where it does not match, or nothing has finished yet.
func (l *progressLines) progress(line []byte) (p contract.Progress, ok bool) {
	m := l.pattern.FindSubmatch(line)
	digits := notNumber.ReplaceAllFunc(line, func(word []byte) []byte { return bytes.Repeat([]byte{'0'}, len(word)) })
	if m == nil && !bytes.Equal(digits, line) { // the pattern may have digits alone where a loss is "nan"
		for at := range slices.Chunk(l.pattern.FindSubmatchIndex(digits), 2) {
			m = append(m, line[max(at[0], 0):max(at[1], 0)])
		}
	}
	if m == nil {
		return p, false
	}
	counts := false
	for i, name := range l.pattern.SubexpNames() {
		v, err := strconv.ParseFloat(string(m[i]), 64)
		if name == groupLoss && err == nil {
			v = lossOf(v)
			p.Loss = &v
			continue
		}
		if name == "" || err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		count := int(max(0, min(v, contract.MostCount)))
		switch name {
		case groupEpoch:
			p.Epoch, counts = count, true
		case groupEpoch0:
			p.Epoch, counts = count+1, true
		case groupStep:
			p.Step, counts = count, true
		case groupAccuracy:
			if v >= 0 && v <= 1 {
				p.Accuracy = &v
			}
		}
	}
	if !counts && !slices.ContainsFunc(l.pattern.SubexpNames(), isCount) {
		if l.counted++; l.epochs {
			p.Epoch = l.counted
		} else {
			p.Step = l.counted
		}
	}
	return p, p.Epoch > 0 || p.Step > 0
}

func isCount(group string) bool {
	return group == groupEpoch || group == groupEpoch0 || group == groupStep
}

// lossOf returns a loss as reports have it: one that is not a finite number is +Inf. The training has diverged.
func lossOf(v float64) float64 {
	if !math.IsNaN(v) && !math.IsInf(v, 0) {
		return v
	}
	return math.Inf(1)
}
