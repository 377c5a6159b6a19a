package batch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Hosts expands names of hosts with ranges in brackets: "n[1-3,07-08],login" names six.
func Hosts(text string) ([]string, error) {
	var all []string
	for text != "" {
		end, depth := len(text), 0
		for i, c := range text {
			if c == '[' {
				depth++
			} else if c == ']' {
				depth--
			} else if c == ',' && depth == 0 {
				end = i
				break
			}
		}
		one := text[:end]
		text = strings.TrimPrefix(text[end:], ",")
		open, rest, some := strings.Cut(one, "[")
		if !some {
			all = append(all, one)
			continue
		}
		list, tail, closed := strings.Cut(rest, "]")
		if !closed {
			return nil, fmt.Errorf("%q has no closing bracket", one)
		}
		tails, err := Hosts(tail)
		if err != nil {
			return nil, err
		}
		if len(tails) == 0 {
			tails = []string{""}
		}
		for span := range strings.SplitSeq(list, ",") {
			lo, hi, ranged := strings.Cut(span, "-")
			if !ranged {
				hi = lo
			}
			from, err1 := strconv.Atoi(lo)
			to, err2 := strconv.Atoi(hi)
			if err1 != nil || err2 != nil || to < from || to-from > schema.MaxNodes {
				return nil, fmt.Errorf("%q is no range of numbers such as 1-8", span)
			}
			for n := from; n <= to; n++ {
				for _, t := range tails {
					all = append(all, fmt.Sprintf("%s%0*d%s", open, len(lo), n, t))
				}
			}
		}
	}
	return all, nil
}
