package contract

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	for _, test := range []struct{ inter, intra, request, granted, wantInter, wantIntra int }{
		{1, 4, 4, 4, 1, 4}, // a plain request, granted
		{1, 4, 4, 2, 1, 2}, // and shrunk
		{1, 4, 4, 1, 1, 1},
		{1, 3, 4, 4, 1, 3}, // split
		{1, 3, 4, 2, 1, 1},
		{2, 2, 4, 3, 1, 2},
		{2, 6, 8, 4, 1, 3},
		{4, 4, 8, 4, 2, 2},
		{4, 1, 5, 2, 1, 1},
		{2, 2, 4, 1, 1, 1},
		{2, 3, 5, 4, 2, 2},  // 1.6 and 2.4 cores: inter has the largest remainder
		{2, 4, 6, 12, 4, 8}, // beyond the request, as a malleable job may get
		{1, 4, 4, 6, 1, 6},
		{1, 1, 2, 1, 1, 1},
		{0, 0, 1, 0, 1, 1},
	} {
		inter, intra := Split(test.inter, test.intra, test.request, test.granted)
		if inter != test.wantInter || intra != test.wantIntra {
			t.Errorf("Split(%d, %d, %d, %d) = %d, %d, want %d, %d",
				test.inter, test.intra, test.request, test.granted, inter, intra, test.wantInter, test.wantIntra)
		}
	}
}

// The pools share the cores in proportion to the requested sizes, each to the nearest whole number, none below 1. No
// pool shrinks with one more core. On the request the job has exactly the pools that it asked for.
func TestSplitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		inter := rapid.IntRange(1, 64).Draw(t, "inter")
		intra := rapid.IntRange(1, 64).Draw(t, "intra")
		request := inter + intra
		lastInter, lastIntra := 1, 1
		for granted := 1; granted <= 2*request; granted++ {
			a, b := Split(inter, intra, request, granted)
			if a < 1 || b < 1 || granted >= 2 && a+b != granted {
				t.Fatalf("granted %d: %d and %d", granted, a, b)
			}
			if a < lastInter || b < lastIntra {
				t.Fatalf("granted %d: %d and %d after %d and %d", granted, a, b, lastInter, lastIntra)
			}
			// Twice the distance from the exact share, times the request.
			if off := 2 * max(a*request-granted*inter, granted*inter-a*request); off > request && a > 1 && b > 1 {
				t.Fatalf("granted %d: %d and %d are not the nearest to %d:%d", granted, a, b, inter, intra)
			}
			if granted == request && (a != inter || b != intra) {
				t.Fatalf("granted its request: %d and %d", a, b)
			}
			lastInter, lastIntra = a, b
		}
	})
}
