package contract

import (
	"bytes"
	"encoding/json"
	"math"
	"regexp"
	"slices"
)

// notFinite matches a field whose value is no JSON, as Python's json module writes numbers that are not finite.
var notFinite = regexp.MustCompile(`"(\w+)"\s*:\s*(?:NaN|-?Infinity)\b`)

// decode reads a line of the contract. The numbers in it may be NaN or infinite: such a loss is +Inf, and others are not
// known. The result is nil for a line of something else.
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
