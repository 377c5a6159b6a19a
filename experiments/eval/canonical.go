package eval

import (
	"math"
	"strconv"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// Canonical is a text of a table as the language shows it: numbers in one form.
func Canonical(s string) string {
	s = strings.TrimSpace(s)
	if f, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
		return Display(cty.NumberFloatVal(f))
	}
	return s
}
