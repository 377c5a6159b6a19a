package experiments

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Profile says how jobs are sampled.
type Profile struct {
	// Samples are runs of different lengths of a job kind; Fraction is the part
	// of its epochs in the shortest.
	Samples  int
	Fraction float64
	// Lengths are those of the samples, sorted, in epochs or steps; nil: by
	// Samples and Fraction.
	Lengths []int
	// Repeats is how often each sample is taken.
	Repeats int
	// Threads are further numbers of threads to sample at, sorted; nil: those
	// that the jobs may come to run on.
	Threads []int
	// Budget is the most time that sampling may take, as a part of the real
	// cells' predicted time; 0: no bound.
	Budget float64
	Range  Range
}

// Estimate says which run-time model is fitted.
type Estimate struct {
	Model string // one of the models of the language
	// Models are fitted as well, to be compared; without Model, none twice.
	Models []string
	Level  float64 // of the prediction interval, 0.9
	Range  Range
}

func (d *decoder) profile() Profile {
	n := d.sole("profile")
	a := d.evalArgs(n, d.global)
	p := Profile{
		Samples: get[int](a, "samples"), Fraction: get[float64](a, "fraction"), Lengths: get[[]int](a, "epochs"),
		Repeats: get[int](a, "repeats"), Threads: get[[]int](a, "threads"), Budget: get[float64](a, "budget"),
		Range: rangeOf(n.header),
	}
	if a.isSet("epochs") {
		for _, name := range []string{"samples", "fraction"} {
			if a.isSet(name) {
				a.fail(a.at(name), "Contradicting arguments", "epochs and %s both say how long the samples are.", name)
			}
		}
		slices.Sort(p.Lengths)
		if a.ok && len(slices.Compact(slices.Clone(p.Lengths))) < 2 {
			a.fail(a.at("epochs"), "Samples of one length", "epochs needs two lengths that differ: one alone does not tell start-up from the time of an epoch.")
		}
		p.Lengths = slices.Compact(p.Lengths)
	}
	slices.Sort(p.Threads)
	p.Threads = slices.Compact(p.Threads)
	return p
}

func (d *decoder) estimate() Estimate {
	n := d.sole("estimate")
	a := d.evalArgs(n, d.global)
	e := Estimate{Model: get[string](a, "model"), Level: get[float64](a, "level"), Range: rangeOf(n.header)}
	for _, m := range get[[]string](a, "models") {
		switch {
		case slices.Contains(e.Models, m):
			a.fail(a.at("models"), "Duplicate model", "models has %q twice.", m)
		case m == e.Model:
			a.fail(a.at("models"), "Duplicate model", "%q is the model that is used; models are those that it is compared with.", m)
		default:
			e.Models = append(e.Models, m)
		}
	}
	return e
}

// share reads a part of a whole: 0.05, or "5%".
func (a *args) share(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	if v.Type() != cty.String || v.IsNull() {
		return a.number(arg, at, v)
	}
	text, percent := strings.CutSuffix(strings.TrimSpace(v.AsString()), "%")
	n, err := cty.ParseNumberVal(strings.TrimSpace(text))
	if err != nil || !percent {
		return a.wrong(at, "", "Wrong type", "%s must be a number like 0.05, or a percentage like \"5%%\"; this is %s.", arg.Name, describe(v))
	}
	return a.number(arg, at, n.Divide(cty.NumberIntVal(100)))
}

// sampling warns of arguments of the profile and estimate blocks that change
// nothing for these cells.
func (d *decoder) sampling(s *Spec) {
	profile, estimate := d.root.first("profile"), d.root.first("estimate")
	real, sampled := false, false
	for _, c := range s.Cells {
		real = real || c.Hardware.Engine != "simulated"
		for _, submit := range c.Workload.Submits {
			sampled = sampled || submit.Job.Runtime == nil
		}
		if t := c.Workload.Trace; t != nil {
			for _, k := range t.Kinds {
				sampled = sampled || !k.Timed && k.Runtime == nil
			}
		}
	}
	for _, n := range []*node{profile, estimate} {
		if n != nil && !real && !sampled {
			d.warnf(n.header, "Block that nothing uses", "No job is sampled: nothing runs for real, and the file gives all run times.")
			return
		}
	}
	if profile != nil && s.Profile.Budget > 0 && !real {
		d.warnf(profile.attr("budget").Range, "Budget without a measure", "Nothing runs for real, so there is no predicted time that the budget could be a part of: all samples are taken.")
	}
	if profile != nil && len(s.Profile.Threads) > 0 && !slices.ContainsFunc(append([]string{s.Estimate.Model}, s.Estimate.Models...), func(m string) bool { return m == "auto" || m == "scaling" }) {
		d.warnf(profile.attr("threads").Range, "Samples that nothing uses", "The model %q looks at samples on the job's own request alone; \"scaling\" and \"auto\" use those on other numbers of threads.", s.Estimate.Model)
	}
}
