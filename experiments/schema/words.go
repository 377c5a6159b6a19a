package schema

import (
	"fmt"
	"strings"
)

// Plural counts things: "1 thread", "2 threads".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// MostOfText is the largest number of characters that a message shows of a text from a file.
const MostOfText = 4000

// Shortened cuts a text to at most the given number of characters.
func Shortened(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// OneOf lists quoted names with "or": `"a", "b" or "c"`.
func OneOf(names []string) string { return listed(names, "or") }

// AllOf lists quoted names with "and": `"a", "b" and "c"`.
func AllOf(names []string) string { return listed(names, "and") }

func listed(names []string, last string) string {
	quoted := Each(names, func(n string) string { return fmt.Sprintf("%q", n) })
	if len(quoted) < 2 {
		return strings.Join(quoted, "")
	}
	return strings.Join(quoted[:len(quoted)-1], ", ") + " " + last + " " + quoted[len(quoted)-1]
}

// FirstSentence returns the first sentence of documentation. If it introduces a list, the result ends before the
// list.
func FirstSentence(doc string) string {
	line, _, _ := strings.Cut(doc, "\n")
	sentence, _, _ := strings.Cut(strings.TrimRight(line, ":."), ". ")
	return sentence + "."
}
