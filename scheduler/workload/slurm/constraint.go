package slurm

import "strings"

// Features reads the constraint of a job: the features that its nodes must have. "a|b" is a feature that nodes with either
// have. ok is false for constraints with counts or in another order, as "[a*2&b]" and "a&b|c".
func Features(text string) (all []string, ok bool) {
	if inner, is := strings.CutPrefix(text, "["); is && strings.HasSuffix(inner, "]") { // the same for all nodes
		text = strings.TrimSuffix(inner, "]")
	}
	and := strings.IndexByte(text, '&')
	if strings.ContainsAny(text, "[]()*,") || and >= 0 && strings.LastIndexByte(text, '|') > and { // evaluated from the left
		return nil, false
	}
	for part := range strings.SplitSeq(text, "&") {
		for one := range strings.SplitSeq(part, "|") {
			if strings.TrimSpace(one) == "" {
				return nil, false
			}
		}
		all = append(all, part)
	}
	return all, true
}
