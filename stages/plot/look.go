package plot

import (
	"image/color"

	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// look is how a policy or a variant looks in all pictures of an experiment: its place among the colors, and among the
// variants of its policy, which are paler and have other dashes.
type look struct{ hue, variant int }

func (l look) ink() color.NRGBA {
	return canvas.Shade(canvas.Hue(l.hue), 0.2*float64(min(l.variant, 3)))
}

func (l look) line() draw.LineStyle {
	return draw.LineStyle{Color: l.ink(), Width: 1.6, Dashes: canvas.Dashes(l.hue + l.variant)}
}

// look returns the look of a variant of a policy, by its label, or of the policy. Variants have separate colors if
// there is only one policy.
func (d *Data) look(policy, label string) look {
	one := len(d.Plan.Policies) <= 1
	var labels []string
	for _, v := range d.Variants {
		if (one || v.Policy == policy) && index(labels, v.Label) < 0 {
			labels = append(labels, v.Label)
		}
	}
	at := max(0, index(labels, label))
	if one {
		return look{hue: at}
	}
	return look{d.palette.Policy(policy), at}
}

// policyLook is the look of a policy.
func (d *Data) policyLook(policy string) look { return d.look(policy, policy) }

// lines are the groups of cells that one picture shows as lines, and a sentence about omitted ones: one for each
// variant; where these are too many, one for each policy with all values of its axes together (pooled), and of too
// many policies the best.
func (d *Data) lines(s setting) (groups []group, pooled bool, note string) {
	pooled = len(s.variants) > mostLines
	best, note := analysis.BestPolicies(d.Plan, s.variants, mostLines)
	for _, v := range s.variants {
		if index(best, v.Policy) < 0 {
			continue
		}
		label := v.Label
		if pooled {
			label = v.Policy
		}
		g := group{label: label, look: d.look(v.Policy, label)}
		i := 0
		for i < len(groups) && groups[i].label != g.label {
			i++
		}
		if i == len(groups) {
			groups = append(groups, g)
		}
		groups[i].cells = append(groups[i].cells, v.Cells...)
	}
	return groups, pooled, note
}

// group is the cells that one line is about.
type group struct {
	label string
	look  look
	cells []record.Cell
}
