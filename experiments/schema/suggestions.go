package schema

import (
	"strings"
)

// longestName is the length in bytes of the longest name that is compared, to bound the work.
const longestName = 100

// Nearest returns the candidate that was probably misspelled as `given`, or "". If several are equally near, it
// returns the first. In a short word, two mistakes are accepted only if the first letter is right. If no candidate is
// near, it returns a candidate with these initials, or with this first word.
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
		if strings.EqualFold(given, initials(candidates[i])) || strings.HasPrefix(candidates[i], given+"_") {
			best = candidates[i]
		}
	}
	return best
}

// initials returns the first letters of the words of a name, such as "rr" for "round_robin". It returns "" for a
// single word.
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

// distance counts the mistakes between two words: extra, missing, wrong or swapped letters. (It is the optimal string
// alignment distance: Damerau's distance in which no part is edited twice.)
func distance(a, b string) int {
	s, t := []rune(a), []rune(b)
	var before []int // the row two rows above
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
