package contract

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
)

// notFinite matches a field whose value is not valid JSON: Python's json module writes NaN and infinite numbers like
// this.
var notFinite = regexp.MustCompile(`"(\w+)"\s*:\s*(?:NaN|-?Infinity)\b`)

// decode parses a line of the contract, whose numbers may be NaN or infinite. Such a loss becomes +Inf, and other such
// numbers are dropped. The result is nil for other lines.
func decode(line []byte) (*Progress, error) {
	var parsed progressLine
	err := json.Unmarshal(line, &parsed)
	if err == nil {
		return parsed.Tfexp, nil
	}
	diverged := false
	plain := notFinite.ReplaceAllFunc(line, func(field []byte) []byte {
		name, _, _ := bytes.Cut(field, []byte{':'})
		diverged = diverged || string(bytes.TrimSpace(name)) == `"loss"`
		return slices.Concat(name, []byte(":null"))
	})
	parsed = progressLine{}
	if bytes.Equal(plain, line) || json.Unmarshal(plain, &parsed) != nil {
		return nil, err
	}
	if p := parsed.Tfexp; p != nil && diverged {
		loss := math.Inf(1)
		p.Loss = &loss
	}
	return parsed.Tfexp, nil
}
