package progress

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/jobs/contract"
)

var (
	// notNumber matches the words for numbers that are not finite, as Python, C, the C library of Windows and Julia write them.
	notNumber = regexp.MustCompile(`(?i:\b(?:1\.#(?:inf|ind|qnan|snan)\w*|nan(?:16|32|64)?|inf(?:16|32|64)?|infinity)\b)`)
	signed    = regexp.MustCompile(`[-+]` + notNumber.String())
	// plainNumber matches a number.
	plainNumber = regexp.MustCompile(`[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?`)
	// groupedNumber matches a number with commas.
	groupedNumber = regexp.MustCompile(`[1-9]\d{0,2}(?:\.\d{3})+,\d+|\d+(?:,\d+)+(?:\.\d+)?`)
	// thousands matches numbers whose commas stand between thousands.
	thousands = regexp.MustCompile(`^\d{1,3}(?:,\d{3})+(?:\.\d+)?$`)
)

// wrappedNumber matches a number as Python prints a scalar of numpy or a tensor: np.float32(0.5), tensor(0.5, device='cuda:0').
var wrappedNumber = regexp.MustCompile(`\b(?:(?:np|numpy|jnp|torch)\.)?(?:tensor|[Aa]rray|float\d+|int\d+|longdouble)\(([^(),]*)(?:,(?:[^()]|\([^()]*\))*)?\)`)

// unwrapped returns a line in which such numbers stand alone.
func unwrapped(line string) string { return wrappedNumber.ReplaceAllString(line, "$1") }

// zeroes replaces words for numbers by as many zeros, which patterns of numbers match.
func zeroes(line string) string {
	return notNumber.ReplaceAllStringFunc(line, func(word string) string { return strings.Repeat("0", len(word)) })
}

// withPoints returns a line of the same length whose numbers have no commas. A single comma is a decimal one, as in
// "loss: 0,51", except in counts, and before a point.
func withPoints(line string, counts bool) string {
	out := []byte(line)
	for _, at := range groupedNumber.FindAllStringIndex(line, -1) {
		begin, end := at[0], at[1]
		number := line[begin:end]
		free := (begin == 0 || !strings.ContainsRune(".,", rune(line[begin-1]))) &&
			(end == len(line) || !strings.ContainsRune(".,", rune(line[end])) || end+1 == len(line) || !isDigit(line[end+1]))
		single := strings.Count(number, ",") == 1 && !strings.Contains(number, ".")
		switch {
		case !free:
		case strings.IndexByte(number, '.') >= 0 && strings.IndexByte(number, '.') < strings.IndexByte(number, ','): // 1.234,5
			plain := strings.Replace(strings.ReplaceAll(number, ".", ""), ",", ".", 1)
			copy(out[begin:end], strings.Repeat("0", len(number)-len(plain))+plain)
		case single && !counts:
			out[begin+strings.IndexByte(number, ',')] = '.'
		case thousands.MatchString(number):
			plain := strings.ReplaceAll(number, ",", "")
			copy(out[begin:end], strings.Repeat("0", len(number)-len(plain))+plain)
		}
	}
	return string(out)
}

// unsigned is as zeroes, with a sign before the words replaced as well.
func unsigned(line string) string {
	return signed.ReplaceAllStringFunc(line, func(word string) string { return strings.Repeat("0", len(word)) })
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// number reads the first number of a text: "0.5", "tensor(0.5", "0.5,". One that is not finite is +Inf.
func number(text string) (v float64, ok bool) {
	if m := notNumber.FindStringIndex(text); m != nil && !strings.ContainsAny(text[:m[0]], "0123456789") {
		return math.Inf(1), true
	}
	v, err := strconv.ParseFloat(plainNumber.FindString(text), 64)
	if err != nil && !math.IsInf(v, 0) {
		return 0, false
	}
	return lossOf(v), true
}

// count is a number as a count of things.
func count(v float64) int { return int(max(0, min(v, contract.MostCount))) }
