package resultstest

import (
	"html"
	"regexp"
	"slices"
	"strings"
)

var (
	unshown = regexp.MustCompile(`(?s)<script.*?</script>|<style.*?</style>|<title>.*?</title>`)
	pieces  = regexp.MustCompile(`<(/?)(\w+)([^>]*)>|[^<]+`)
)

// ShownWords returns the number of words that a reader of the page sees before opening folded parts.
func ShownWords(page string) int {
	var text strings.Builder
	var closed []bool // for each enclosing part that can be opened, from outside to inside: whether it is closed
	summary := false
	for _, m := range pieces.FindAllStringSubmatch(unshown.ReplaceAllString(page, ""), -1) {
		end := m[1] != ""
		switch m[2] {
		case "":
			within := slices.Index(closed, true)
			if within < 0 || summary && within == len(closed)-1 {
				text.WriteString(m[0])
			}
		case "details":
			if end {
				closed = closed[:len(closed)-1]
			} else {
				closed = append(closed, !strings.Contains(m[3], "open"))
			}
		case "summary":
			summary = !end
		case "abbr", "code":
		default:
			text.WriteString(" ")
		}
	}
	return len(strings.Fields(html.UnescapeString(text.String())))
}
