package plot

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// Look identifies the color and the dashes of a policy or a variant, which are the same in all pictures. hue is the
// index of the policy's color. Further variants of a policy (from 1) are paler and have other dashes.
type Look struct{ hue, variant int }

// Ink returns the color.
func (l Look) Ink() color.NRGBA {
	return canvas.Shade(canvas.Hue(l.hue), 0.2*float64(min(l.variant, 3)))
}

// Line returns the style of the line.
func (l Look) Line() draw.LineStyle {
	return draw.LineStyle{Color: l.Ink(), Width: 1.6, Dashes: canvas.Dashes(l.hue + l.variant)}
}

// Hued returns the look of line i in a picture whose lines are neither policies nor variants.
func Hued(i int) Look { return Look{hue: i} }

// look returns the look of a variant by its policy and its label, or of the policy itself. If there is only one policy,
// each variant has its own color.
func (d *Data) look(policy, label string) Look {
	one := len(d.Plan.Policies) <= 1
	var labels []string
	for _, v := range d.Variants {
		if (one || v.Policy == policy) && slices.Index(labels, v.Label) < 0 {
			labels = append(labels, v.Label)
		}
	}
	at := max(0, slices.Index(labels, label))
	if one {
		return Look{hue: at}
	}
	return Look{d.palette.Policy(policy), at}
}

// PolicyLook returns the look of a policy.
func (d *Data) PolicyLook(policy string) Look { return d.look(policy, policy) }

// Lines returns the lines of a picture, and a sentence about omitted ones. There is one line for each variant. If these
// are too many, there is one for each policy, over all values of its axes (pooled). If policies are too many, only the
// best have lines.
func (d *Data) Lines(s Setting) (groups []Group, pooled bool, note string) {
	pooled = len(s.Variants) > MostLines
	best, note := analysis.BestPolicies(d.Plan, s.Variants, MostLines)
	for _, v := range s.Variants {
		if slices.Index(best, v.Policy) < 0 {
			continue
		}
		label := v.Label
		if pooled {
			label = v.Policy
		}
		g := Group{Label: label, Look: d.look(v.Policy, label)}
		i := 0
		for i < len(groups) && groups[i].Label != g.Label {
			i++
		}
		if i == len(groups) {
			groups = append(groups, g)
		}
		groups[i].Cells = append(groups[i].Cells, v.Cells...)
	}
	return groups, pooled, note
}

// Group has the cells of one line.
type Group struct {
	Label string
	Look  Look
	Cells []record.Cell
}

// Merged returns the labels of a picture's lines, if lines that coincide are drawn once. The first of such lines has
// the names of all, the others have "". on reports whether lines i and k coincide. The note names these lines.
func Merged(names []string, on func(i, k int) bool) (labels []string, note string) {
	shown := make([][]string, len(names)) // names of the lines that coincide, by index of the line that is drawn
	for i, name := range names {
		at := i
		for k := range i {
			if len(shown[k]) > 0 && on(i, k) {
				at = k
				break
			}
		}
		shown[at] = append(shown[at], name)
	}
	labels = make([]string, len(names))
	var same []string
	for i, all := range shown {
		if labels[i] = strings.Join(all, ", "); len(all) > mostMerged {
			labels[i] = fmt.Sprintf("%s and %d more", all[0], len(all)-1)
		}
		if len(all) > 1 {
			same = append(same, table.Listed(all))
		}
	}
	if len(same) > 0 {
		note = " Lines that coincide are drawn once: " + strings.Join(same, "; ") + "."
	}
	return labels, note
}

// mostMerged is the greatest number of coinciding lines that the legend names one by one.
const mostMerged = 4
