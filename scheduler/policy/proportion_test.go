package policy

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// atOneRate shares cores by trying all rates at which a member reaches or leaves one of its bounds.
func atOneRate(cores int32, members []proportionMember) []int32 {
	rates := []float64{0, 1e9}
	for _, m := range members {
		rates = append(rates, float64(m.Low)/float64(m.Want), float64(m.High)/float64(m.Want))
	}
	slices.Sort(rates)
	for k, from := range rates[:len(rates)-1] {
		to := rates[k+1]
		shares := make([]int32, len(members))
		var open []int
		left, wants := int64(cores), int64(0)
		for i, m := range members {
			switch at := (from + to) / 2 * float64(m.Want); {
			case at <= float64(m.Low):
				shares[i] = m.Low
			case at >= float64(m.High):
				shares[i] = m.High
			default:
				open, wants = append(open, i), wants+int64(m.Want)
				continue
			}
			left -= int64(shares[i])
		}
		if rate := float64(left) / max(float64(wants), 1e-9); to == from || left < 0 || len(open) > 0 &&
			(rate < from-1e-12 || rate > to+1e-12) || len(open) == 0 && left > 0 && to < 1e9 {
			continue
		}
		given := int64(0)
		remainder := func(i int) int64 { return left * int64(members[i].Want) % wants }
		for _, i := range open {
			shares[i] = int32(left * int64(members[i].Want) / wants)
			given += int64(shares[i])
		}
		slices.SortStableFunc(open, func(a, b int) int { return cmp.Compare(remainder(b), remainder(a)) })
		for n := range int(left - given) {
			if n < len(open) {
				shares[open[n]]++
			}
		}
		return shares
	}
	return nil
}

// Cores are shared at one rate for all members, within the bounds of each. Rounding is by largest remainders.
func TestDivideIsAtOneRate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := make([]proportionMember, rapid.IntRange(0, 7).Draw(t, "members"))
		lows := int32(0)
		for i := range members {
			m := &members[i]
			m.Want = rapid.Int32Range(1, 12).Draw(t, "want")
			m.Low = rapid.Int32Range(0, 6).Draw(t, "low")
			m.High = m.Low + rapid.Int32Range(0, 9).Draw(t, "above")
			lows += m.Low
		}
		cores := lows + rapid.Int32Range(0, 40).Draw(t, "cores")
		want := atOneRate(cores, members)
		divideInProportion(cores, members)
		sum, highs := int32(0), int32(0)
		for i, m := range members {
			sum, highs = sum+m.Share, highs+m.High
			if want == nil || m.Share != want[i] {
				t.Errorf("of %d cores member %d of %+v gets %d; at one rate they get %v", cores, i, members, m.Share, want)
			}
		}
		if sum != min(cores, highs) {
			t.Errorf("%d of %d cores are shared among %+v", sum, cores, members)
		}
	})
}

// Products of cores and requests of a large cluster do not overflow.
func TestDivideALargeCluster(t *testing.T) {
	members := []proportionMember{{Want: math.MaxInt32, High: math.MaxInt32}, {Want: math.MaxInt32, High: math.MaxInt32}}
	divideInProportion(1<<30+1, members)
	if members[0].Share != 1<<29+1 || members[1].Share != 1<<29 {
		t.Errorf("%+v", members)
	}
}
