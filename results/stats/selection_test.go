package stats

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A quantile of values in any order is that of the sorted ones, to the bit.
func TestQuantileOfAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Float64Range(0, 5),
			rapid.Map(rapid.IntRange(0, 3), func(n int) float64 { return float64(n) }))
		v := rapid.SliceOfN(value, 1, 200).Draw(t, "values")
		q := rapid.OneOf(rapid.SampledFrom([]float64{0, 0.5, 0.95, 1}), rapid.Float64Range(0, 1)).Draw(t, "q")
		sorted := slices.Sorted(slices.Values(v))
		if got, want := QuantileOf(v, q), Quantile(sorted, q); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
		if slices.Sort(v); !slices.Equal(v, sorted) {
			t.Fatal("a value was lost")
		}
	})
}
