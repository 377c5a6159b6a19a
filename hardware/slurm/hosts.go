package slurm

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler/workload/logs"
)

// Hosts expands a list of hosts as Slurm writes it: "n[1-3,07],login" is n1, n2, n3, n07 and login.
func Hosts(list string) ([]string, error) {
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
		more, err := expand(list[:end])
		if err != nil {
			return nil, err
		}
		hosts = append(hosts, more...)
		list = strings.TrimPrefix(list[end:], ",")
	}
	return hosts, nil
}

// expand expands one pattern, from its first bracket on.
func expand(pattern string) ([]string, error) {
	open := strings.IndexByte(pattern, '[')
	if open < 0 {
		return []string{pattern}, nil
	}
	closing := strings.IndexByte(pattern, ']')
	if closing < open {
		return nil, fmt.Errorf("not a list of hosts: %q", pattern)
	}
	rest, err := expand(pattern[closing+1:])
	if err != nil {
		return nil, err
	}
	var hosts []string
	for piece := range strings.SplitSeq(pattern[open+1:closing], ",") {
		lo, hi, ok := span(piece)
		if !ok {
			return nil, fmt.Errorf("not a list of hosts: %q", pattern)
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

// span reads a range of numbers, "3-7", or one number.
func span(text string) (lo, hi int, ok bool) {
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	lo, err := strconv.Atoi(from)
	hi, err2 := strconv.Atoi(to)
	return lo, hi, err == nil && err2 == nil && hi >= lo && hi-lo <= 1<<20
}

// Numbers expands a list of numbers as the kernel and Slurm write it: "0-2,5".
func Numbers(list string) ([]int, error) {
	var numbers []int
	for piece := range strings.FieldsFuncSeq(strings.TrimSpace(list), func(c rune) bool { return c == ',' }) {
		lo, hi, ok := span(piece)
		if !ok {
			return nil, fmt.Errorf("not a list of numbers: %q", list)
		}
		for n := lo; n <= hi; n++ {
			numbers = append(numbers, n)
		}
	}
	return numbers, nil
}

// Unlimited is the time left of a job without a limit.
const Unlimited = time.Duration(1<<63 - 1)

// ParseTime reads a duration as Slurm writes it: "59", "4:57", "1:02:03", "1-02:03:04", "UNLIMITED". ok is false for
// others.
func ParseTime(text string) (d time.Duration, ok bool) {
	text = strings.TrimSpace(text)
	switch strings.ToUpper(text) {
	case "UNLIMITED", "NOT_SET", "INFINITE":
		return Unlimited, true
	}
	d, err := logs.ParseSpan(text, time.Second)
	return d, err == nil
}

// Limit writes a duration as Slurm reads time limits, in whole minutes, rounded up.
func Limit(d time.Duration) string {
	minutes := max(1, int((d+time.Minute-1)/time.Minute))
	return fmt.Sprintf("%d-%02d:%02d:00", minutes/1440, minutes/60%24, minutes%60)
}
