package analysis

import (
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
)

// frameworks are the packages whose versions matter most to those who train, by their names in small letters.
var frameworks = []string{"tensorflow", "torch", "jax", "keras", "numpy"}

// Python is an interpreter in words: "3.11.2 (/usr/bin/python3), torch 2.1, numpy 1.26 and 31 more packages".
func Python(p record.Python) string {
	if p.Error != "" {
		return p.Interpreter + ": " + p.Error
	}
	out := p.Version + " (" + p.Interpreter + ")"
	named := 0
	for _, name := range frameworks {
		for _, k := range p.Packages {
			if strings.ToLower(k.Name) == name {
				out += ", " + k.Name + " " + k.Value
				named++
			}
		}
	}
	switch rest := len(p.Packages) - named; {
	case named == 0 && rest > 0:
		out += ", " + schema.Plural(rest, "package")
	case rest > 0:
		out += " and " + schema.Plural(rest, "more package")
	}
	return out
}
