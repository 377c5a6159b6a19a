package progress

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/jobs/contract"
)

var (
	// notNumber matches the words for numbers that are not finite. Python, C, the C library of Windows and Julia use
	// different words.
	notNumber = regexp.MustCompile(`(?i:\b(?:1\.#(?:inf|ind|qnan|snan)\w*|nan(?:16|32|64)?|inf(?:16|32|64)?|infinity)\b)`)
	signed    = regexp.MustCompile(`[-+]` + notNumber.String())
	// plainNumber matches a number without commas.
	plainNumber = regexp.MustCompile(`[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?`)
	// groupedNumber matches a number with commas.
	groupedNumber = regexp.MustCompile(`[1-9]\d{0,2}(?:\.\d{3})+,\d+|\d+(?:,\d+)+(?:\.\d+)?`)
	// thousands matches numbers whose commas separate thousands.
	thousands = regexp.MustCompile(`^\d{1,3}(?:,\d{3})+(?:\.\d+)?$`)
)

// wrappedNumber matches a number as Python prints a numpy scalar or a tensor: np.float32(0.5), tensor(0.5,
// device='cuda:0').
var wrappedNumber = regexp.MustCompile(`\b(?:(?:np|numpy|jnp|torch|tf)\.)?(?:[Tt]ensor|[Aa]rray|float\d+|int\d+` +
	`|longdouble)\(([^(),]*)(?:,(?:[^()]|\([^()]*\))*)?\)`)

// unwrapped returns a line in which wrapped numbers are replaced by plain ones.
func unwrapped(line string) string { return wrappedNumber.ReplaceAllString(line, "$1") }

// zeroes replaces each word for a number by zeros of the same length, so that patterns of digits match.
func zeroes(line string) string {
	return notNumber.ReplaceAllStringFunc(line, func(word string) string { return strings.Repeat("0", len(word)) })
}

// withPoints returns a line of the same length whose numbers have no commas. A single comma is a decimal comma, as in
// "loss: 0,51", except in counts and before a point.
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
		// A form such as 1.234,5.
		case strings.IndexByte(number, '.') >= 0 && strings.IndexByte(number, '.') < strings.IndexByte(number, ','):
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

// unsigned works as zeroes, and also replaces a sign before such words.
func unsigned(line string) string {
	return signed.ReplaceAllStringFunc(line, func(word string) string { return strings.Repeat("0", len(word)) })
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// number parses the first number in a text such as "0.5", "tensor(0.5" or "0.5,". A number that is not finite becomes
// +Inf.
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

// count converts a number to a count, within the allowed range.
func count(v float64) int { return int(max(0, min(v, contract.MostCount))) }
