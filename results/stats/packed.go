package stats

import (
	"encoding/binary"
	"math"
	"slices"
)

// packFrom is the number of values from which on a Sample packs them. Tests change it.
var packFrom = 1 << 20

const (
	blockSize   = 1 << 16 // values that are packed together
	segmentSize = 256     // of them, that are unpacked together
)

// block is sorted values in little memory: the differences of whole numbers that have their order. A difference of 0 is
// followed by the number of further ones in its segment.
type block struct {
	micros bool     // the numbers are values in millionths; otherwise they have the bits of values
	firsts []uint64 // number of each segment's first value
	at     []int32  // where the differences of each segment begin in text
	text   []byte
	n      int
}

// number returns the whole number of a value.
func number(v float64, micros bool) uint64 {
	if micros {
		return uint64(math.Round(v * 1e6))
	}
	if bits := math.Float64bits(v); bits>>63 == 0 {
		return bits | 1<<63
	} else {
		return ^bits
	}
}

// value returns the value of a number.
func (b *block) value(n uint64) float64 {
	switch {
	case b.micros:
		return float64(n) / 1e6
	case n>>63 == 1:
		return math.Float64frombits(n &^ (1 << 63))
	}
	return math.Float64frombits(^n)
}

// pack makes a block of values.
func pack(values []float64) block {
	b := block{micros: true, n: len(values)}
	for _, v := range values {
		b.micros = b.micros && v >= 0 && v < 1e12 && b.value(number(v, true)) == v && !math.Signbit(v)
	}
	numbers := make([]uint64, len(values))
	for i, v := range values {
		numbers[i] = number(v, b.micros)
	}
	numbers = radixSort(numbers)
	text := make([]byte, 0, 4*len(numbers))
	for i := 0; i < len(numbers); i++ {
		if i%segmentSize == 0 {
			b.firsts, b.at = append(b.firsts, numbers[i]), append(b.at, int32(len(text)))
			continue
		}
		text = binary.AppendUvarint(text, numbers[i]-numbers[i-1])
		if numbers[i] == numbers[i-1] {
			same := i
			for i+1 < len(numbers) && (i+1)%segmentSize != 0 && numbers[i+1] == numbers[same] {
				i++
			}
			text = binary.AppendUvarint(text, uint64(i-same))
		}
	}
	b.text = slices.Clone(text)
	return b
}

// radixSort returns numbers in ascending order, and uses their storage.
func radixSort(numbers []uint64) []uint64 {
	const digit = 11
	least := slices.Min(numbers)
	most := slices.Max(numbers) - least
	other := make([]uint64, len(numbers))
	for shift := 0; most>>shift > 0; shift += digit {
		var at [1 << digit]int
		for _, n := range numbers {
			at[(n-least)>>shift&(1<<digit-1)]++
		}
		sum := 0
		for i, n := range at {
			at[i], sum = sum, sum+n
		}
		for _, n := range numbers {
			i := (n - least) >> shift & (1<<digit - 1)
			other[at[i]] = n
			at[i]++
		}
		numbers, other = other, numbers
	}
	return numbers
}

// last returns the number of the last value of a segment, or a greater one.
func (b *block) last(segment int) uint64 {
	if segment+1 < len(b.firsts) {
		return b.firsts[segment+1]
	}
	return math.MaxUint64
}

// interval has the values of some blocks from low to high: it counts the ones at its ends, and the ones below it.
type interval struct {
	low, high          float64
	below, lows, highs int
	between            []float64
}

// add adds a number of equal values.
func (in *interval) add(v float64, times int) {
	switch {
	case v < in.low:
		in.below += times
	case v == in.low:
		in.lows += times
	case v == in.high:
		in.highs += times
	case v < in.high:
		for range times {
			in.between = append(in.between, v)
		}
	}
}

// addTo adds the values to an interval.
func (b *block) addTo(in *interval) {
	for s, first := range b.firsts {
		size := min(segmentSize, b.n-s*segmentSize)
		switch end := b.last(s); {
		case end != math.MaxUint64 && b.value(end) < in.low:
			in.below += size
			continue
		case b.value(first) > in.high:
			return
		}
		in.add(b.value(first), 1)
		rest, n := b.text[b.at[s]:], first
		next := func() uint64 {
			v, width := binary.Uvarint(rest)
			rest = rest[width:]
			return v
		}
		for i := 1; i < size; {
			times, more := 1, next()
			if n += more; more == 0 {
				times += int(next())
			}
			in.add(b.value(n), times)
			i += times
		}
	}
}

// quantileOf is QuantileOf for packed values. Of the sorted first values of all segments, one has at most k values
// before it, and another one at least k+2 up to it: the k-th value and the next one are between them.
func quantileOf(blocks []block, q float64) float64 {
	n := 0
	var firsts []float64
	for i := range blocks {
		n += blocks[i].n
		for _, first := range blocks[i].firsts {
			firsts = append(firsts, blocks[i].value(first))
		}
	}
	slices.Sort(firsts)
	k := int(math.Floor(q * float64(n-1)))
	in := interval{low: firsts[k/segmentSize], high: math.Inf(1)}
	if i := (k + 2 + len(blocks)*(segmentSize-1)) / segmentSize; i < len(firsts) {
		in.high = firsts[i]
	}
	for i := range blocks {
		blocks[i].addTo(&in)
	}
	part := q*float64(n-1) - float64(k)
	// Two of the equal values at each end are enough.
	k -= in.below
	after := max(0, in.lows-k)
	near := append(in.between, slices.Repeat([]float64{in.low}, min(2, after))...)
	near = append(near, slices.Repeat([]float64{in.high}, min(2, in.highs))...)
	return interpolated(near, min(k-(in.lows-after), len(near)-1), part)
}
