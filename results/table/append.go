package table

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"math/bits"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/tfexp/tfexp/results/stats"
)

// The functions below append the values of tables and traces to a buffer. They are faster than general encoders: the
// cell of a million jobs has ten million lines. Their output equals the output of encoding/csv, encoding/json and
// strconv.

// decimals is the number of digits after the decimal point. Times are rounded to a microsecond when they are recorded,
// so six digits write them exactly.
const decimals = 6

// AppendNumber appends a number with six decimals. It appends nothing for NaN and for infinite numbers.
func AppendNumber(b []byte, v float64) []byte {
	scaled := v * 1e6
	if scaled >= 0 && scaled < 1<<40 {
		n := int64(scaled + 0.5)
		// The product is off by less than 2⁻¹² here, so n is rounded correctly unless the product is close to a half.
		if math.Abs(scaled-float64(n)) < 0.499 {
			return appendMillionths(b, n, false)
		}
	}
	if !stats.Finite(v) {
		return b
	}
	return strconv.AppendFloat(b, v, 'f', decimals, 64)
}

// appendMillionths appends n/10⁶ as a decimal number, for n ≥ 0. With trim, it leaves out zeros at the end.
func appendMillionths(b []byte, n int64, trim bool) []byte {
	whole := n / 1e6
	rest := uint32(n - whole*1e6)
	b = appendWhole(b, whole)
	if trim && rest == 0 {
		return b
	}
	digits := eightDigits(rest) >> 16 // six digits
	b = binary.LittleEndian.AppendUint64(b, (digits|zeros)<<8|'.')
	cut := 1
	if trim {
		cut += bits.LeadingZeros64(digits<<16) / 8
	}
	return b[:len(b)-cut]
}

// AppendInt appends a whole number as strconv.AppendInt does, but takes two thirds of the time.
func AppendInt(b []byte, n int64) []byte {
	if n < 0 {
		return strconv.AppendInt(b, n, 10)
	}
	return appendWhole(b, n)
}

// appendWhole appends the whole number n, which must be at least 0.
func appendWhole(b []byte, n int64) []byte {
	switch {
	case n < 10:
		return append(b, byte('0'+n))
	case n >= 1e8:
		b = appendWhole(b, n/1e8)
		return binary.LittleEndian.AppendUint64(b, eightDigits(uint32(n%1e8))|zeros)
	}
	digits := eightDigits(uint32(n))
	skip := bits.TrailingZeros64(digits) / 8 // leading zeros
	b = binary.LittleEndian.AppendUint64(b, (digits|zeros)>>(8*skip))
	return b[:len(b)-skip]
}

// zeros is the character 0 eight times, as bytes of one number.
const zeros = 0x3030303030303030

// eightDigits returns the eight decimal digits of n, for n < 10⁸. Each byte of the result holds a digit, and the lowest
// byte holds the first one. It divides several parts of the number at once: two halves by 100, then four quarters by
// 10.
func eightDigits(n uint32) uint64 {
	x := uint64(n/1e4) | uint64(n%1e4)<<32
	hundreds := x * 10486 >> 20 & 0x7f_0000_007f // x/100 = x·10486/2²⁰ for x below 10⁴
	x = hundreds | (x-100*hundreds)<<16
	tens := x * 103 >> 10 & 0xf_000f_000f_000f // x/10 = x·103/2¹⁰ for x below 100
	return tens | (x-10*tens)<<8
}

// quoteField puts the last field of the CSV line b, which starts at from, in quotes if it needs them.
func quoteField(b []byte, from int) []byte {
	field := b[from:]
	if len(field) == 0 {
		return b
	}
	first, _ := utf8.DecodeRune(field)
	plain := !unicode.IsSpace(first) && string(field) != `\.`
	for _, c := range field {
		plain = plain && c != ',' && c != '"' && c != '\r' && c != '\n'
	}
	if plain {
		return b
	}
	quoted := append([]byte{'"'}, bytes.ReplaceAll(field, []byte(`"`), []byte(`""`))...)
	return append(append(b[:from], quoted...), '"')
}

// AppendText appends s as a JSON string in quotes.
func AppendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= utf8.RuneSelf || c == '"' || c == '\\' {
			return appendEscaped(b, s)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// appendEscaped does the work of AppendText for strings with characters to escape or beyond ASCII.
func appendEscaped(b []byte, s string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // encoding a string into memory never fails
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte{'\n'})...)
}

// AppendInstant appends an instant in seconds as the shortest decimal number that equals it.
func AppendInstant(b []byte, m Micros) []byte {
	if m < 0 || m >= 1e15 { // too large for sixteen digits
		raw, err := json.Marshal(m.Seconds())
		if err != nil {
			return append(b, "null"...)
		}
		return append(b, raw...)
	}
	return appendMillionths(b, int64(m), true)
}
