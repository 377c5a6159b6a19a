package blocks

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
)

func (d *Decoder) profile() experiments.Profile {
	n := d.sole("profile")
	a := d.EvalArgs(n, d.global)
	p := experiments.Profile{
		Samples: eval.Get[int](a, "samples"), Fraction: eval.Get[float64](a, "fraction"),
		Lengths: eval.Get[[]int](a, "epochs"),
		Repeats: eval.Get[int](a, "repeats"), Threads: eval.Get[[]int](a, "threads"), Budget: eval.Get[float64](a, "budget"),
		Alone: eval.Get[string](a, "contention") == "none",
		Limit: eval.Get[time.Duration](a, "limit"), Range: eval.RangeOf(n.Header),
	}
	if a.IsSet("epochs") {
		for _, name := range []string{"samples", "fraction"} {
			if a.IsSet(name) {
				a.Fail(a.At(name), "Contradicting arguments", "epochs and %s both say how long the samples are.", name)
			}
		}
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

func (d *Decoder) estimate() experiments.Estimate {
	n := d.sole("estimate")
	a := d.EvalArgs(n, d.global)
	e := experiments.Estimate{
		Model: eval.Get[string](a, "model"), Level: eval.Get[float64](a, "level"), Correct: eval.Get[string](a, "correct"),
		Range: eval.RangeOf(n.Header),
	}
	for _, m := range eval.Get[[]string](a, "models") {
		switch {
		case slices.Contains(e.Models, m):
			a.Fail(a.At("models"), "Duplicate model", "models has %q twice.", m)
		case m == e.Model:
			a.Fail(a.At("models"), "Duplicate model",
				"%q is the model itself; models are others to compare it with.", m)
		default:
			e.Models = append(e.Models, m)
		}
	}
	return e
}
