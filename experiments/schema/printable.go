package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable reports whether a text can stand in a comment as it is: it has no control characters, and is UTF-8.
func Printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
