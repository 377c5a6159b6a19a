package certain

import (
	"slices"

	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// once sets one replicate if the file gives no number and nothing is drawn at random: all replicates would be alike.
func once(d *language.Decoder, s *experiment.Spec) {
	file := d.Root.First("experiment")
	if file == nil || file.Attr("replicates") != nil || file.First("certain") != nil || len(s.Cells) == 0 {
		return
	}
	if !slices.ContainsFunc(s.Cells, func(c experiment.Cell) bool { return !s.Fixed(c) }) {
		s.Replicates = 1
	}
}
