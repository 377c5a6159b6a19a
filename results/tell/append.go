package tell

import (
	"bytes"
	"encoding/json"
	"math"
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
	if math.IsNaN(v) { // most empty fields
		return b
	}
	if v == 0 {
		return append(b, "0.000000"...) // never "-0.000000"
	}
	if !stats.Finite(v) {
		return b
	}
	scaled := v * 1e6
	down := math.Floor(scaled)
	// The product is off by less than 2⁻¹² here; only next to a half could that
	// round to another digit than the exact value does.
	if rest := scaled - down - 0.5; scaled >= 0 && scaled < 1<<40 && math.Abs(rest) > 1e-3 {
		n := int64(down)
		if rest > 0 {
			n++
		}
		return appendMillionths(b, n, false)
	}
	return strconv.AppendFloat(b, v, 'f', decimals, 64)
}

// twoDigits are the numbers from 00 to 99.
const twoDigits = "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899"

// appendMillionths appends n/10⁶ as a decimal, n at least 0; trim leaves out
// zeros at its end.
func appendMillionths(b []byte, n int64, trim bool) []byte {
	whole := n / 1e6
	rest := uint32(n - whole*1e6)
	b = appendWhole(b, whole)
	if trim && rest == 0 {
		return b
	}
	first, second, third := 2*(rest/10_000), 2*(rest/100%100), 2*(rest%100)
	b = append(b, '.', twoDigits[first], twoDigits[first+1], twoDigits[second], twoDigits[second+1], twoDigits[third],
		twoDigits[third+1])
	for trim && b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
}

// appendWhole appends a number of at least 0.
func appendWhole(b []byte, n int64) []byte {
	var digits [20]byte
	at := len(digits)
	for ; n >= 100; n /= 100 {
		two := 2 * (n % 100)
		at -= 2
		digits[at], digits[at+1] = twoDigits[two], twoDigits[two+1]
	}
	at -= 2
	digits[at], digits[at+1] = twoDigits[2*n], twoDigits[2*n+1]
	if n < 10 {
		at++
	}
	return append(b, digits[at:]...)
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
