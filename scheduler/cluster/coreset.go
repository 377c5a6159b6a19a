package cluster

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Span is the core numbers from Lo to Hi-1.
type Span struct{ Lo, Hi int32 }

// CoreSet is a set of core (or GPU) numbers. Its spans are ascending, and there is a gap between any two. The zero
// value is the empty set.
type CoreSet []Span

// Count returns the number of cores in the set.
func (s CoreSet) Count() int {
	n := 0
	for _, p := range s {
		n += int(p.Hi - p.Lo)
	}
	return n
}

// Each calls f for each core, in ascending order.
func (s CoreSet) Each(f func(core int)) {
	for _, p := range s {
		for c := p.Lo; c < p.Hi; c++ {
			f(int(c))
		}
	}
}

// String returns the set as Linux writes lists of cores: "0-3,7".
func (s CoreSet) String() string {
	var b strings.Builder
	for i, p := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(p.Lo)))
		if p.Hi-p.Lo > 1 {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(int(p.Hi) - 1))
		}
	}
	return b.String()
}

// MarshalText implements encoding.TextMarshaler with the text of String.
func (s CoreSet) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; it reads the text of String.
func (s *CoreSet) UnmarshalText(text []byte) error {
	*s = nil
	if len(text) == 0 {
		return nil
	}
	for part := range strings.SplitSeq(string(text), ",") {
		lo, hi, isRange := strings.Cut(part, "-")
		a, err := strconv.ParseInt(lo, 10, 32)
		if err != nil {
			return fmt.Errorf("core set %q: %w", text, err)
		}
		b := a
		if isRange {
			if b, err = strconv.ParseInt(hi, 10, 32); err != nil {
				return fmt.Errorf("core set %q: %w", text, err)
			}
		}
		if a < 0 || b < a || b == math.MaxInt32 || (len(*s) > 0 && int32(a) <= (*s)[len(*s)-1].Hi-1) {
			return fmt.Errorf("core set %q is not ascending", text)
		}
		*s = append(*s, Span{int32(a), int32(b) + 1})
	}
	return nil
}

// Overlap reports whether two sets have a core in common.
func Overlap(a, b CoreSet) bool {
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Hi <= b[0].Lo:
			a = a[1:]
		case b[0].Hi <= a[0].Lo:
			b = b[1:]
		default:
			return true
		}
	}
	return false
}

// Union returns the cores of both sets. The sets must not have a core in common.
func (s CoreSet) Union(t CoreSet) CoreSet {
	all := append(append(make(CoreSet, 0, len(s)+len(t)), s...), t...)
	slices.SortFunc(all, func(a, b Span) int { return int(a.Lo - b.Lo) })
	joined := all[:0]
	for _, p := range all {
		if n := len(joined); n > 0 && joined[n-1].Hi == p.Lo {
			joined[n-1].Hi = p.Hi
		} else {
			joined = append(joined, p)
		}
	}
	return joined
}

// Cut divides the set into its n lowest cores and the others.
func (s CoreSet) Cut(n int) (low, rest CoreSet) {
	for i, p := range s {
		size := int(p.Hi - p.Lo)
		if n >= size {
			n -= size
			continue
		}
		if n == 0 {
			return s[:i:i], s[i:]
		}
		low = append(append(make(CoreSet, 0, i+1), s[:i]...), Span{p.Lo, p.Lo + int32(n)})
		rest = append(append(make(CoreSet, 0, len(s)-i), Span{p.Lo + int32(n), p.Hi}), s[i+1:]...)
		return low, rest
	}
	return s, nil
}
