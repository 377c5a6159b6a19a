package results

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/tfexp/tfexp/scheduler"
)

// What tables and traces are made of, appended to a buffer: a cell of a million
// jobs has ten million lines, which general encoders take too long for. The
// bytes are those of encoding/csv, encoding/json and strconv.

// decimals is the number of digits after the point: times are rounded to a
// microsecond when they are recorded, so they are printed exactly.
const decimals = 6

// appendNumber appends a number with six decimals; nothing for NaN and the
// infinities.
func appendNumber(b []byte, v float64) []byte {
	if !finite(v) {
		return b
	}
	if v == 0 {
		v = 0 // never "-0.000000"
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
	b = strconv.AppendInt(b, whole, 10)
	if trim && rest == 0 {
		return b
	}
	first, second, third := 2*(rest/10_000), 2*(rest/100%100), 2*(rest%100)
	b = append(b, '.', twoDigits[first], twoDigits[first+1], twoDigits[second], twoDigits[second+1], twoDigits[third], twoDigits[third+1])
	for trim && b[len(b)-1] == '0' {
		b = b[:len(b)-1]
	}
	return b
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

// appendText appends a JSON string.
func appendText(b []byte, s string) []byte {
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

// appendCores appends a set of cores as a JSON string.
func appendCores(b []byte, s scheduler.CoreSet) []byte {
	b = append(b, '"')
	for i, p := range s {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(p.Lo), 10)
		if p.Hi-p.Lo > 1 {
			b = append(b, '-')
			b = strconv.AppendInt(b, int64(p.Hi)-1, 10)
		}
	}
	return append(b, '"')
}

// appendInstant appends the shortest decimal that is an instant in seconds.
func appendInstant(b []byte, m micros) []byte {
	if m < 0 || m >= 1e15 { // beyond what sixteen digits tell apart
		raw, err := json.Marshal(m.seconds())
		if err != nil {
			return append(b, "null"...)
		}
		return append(b, raw...)
	}
	return appendMillionths(b, int64(m), true)
}

// appendEvent appends a line of events.jsonl; see EventRow.
func appendEvent(b []byte, e scheduler.Event, job *scheduler.Job) []byte {
	b = appendInstant(append(b, `{"t_s":`...), toMicros(e.At))
	b = append(append(b, `,"event":"`...), e.Kind...) // kinds are plain words
	b = appendText(append(b, `","job":`...), job.Name)
	b = appendCores(append(b, `,"cores":`...), e.Cores)
	if len(e.GPUs) > 0 {
		b = appendCores(append(b, `,"gpus":`...), e.GPUs)
	}
	if way := wayOf(e, job); way != "" {
		b = appendText(append(b, `,"resource":`...), way)
	}
	if why := e.Detail(); why != "" {
		b = appendText(append(b, `,"reason":`...), why)
	}
	return append(appendTyped(b, &e), '}', '\n')
}

// appendTyped appends what only some kinds of events have.
func appendTyped(b []byte, e *scheduler.Event) []byte {
	switch e.Kind {
	case scheduler.Request:
		b = strconv.AppendInt(append(b, `,"request":`...), int64(e.Request), 10)
	case scheduler.Level:
		b = strconv.AppendInt(append(b, `,"levels":{"from":`...), int64(e.Levels.From), 10)
		b = strconv.AppendInt(append(b, `,"to":`...), int64(e.Levels.To), 10)
		b = append(b, '}')
	case scheduler.Predict:
		if p := e.Prediction; p != nil {
			b = strconv.AppendInt(append(b, `,"prediction":{"units":`...), int64(p.Done), 10)
			b = strconv.AppendInt(append(b, `,"of":`...), int64(p.Total), 10)
			b = appendSpan(append(b, `,"left_s":`...), p.Left)
			b = appendSpan(append(b, `,"before_s":`...), p.Before)
			b = append(b, '}')
		}
	}
	return b
}

// appendSpan appends a time in seconds; null when it is unknown.
func appendSpan(b []byte, d time.Duration) []byte {
	if d == scheduler.Never {
		return append(b, "null"...)
	}
	return appendInstant(b, toMicros(d))
}

// appendDecision appends a line of decisions.jsonl; see DecisionRow.
func appendDecision(b []byte, d scheduler.Decision, jobs []scheduler.Job) []byte {
	b = appendInstant(append(b, `{"t_s":`...), toMicros(d.At))
	b = append(append(b, `,"decision":"`...), d.Kind...)
	b = appendText(append(b, `","job":`...), jobs[d.Job].Name)
	b = appendCores(append(b, `,"cores":`...), d.Cores)
	b = appendText(append(b, `,"reason":`...), d.Reason)
	for i, p := range d.Passed {
		if i == 0 {
			b = append(b, `,"passed":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendText(append(b, `{"job":`...), jobs[p.Job].Name)
		b = appendText(append(b, `,"reason":`...), p.Reason)
		b = append(b, '}')
	}
	if len(d.Passed) > 0 {
		b = append(b, ']')
	}
	if d.PassedMore != 0 {
		b = strconv.AppendInt(append(b, `,"passed_more":`...), int64(d.PassedMore), 10)
	}
	return append(b, '}', '\n')
}
