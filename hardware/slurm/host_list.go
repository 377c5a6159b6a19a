package slurm

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// mostListed bounds the number of elements of a list. Slurm has at most 65,533 nodes.
const mostListed = 1 << 17

// ExpandHosts expands a list of hosts as Slurm writes it. For example, "n[1-3,07],login" becomes n1, n2, n3, n07 and
// login.
func ExpandHosts(list string) ([]string, error) {
	var hosts []string
	for list = strings.TrimSpace(list); list != ""; {
		end, depth := len(list), 0
		for i, c := range list {
			switch {
			case c == '[':
				depth++
			case c == ']':
				depth--
			case c == ',' && depth == 0 && end == len(list):
				end = i
			}
		}
		more, err := expandPattern(list[:end])
		if err != nil {
			return nil, err
		}
		if hosts = append(hosts, more...); len(hosts) > mostListed {
			return nil, fmt.Errorf("a list of more than %d hosts", mostListed)
		}
		list = strings.TrimPrefix(list[end:], ",")
	}
	return hosts, nil
}

// expandPattern expands the brackets of one pattern.
func expandPattern(pattern string) ([]string, error) {
	open := strings.IndexByte(pattern, '[')
	if open < 0 {
		return []string{pattern}, nil
	}
	closing := strings.IndexByte(pattern, ']')
	if closing < open {
		return nil, fmt.Errorf("not a list of hosts: %q", pattern)
	}
	rest, err := expandPattern(pattern[closing+1:])
	if err != nil {
		return nil, err
	}
	var hosts []string
	for piece := range strings.SplitSeq(pattern[open+1:closing], ",") {
		lo, hi, ok := parseRange(piece)
		if !ok {
			return nil, fmt.Errorf("not a list of hosts: %q", pattern)
		}
		if len(rest) > 0 && hi-lo >= (mostListed-len(hosts))/len(rest) {
			return nil, fmt.Errorf("a list of more than %d hosts", mostListed)
		}
		from, _, _ := strings.Cut(piece, "-")
		for n := lo; n <= hi; n++ {
			for _, r := range rest {
				hosts = append(hosts, fmt.Sprintf("%s%0*d%s", pattern[:open], len(from), n, r))
			}
		}
	}
	return hosts, nil
}

// parseRange reads a range of numbers such as "3-7", or a single number.
func parseRange(text string) (lo, hi int, ok bool) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	lo, err := strconv.Atoi(from)
	hi, err2 := strconv.Atoi(to)
	return lo, hi, err == nil && err2 == nil && lo >= 0 && hi >= lo && hi < math.MaxInt
}

// ExpandNumbers expands a list of numbers as the kernel and Slurm write it, such as "0-2,5".
func ExpandNumbers(list string) ([]int, error) {
	var numbers []int
	for piece := range strings.FieldsFuncSeq(strings.TrimSpace(list), func(c rune) bool { return c == ',' }) {
		lo, hi, ok := parseRange(piece)
		if !ok {
			return nil, fmt.Errorf("not a list of numbers: %q", list)
		}
		if hi-lo >= mostListed-len(numbers) {
			return nil, fmt.Errorf("a list of more than %d numbers", mostListed)
		}
		for n := lo; n <= hi; n++ {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}
