package digits

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDataIsTheSource(t *testing.T) {
	raw, err := unpack()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	if got, want := hex.EncodeToString(sum[:]), "e1d88a0854e29e01d16358d2cd026aa8fc20dfc4cdb3fce004300857ea82aa70"; got != want {
		t.Errorf("digest of the unpacked data is %s, want %s (ATTRIBUTION.md)", got, want)
	}
	all := All()
	if all.Len() != Images || len(all.X) != Images*Pixels {
		t.Fatalf("%d images with %d pixels", all.Len(), len(all.X))
	}
	square := 0.0
	for i, x := range all.X {
		if x < 0 || x > White {
			t.Fatalf("pixel %d is %g, want 0 to %g", i, x, White)
		}
		square += x * x
	}
	if mean := square / float64(len(all.X)); mean < 0.8 || mean > 1.2 {
		t.Errorf("mean square of the pixels is %g, want about 1", mean)
	}
	// The first image of the source is a zero; its third pixel is 5 of 16.
	if all.Y[0] != 0 || all.Image(0)[2] != 5.0/half {
		t.Errorf("first image is a %d with third pixel %g", all.Y[0], all.Image(0)[2])
	}
}

func TestSplitIsStratifiedAndDeterministic(t *testing.T) {
	train, held := Split(1, 0.2)
	if train.Len()+held.Len() != Images {
		t.Errorf("%d + %d images, want %d", train.Len(), held.Len(), Images)
	}
	var n, h [Classes]int
	for _, y := range All().Y {
		n[y]++
	}
	for _, y := range held.Y {
		h[y]++
	}
	for c := range n {
		if want := int(math.Round(0.2 * float64(n[c]))); h[c] != want {
			t.Errorf("digit %d: %d of %d held out, want %d", c, h[c], n[c], want)
		}
	}
	again, heldAgain := Split(1, 0.2)
	if diff := cmp.Diff([]Set{train, held}, []Set{again, heldAgain}); diff != "" {
		t.Error("equal arguments give other sets")
	}
	if other, _ := Split(2, 0.2); cmp.Equal(train, other) {
		t.Error("another seed gives the same sets")
	}
}

func TestSplitKeepsEveryImageOnce(t *testing.T) {
	train, held := Split(7, 0.3)
	count := func(sets ...Set) map[string]int {
		m := map[string]int{}
		for _, s := range sets {
			for i := range s.Len() {
				key := make([]byte, 0, Pixels+1)
				for _, x := range s.Image(i) {
					key = append(key, byte(x*half))
				}
				m[string(append(key, s.Y[i]))]++
			}
		}
		return m
	}
	if diff := cmp.Diff(count(All()), count(train, held)); diff != "" {
		t.Error("the two sets are not all images")
	}
}

func TestSplitAtTheEdges(t *testing.T) {
	for _, part := range []float64{0, 1} {
		train, held := Split(1, part)
		if want := int(part * Images); held.Len() != want || train.Len() != Images-want {
			t.Errorf("Split(1, %g) holds out %d and trains on %d", part, held.Len(), train.Len())
		}
	}
}
