package schema

import (
	"strings"
)

// longestName bounds the work of comparing names, in bytes.
const longestName = 100

// Nearest returns the candidate that given is probably a slip of; empty when none is
// near. The earlier of two equally near ones wins. Of a short word, two slips are
// believed only where the first letter is right. Where nothing is near, a name with
// these initials is meant. A text that is longer than any name matches none.
func Nearest(given string, candidates []string) string {
	if given == "" || len(given) > longestName {
		return ""
	}
	best, bestDistance := "", 1+min(3, (len(given)+2)/3)
	for _, c := range candidates {
		if c == given || c == "" {
			continue
		}
		d := distance(strings.ToLower(given), strings.ToLower(c))
		if d >= 2 && len(given) <= 5 && given[0]|0x20 != c[0]|0x20 {
			continue
		}
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	for i := 0; best == "" && i < len(candidates); i++ {
		if strings.EqualFold(given, initials(candidates[i])) {
			best = candidates[i]
		}
	}
	return best
}

// initials are the first letters of the words of a name: "rr" of "round_robin". A name of one word has no initials.
func initials(name string) string {
	var letters []byte
	for word := range strings.SplitSeq(name, "_") {
		if word != "" {
			letters = append(letters, word[0])
		}
	}
	if len(letters) < 2 {
		return ""
	}
	return string(letters)
}

// distance counts the slips between two words: letters too many, missing,
// wrong, or swapped with their neighbor (optimal string alignment: Damerau's
// distance in which no part is edited twice).
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	var before []int // the row above the one above
	above := make([]int, len(t)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row := make([]int, len(t)+1)
		row[0] = i
		for j := 1; j <= len(t); j++ {
			wrong := 1
			if s[i-1] == t[j-1] {
				wrong = 0
			}
			row[j] = min(above[j]+1, row[j-1]+1, above[j-1]+wrong)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above = above, row
	}
	return above[len(t)]
}
