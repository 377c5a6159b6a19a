package train

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tfexp/tfexp/stages/builtin/train/network"
)

// small are configurations of every program with few parameters.
func small(t *testing.T) []config {
	var all []config
	for _, args := range [][]string{
		{"softmax"}, {"svm"}, {"mlp", "--hidden", "5,4"}, {"cnn", "--filters", "2,3", "--hidden", "5"}, {"cnn", "--filters",
			"2,2,3", "--hidden", "3"},
		{"mlp", "--hidden", "5,4", "--blocks", "2,1", "--activation", "tanh"},
		{"cnn", "--filters", "2,3", "--hidden", "5", "--blocks", "2,1,3"},
	} {
		all = append(all, configOf(t, args...))
	}
	return all
}

func configOf(t *testing.T, args ...string) config {
	t.Helper()
	c, _, err := parse(args, nil)
	if err != nil {
		t.Fatalf("parse %q: %v", args, err)
	}
	return c
}

// The gradient of every program equals the slope of its loss, measured by
// central differences.
func TestGradientIsTheSlopeOfTheLoss(t *testing.T) {
	const images, eps = 3, 1e-6
	for _, c := range small(t) {
		t.Run(c.program, func(t *testing.T) {
			net := network.New(c.shape())
			r := rand.New(rand.NewPCG(1, 2))
			w := make([]float64, net.Params())
			for i := range w {
				w[i] = 0.4 * r.NormFloat64()
			}
			ws := net.NewWorkspace(images)
			labels := make([]uint8, images)
			lossAt := func() float64 {
				// Distinct values: at a tie the maximum of a pool has no slope.
				x := rand.New(rand.NewPCG(3, 4))
				for i := range ws.Values[0] {
					ws.Values[0][i] = x.Float64()
				}
				for i := range labels {
					labels[i] = uint8(3 * i)
				}
				return net.Gradient(w, ws, labels, make([]float64, len(w)))
			}
			dw := make([]float64, len(w))
			lossAt()
			net.Gradient(w, ws, labels, dw)
			nonzero := 0
			for i := range w {
				was := w[i]
				w[i] = was + eps
				up := lossAt()
				w[i] = was - eps
				down := lossAt()
				w[i] = was
				slope := (up - down) / (2 * eps)
				if math.Abs(slope-dw[i]) > 1e-5*(1+math.Abs(slope)) {
					t.Errorf("parameter %d of %d: gradient %g, slope %g", i, len(w), dw[i], slope)
				}
				if dw[i] != 0 {
					nonzero++
				}
			}
			if nonzero < len(w)/10 {
				t.Errorf("only %d of %d gradients are not 0", nonzero, len(w))
			}
		})
	}
}

func TestShardsHangOnTheBatchAlone(t *testing.T) {
	for _, test := range []struct{ batch, products, want int }{
		{32, 640, 32},      // softmax: not worth sharing
		{32, 4736, 16},     // mlp [64]
		{64, 4736, 16},     // the same in 4 shards
		{32, 50_000, 4},    // no smaller than minShard
		{1437, 50_000, 45}, // no more than maxShards
		{1, 50_000, 1},
	} {
		if got := shardSize(test.batch, test.products); got != test.want {
			t.Errorf("shardSize(%d, %d) = %d, want %d", test.batch, test.products, got, test.want)
		}
	}
}
