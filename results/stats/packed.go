package stats

import (
	"encoding/binary"
	"math"
	"slices"
)

// packFrom is the number of values from which a Sample stores its values packed. It is a variable so that tests can
// change it.
var packFrom = 1 << 20

const (
	blockSize   = 1 << 16 // number of values in a block
	segmentSize = 256     // number of values in a segment; quantiles unpack whole segments
)

// block holds sorted values in little memory. Each value becomes a whole number such that numbers have the order of the
// values. The block stores the differences of successive numbers as varints. After a difference of 0 follows the count
// of further equal numbers in the segment.
type block struct {
	micros bool     // the number of a value is the value in millionths; otherwise it is made of the value's bits
	firsts []uint64 // number of the first value of each segment
	at     []int32  // offset in text at which the differences of each segment begin
	text   []byte
	n      int
}

// number returns the whole number of a value. See block.
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

// value returns the value that has the whole number n.
func (b *block) value(n uint64) float64 {
	switch {
	case b.micros:
		return float64(n) / 1e6
	case n>>63 == 1:
		return math.Float64frombits(n &^ (1 << 63))
	}
	return math.Float64frombits(^n)
}

// pack returns a block with these values.
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

// radixSort returns the numbers in ascending order. It overwrites the argument.
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

// last returns an upper bound of the numbers in a segment: the first number of the next segment.
func (b *block) last(segment int) uint64 {
	if segment+1 < len(b.firsts) {
		return b.firsts[segment+1]
	}
	return math.MaxUint64
}

// interval collects the values between low and high. It counts the values equal to low, those equal to high, and those
// below low.
type interval struct {
	low, high          float64
	below, lows, highs int
	between            []float64
}

// add adds the value v as many times as times says.
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

// addTo adds the values of the block to an interval. It unpacks only segments that may overlap with the interval.
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

// quantileOf does the work of QuantileOf for packed values. It first bounds the k-th value and the next one, by the
// sorted first values of all segments: one bound has at most k values before it, and at least k+2 values are up to the
// other. It then unpacks the values between these bounds only.
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
	// The values low and high may occur very often. Interpolation needs at most two of each.
	k -= in.below
	after := max(0, in.lows-k)
	near := append(in.between, slices.Repeat([]float64{in.low}, min(2, after))...)
	near = append(near, slices.Repeat([]float64{in.high}, min(2, in.highs))...)
	return interpolated(near, min(k-(in.lows-after), len(near)-1), part)
}
