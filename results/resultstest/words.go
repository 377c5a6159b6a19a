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

// ShownWords counts the words of a page that a reader sees before opening anything.
func ShownWords(page string) int {
	var text strings.Builder
	var closed []bool // of the parts that can be opened, from outside to inside
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
