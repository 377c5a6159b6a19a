package throughput

import (
	"slices"
	"strings"
	"testing"
)

// TestBatchPhases compares with phases worked out by hand.
func TestBatchPhases(t *testing.T) {
	any := func(string) bool { return true }
	for _, c := range []struct {
		rule, model string
		batch       string
		workers     int
		steps       float64
		batches     string
		want        []float64
	}{
		{"accordion", "LM", "20", 1, 30 * 2984, "20 80", []float64{10 * 2984, 20 * 746}},
		{"accordion", "Recommendation", "4096", 1, 3500, "4096 8192", []float64{290, 1815 - 150}}, // 121 epochs stay 121
		{"accordion", "ResNet-50", "32", 2, 35 * 3125, "32 128 32", []float64{31250, 15640, 15625}},
		{"accordion", "LM", "80", 1, 9000, "80", []float64{9000}},
		{"accordion", "LM", "20", 1, 9 * 2984, "20", []float64{9 * 2984}}, // ends in its critical epochs
		{"gns", "LM", "5", 1, 80 * 11935, "5 10 20 40 80", []float64{369985, 59680, 59680, 14920, 6709}},
		{"gns", "LM", "5", 8, 80 * 11935, "5", []float64{80 * 11935}}, // not recorded for 8 workers
		{"gns", "Transformer", "64", 1, 1e6, "64", []float64{1e6}},
	} {
		name := func(batch string) string { return c.model + " (batch size " + batch + ")" }
		phases := BatchPhases(c.rule, name(c.batch), c.workers, c.steps, any)
		var classes []string
		var steps []float64
		for _, p := range phases {
			classes, steps = append(classes, p.Class), append(steps, p.Steps)
		}
		var want []string
		for batch := range strings.FieldsSeq(c.batches) {
			want = append(want, name(batch))
		}
		if !slices.Equal(classes, want) || !slices.Equal(steps, c.want) {
			t.Errorf("%s of %s: %v %v, want %v %v", c.rule, name(c.batch), classes, steps, want, c.want)
		}
	}
	none := BatchPhases("gns", "LM (batch size 5)", 1, 1e6, func(string) bool { return false })
	if len(none) != 1 || none[0].Steps != 1e6 {
		t.Errorf("with no other batch size available: %v", none)
	}
}
