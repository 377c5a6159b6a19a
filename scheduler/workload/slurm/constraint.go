package slurm

import "strings"

// Features returns the features that a job's constraint requires of its nodes. "a|b" is one entry: each node needs a or b.
// "[a|b]" is one entry too: all nodes need the same of both. ok is false for constraints with counts or in another order,
// such as "[a*2&b]" and "a&b|c".
func Features(text string) (all []string, ok bool) {
	and := strings.IndexByte(text, '&')
	if strings.ContainsAny(text, "()*,") || and >= 0 && strings.LastIndexByte(outside(text), '|') > and {
		return nil, false
	}
	for part := range strings.SplitSeq(text, "&") {
		plain := part
		if inner, is := strings.CutPrefix(part, "["); is && strings.HasSuffix(inner, "]") {
			plain = strings.TrimSuffix(inner, "]")
		}
		for one := range strings.SplitSeq(plain, "|") {
			if strings.TrimSpace(one) == "" || strings.ContainsAny(one, "[]") {
				return nil, false
			}
		}
		if !strings.Contains(plain, "|") {
			part = plain
		}
		all = append(all, part)
	}
	return all, true
}

// outside returns a text of the same length, without the characters within brackets.
func outside(text string) string {
	depth := 0
	return strings.Map(func(r rune) rune {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		default:
			if depth > 0 {
				return ' '
			}
		}
		return r
	}, text)
}
