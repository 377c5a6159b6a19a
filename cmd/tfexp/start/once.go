package start

import (
	"errors"

	"github.com/spf13/pflag"
)

// once is the value of a flag that is given at most once: the last of several values would count, and nothing would say so.
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

// allOnce makes it an error to give a flag with a text twice.
func allOnce(flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "string" {
			f.Value = &once{Value: f.Value}
		}
	})
}
