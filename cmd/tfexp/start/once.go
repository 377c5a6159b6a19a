package start

import (
	"errors"

	"github.com/spf13/pflag"
)

// once is the value of a flag that a user can give only once. Without it, the last value would replace the first
// silently.
type once struct {
	pflag.Value
	given bool
}

// Set implements pflag.Value.
func (o *once) Set(text string) error {
	if o.given {
		return errors.New("the flag is there twice: give it once, and call tfexp init again for another experiment")
	}
	o.given = true
	return o.Value.Set(text)
}

// allOnce makes it an error to give any flag with a text value twice.
func allOnce(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "string" {
			f.Value = &once{Value: f.Value}
		}
	})
}
