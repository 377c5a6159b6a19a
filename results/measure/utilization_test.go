package measure

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// Products and sums of resources and times are exact, or stop at the greatest number. Sums over jobs have 15 correct
// digits at any size.
func TestResourceTimes(t *testing.T) {
	draws := rand.New(rand.NewPCG(63, 0))
	draw := func() int64 { return draws.Int64() >> draws.IntN(63) }
	most := big.NewInt(math.MaxInt64)
	saturated := func(x *big.Int) int64 {
		if x.Cmp(most) > 0 {
			return math.MaxInt64
		}
		return x.Int64()
	}
	for range 2000 {
		a, b := draw(), draw()
		if got, want := times(a, b), saturated(new(big.Int).Mul(big.NewInt(a), big.NewInt(b))); got != want {
			t.Fatalf("%d × %d = %d, want %d", a, b, got, want)
		}
		if got, want := plus(a, b), saturated(new(big.Int).Add(big.NewInt(a), big.NewInt(b))); got != want {
			t.Fatalf("%d + %d = %d, want %d", a, b, got, want)
		}
		sum := ResourceTime{exact: -a}
		want := big.NewInt(-a)
		for range 1 + draws.IntN(20) {
			part := draw()
			sum.add(part)
			want.Add(want, big.NewInt(part))
		}
		if w, _ := new(big.Float).SetInt(want).Float64(); math.Abs(sum.value()-w) > 4e-15*math.Abs(w)+2e3 {
			t.Fatalf("the sum is %v, want %v", sum.value(), w)
		}
	}
}
