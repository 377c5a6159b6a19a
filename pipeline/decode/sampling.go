package decode

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/stages/experiment"
)

func (d *Decoder) profile() experiment.Profile {
	var p experiment.Profile
	n := d.Sole("profile")
	a := d.Decode(n, d.Global, &p)
	p.Alone, p.Range = p.Contention == "none", eval.RangeOf(n.Header)
	if a.IsSet("epochs") {
		a.Excludes("epochs and {} both set the length of the samples: keep one.", "samples", "fraction")
		slices.Sort(p.Lengths)
		if a.OK && len(slices.Compact(slices.Clone(p.Lengths))) < 2 {
			a.Fail(a.At("epochs"), "Samples of one length",
				"epochs needs two different lengths: with one, start-up and epochs cannot be told apart.")
		}
		p.Lengths = slices.Compact(p.Lengths)
	}
	slices.Sort(p.Threads)
	p.Threads = slices.Compact(p.Threads)
	return p
}

func (d *Decoder) estimate() experiment.Estimate {
	var e experiment.Estimate
	n := d.Sole("estimate")
	a := d.Decode(n, d.Global, &e)
	e.Range = eval.RangeOf(n.Header)
	for i, m := range e.Models {
		switch {
		case slices.Contains(e.Models[:i], m):
			a.Fail(a.At("models"), "Duplicate model", "models has %q twice.", m)
		case m == e.Model:
			a.Fail(a.At("models"), "Duplicate model",
				"%q is the model itself; models are others to compare it with.", m)
		}
	}
	return e
}
