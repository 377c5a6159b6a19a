package servers

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"
	"github.com/tfexp/tfexp/stages/servers/market"
)

// terms decodes the rental terms of a node block's servers; nil for a permanent node.
func (d decoder) terms(na *eval.Args, billing market.Billing, node *scheduler.Node) *market.Terms {
	asked := false
	for _, arg := range market.NodeArgs {
		asked = asked || na.IsSet(arg.Name)
	}
	if !asked {
		return nil
	}
	var v market.Rental
	na.Fill(&v)
	t := &market.Terms{
		Market: v.Market, Region: v.Region, Billing: billing,
		Startup: workload.Span{Kind: v.Startup.Kind, Mean: v.Startup.Mean, SD: v.Startup.SD},
		MaxLife: v.MaxLifetime, Warning: v.Warning, Replace: v.Replace, Delay: v.ReplaceDelay, Limit: v.ReplaceLimit,
		Price: market.Fixed(0),
	}
	if t.Market == "" {
		t.Market = market.OnDemand
		if na.IsSet("lifetime") || na.IsSet("max_lifetime") {
			t.Market = market.Spot
		}
	}
	if t.Market == market.OnDemand {
		na.Excludes("Servers on demand are not taken away: they have no {}.", "lifetime")
	}
	if life, ok := v.Lifetime.(eval.Model); ok {
		d.life(na, life, t)
	}
	if most := t.MeanLife(); t.Warning > 0 && t.Warning >= most {
		na.Fail(na.At("warning"), "Warning longer than the life", "The warning of %s is not shorter than the life of a "+
			"server: %s.", schema.FormatDuration(t.Warning), schema.FormatDuration(most.Round(time.Second)))
	}
	if na.Has("price") {
		t.Price = d.price(na, "price", t, t.Market, node)
	}
	t.OnDemand = t.Price
	if na.Has("on_demand_price") {
		t.OnDemand = d.price(na, "on_demand_price", t, market.OnDemand, node)
	}
	return t
}

// life decodes a distribution of lives.
func (d decoder) life(na *eval.Args, m eval.Model, t *market.Terms) {
	at := na.Node.Attr("lifetime").Expr.Range()
	switch m.Name {
	case "exponential":
		t.Life = market.Exponential{Mean: m.Spans[0]}
	case "weibull":
		t.Life = market.Weibull{Shape: m.Numbers[0], Scale: m.Spans[0]}
	case "bathtub":
		t.Life = market.Bathtub{A: m.Numbers[0], Tau1: m.Spans[0], Tau2: m.Spans[1], End: m.Spans[2]}
	case "survival":
		if life, ok := d.survival(na, m, at); ok {
			t.Life = life
		}
	case "availability":
		if t.Windows = d.availability(na, m, at); len(t.Windows) > 0 {
			t.Availability = t.Windows[0]
		}
		if len(t.Windows) == 1 {
			t.Windows = nil
		}
	}
}

// survival reads a survival curve, or measured lives, from a file.
func (d decoder) survival(na *eval.Args, m eval.Model, at hcl.Range) (*market.Measured, bool) {
	rows, which, ok := datafile.CSVTable(d.Decoder, na, m, at,
		[]string{"time_s", "survival"}, []string{"lifetime_s", "revoked"},
		[]string{"lifetime_s", "ended_by"})
	if !ok {
		return nil, false
	}
	var times []time.Duration
	var survivals []float64
	var seen []market.Observation
	for _, r := range rows {
		if which == 0 {
			v, ok := datafile.Numbers(d.Decoder, na, m, r, "time_s", "survival")
			if !ok {
				return nil, false
			}
			times, survivals = append(times, time.Duration(v[0]*1e9)), append(survivals, v[1])
			if _, err := market.NewMeasured(m.File, times, survivals); err != nil {
				datafile.WrongLine(d.Decoder, na, m, r.Line, "Not a survival curve", "%s", language.Sentence(err.Error()))
				return nil, false
			}
			continue
		}
		v, ok := datafile.Numbers(d.Decoder, na, m, r, "lifetime_s")
		if !ok {
			return nil, false
		}
		taken := r.Texts[1] == "1" || strings.EqualFold(r.Texts[1], "true") || r.Texts[1] == "revoked"
		seen = append(seen, market.Observation{Time: time.Duration(v[0] * 1e9), Taken: taken})
	}
	var curve *market.Measured
	var err error
	if which == 0 {
		curve, err = market.NewMeasured(m.File, times, survivals)
	} else {
		curve, err = market.KaplanMeier(m.File, seen)
	}
	if err != nil {
		na.Fail(at, "Not a survival curve", "%s", language.Sentence(err.Error()))
		return nil, false
	}
	return curve, true
}

// price decodes a price.
func (d decoder) price(na *eval.Args, arg string, t *market.Terms, in string, node *scheduler.Node) market.Price {
	m := eval.Get[eval.Model](na, arg)
	at := na.Node.Attr(arg).Expr.Range()
	switch m.Name {
	case "prices":
		rows, _, ok := datafile.CSVTable(d.Decoder, na, m, at, []string{"time_s", "price"})
		if !ok {
			return market.Fixed(0)
		}
		var p market.Price
		for _, r := range rows {
			v, ok := datafile.Numbers(d.Decoder, na, m, r, "time_s", "price")
			if !ok || !datafile.Ascending(d.Decoder, na, m, r, p.Times, time.Duration(v[0]*1e9)) {
				return market.Fixed(0)
			}
			p.Times, p.PerHour = append(p.Times, time.Duration(v[0]*1e9)), append(p.PerHour, v[1])
		}
		if err := p.Check(); err != nil {
			na.Fail(at, "Not a price", "%s", language.Sentence(err.Error()))
		}
		return p
	case "catalogue":
		return d.catalogue(na, m, at, t, in, node)
	}
	return market.Fixed(m.Numbers[0])
}

// catalogue returns the price in a file for a type, a region and a market.
func (d decoder) catalogue(
	na *eval.Args, m eval.Model, at hcl.Range, t *market.Terms, in string, node *scheduler.Node,
) market.Price {
	rows, _, ok := datafile.CSVTable(d.Decoder, na, m, at, []string{"price", "type", "region", "market"})
	if !ok {
		return market.Fixed(0)
	}
	kind := node.GPU
	kind = cmp.Or(kind, na.Node.Label)
	var regions []string
	for _, r := range rows {
		price, ok := datafile.Numbers(d.Decoder, na, m, r, "price")
		if !ok {
			return market.Fixed(0)
		}
		if r.Texts[1] == kind && r.Texts[2] == t.Region && r.Texts[3] == in {
			return market.Fixed(price[0])
		}
		regions = schema.AddOnce(regions, r.Texts[2])
	}
	if !slices.Contains(regions, t.Region) {
		na.Fail(na.At("region"), "Unknown region", "%s has no region %q; it has %s.", d.Find(m.File).Shown, t.Region,
			strings.Join(regions, ", "))
	} else {
		na.Fail(at, "No such price", "%s has no price of the type %q in the region %q on the market %q.",
			d.Find(m.File).Shown, kind, t.Region, in)
	}
	return market.Fixed(0)
}
