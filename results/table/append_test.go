package table

import (
	"bytes"
	"encoding/csv"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestAppendNumber: the fast path writes the same digits as strconv.
func TestAppendNumber(t *testing.T) {
	values := []float64{0, math.Copysign(0, -1), -1.5, 1e-7, 5e-7, 4.9999999e-7, 1e12, 1e300, 0.1, 2.5e-6, 1.0000005,
		1099511.627776, 123456789.123456}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		v := rng.Float64() * math.Pow(10, float64(rng.IntN(14)-7))
		values = append(values, v, math.Round(v*1e6)/1e6, (math.Floor(v*1e6)+0.5)/1e6)
	}
	for _, v := range values {
		want := strconv.FormatFloat(v, 'f', decimals, 64)
		if v == 0 {
			want = "0.000000"
		}
		if got := string(AppendNumber(nil, v)); got != want {
			t.Fatalf("%b: %s instead of %s", v, got, want)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got := AppendNumber(nil, v); len(got) > 0 {
			t.Errorf("%v: %s instead of an empty field", v, got)
		}
	}
}

// TestAppendInt: whole numbers are written as by strconv.
func TestAppendInt(t *testing.T) {
	check := func(n int64) {
		if got, want := string(AppendInt([]byte("x"), n)), "x"+strconv.FormatInt(n, 10); got != want {
			t.Fatalf("%s instead of %s", got, want)
		}
	}
	for n := range int64(20_000) {
		check(n)
	}
	for n := int64(1); n < math.MaxInt64/10; n *= 10 {
		check(n - 1)
		check(n)
		check(9*n + n/3)
		check(-n)
	}
	check(math.MaxInt64)
	check(math.MinInt64)
}

// TestQuoteField: fields are quoted as by encoding/csv.
func TestQuoteField(t *testing.T) {
	for _, s := range []string{"a", "", `\.`, " a", "a ", "\ta", "a,b", `say "a"`, "a\nb", "a\rb", "\u00a0a", "ä"} {
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		if err := w.Write([]string{"x", s}); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		got := "x," + string(quoteField([]byte(s), 0)) + "\n"
		if got != b.String() {
			t.Errorf("%q: %q instead of %q", s, got, b.String())
		}
	}
}
