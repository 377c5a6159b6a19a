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

// Functions that append the values of tables and traces to a buffer: a cell of
// a million jobs has ten million lines, too many for general encoders. The
// bytes are the same as from encoding/csv, encoding/json and strconv.

// decimals is the number of digits after the point: times are rounded to a
// microsecond when they are recorded, so they are printed exactly.
const decimals = 6

// AppendNumber appends a number with six decimals; nothing for NaN and the
// infinities.
func AppendNumber(b []byte, v float64) []byte {
	scaled := v * 1e6
	if scaled >= 0 && scaled < 1<<40 {
		n := int64(scaled + 0.5)
		// The product is off by less than 2⁻¹² here; only next to a half could that
		// round to another digit than the exact value does.
		if math.Abs(scaled-float64(n)) < 0.499 {
			return appendMillionths(b, n, false)
		}
	}
	if !stats.Finite(v) {
		return b
	}
	return strconv.AppendFloat(b, v, 'f', decimals, 64)
}

// appendMillionths appends n/10⁶ as a decimal, n at least 0; trim leaves out
// zeros at its end.
func appendMillionths(b []byte, n int64, trim bool) []byte {
	whole := n / 1e6
	rest := uint32(n - whole*1e6)
	b = appendWhole(b, whole)
	if trim && rest == 0 {
		return b
	}
	digits := eightDigits(rest) >> 16 // six
	b = binary.LittleEndian.AppendUint64(b, (digits|zeros)<<8|'.')
	cut := 1
	if trim {
		cut += bits.LeadingZeros64(digits<<16) / 8
	}
	return b[:len(b)-cut]
}

// AppendInt appends a whole number as strconv.AppendInt does, in two thirds of the time.
func AppendInt(b []byte, n int64) []byte {
	if n < 0 {
		return strconv.AppendInt(b, n, 10)
	}
	return appendWhole(b, n)
}

// appendWhole appends a number of at least 0.
func appendWhole(b []byte, n int64) []byte {
	switch {
	case n < 10:
		return append(b, byte('0'+n))
	case n >= 1e8:
		b = appendWhole(b, n/1e8)
		return binary.LittleEndian.AppendUint64(b, eightDigits(uint32(n%1e8))|zeros)
	}
	digits := eightDigits(uint32(n))
	skip := bits.TrailingZeros64(digits) / 8 // zeros before the first digit
	b = binary.LittleEndian.AppendUint64(b, (digits|zeros)>>(8*skip))
	return b[:len(b)-skip]
}

// zeros are eight times the character 0.
const zeros = 0x3030303030303030

// eightDigits returns the digits of n, which is below 10⁸, as the bytes of a number, the first digit in the lowest one.
// It divides parts of the number at the same time: halves by 100, then quarters by 10.
func eightDigits(n uint32) uint64 {
	x := uint64(n/1e4) | uint64(n%1e4)<<32
	hundreds := x * 10486 >> 20 & 0x7f_0000_007f // x/100 = x·10486/2²⁰ for x below 10⁴
	x = hundreds | (x-100*hundreds)<<16
	tens := x * 103 >> 10 & 0xf_000f_000f_000f // x/10 = x·103/2¹⁰ for x below 100
	return tens | (x-10*tens)<<8
}

// quoteField puts quotes around the CSV field that begins at from and goes to
// the end of b, if it needs them.
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

// AppendText appends a JSON string.
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

// appendEscaped appends a JSON string of any characters.
func appendEscaped(b []byte, s string) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string and a buffer do not fail
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte{'\n'})...)
}

// AppendInstant appends the shortest decimal that is an instant in seconds.
func AppendInstant(b []byte, m Micros) []byte {
	if m < 0 || m >= 1e15 { // beyond the precision of sixteen digits
		raw, err := json.Marshal(m.Seconds())
		if err != nil {
			return append(b, "null"...)
		}
		return append(b, raw...)
	}
	return appendMillionths(b, int64(m), true)
}
