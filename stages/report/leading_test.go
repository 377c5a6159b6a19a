package report

import (
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/size"
)

// A picture that answers the question of a block is at the top of the page, before the picture of comparisons, unless it
// was skipped.
func TestLeadingKind(t *testing.T) {
	comparisons, block := record.Picture{Kind: answer}, record.Picture{Kind: size.Picture}
	skipped := record.Picture{Kind: block.Kind, Skipped: "no data"}
	for want, pictures := range map[string][]record.Picture{
		answer: {comparisons, {Kind: "queue"}, skipped}, block.Kind: {comparisons, {Kind: "queue"}, block},
	} {
		if got := leadingKind(pictures); got != want {
			t.Errorf("%v: %q is at the top, want %q", pictures, got, want)
		}
	}
}
