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

// Look is how a policy or a variant looks in all pictures of an experiment: its place among the colors, and among the
// variants of its policy, which are paler and have other dashes.
type Look struct{ hue, variant int }

// Ink is the color.
func (l Look) Ink() color.NRGBA {
	return canvas.Shade(canvas.Hue(l.hue), 0.2*float64(min(l.variant, 3)))
}

// Line is how its line is drawn.
func (l Look) Line() draw.LineStyle {
	return draw.LineStyle{Color: l.Ink(), Width: 1.6, Dashes: canvas.Dashes(l.hue + l.variant)}
}

// Hued is the look of the i-th of some lines that are neither of a policy nor of a variant.
func Hued(i int) Look { return Look{hue: i} }

// look returns the look of a variant of a policy, by its label, or of the policy. Variants have separate colors if
// there is only one policy.
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

// PolicyLook is the look of a policy.
func (d *Data) PolicyLook(policy string) Look { return d.look(policy, policy) }

// Lines are the groups of cells that one picture shows as lines, and a sentence about omitted ones: one for each
// variant; where these are too many, one for each policy with all values of its axes together (pooled), and of too
// many policies the best.
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

// Group is the cells that one line is about.
type Group struct {
	Label string
	Look  Look
	Cells []record.Cell
}

// Merged are the labels of the lines of a picture, where lines that lie on each other are drawn once: "" for a line that
// an earlier one shows, and the names of all for the earlier one; with a note on them.
func Merged(names []string, on func(i, k int) bool) (labels []string, note string) {
	shown := make([][]string, len(names)) // by each line that is drawn
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
		note = " Lines that lie on each other are drawn once: " + strings.Join(same, "; ") + "."
	}
	return labels, note
}

// mostMerged is the number of lines on each other up to which the legend names each.
const mostMerged = 4
