package schema

import (
	"fmt"
	"strconv"
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
func OneOf(names []string) string { return Listed(Each(names, strconv.Quote), "or") }

// AllOf lists quoted names with "and": `"a", "b" and "c"`.
func AllOf(names []string) string { return Listed(Each(names, strconv.Quote), "and") }

// Listed joins words as in a sentence. If last is "or": "a", "a or b", "a, b or c".
func Listed(words []string, last string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
	return strings.Join(words, "")
}

// FirstSentence returns the first sentence of documentation. If it introduces a list, the result ends before the
// list.
func FirstSentence(doc string) string {
	line, _, _ := strings.Cut(doc, "\n")
	sentence, _, _ := strings.Cut(strings.TrimRight(line, ":."), ". ")
	return sentence + "."
}
