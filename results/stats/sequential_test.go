package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
)

// Looks begin with the fewest pairs that can be compared, grow by at most a quarter, and end with all.
func TestLooks(t *testing.T) {
	for most, want := range map[int][]int{
		1: {1}, 3: {3}, 4: {3, 4}, 6: {3, 4, 5, 6}, 12: {3, 4, 5, 6, 7, 8, 10, 12}, 40: {3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 33, 40},
	} {
		if got := Looks(most); !slices.Equal(got, want) {
			t.Errorf("up to %d: %v, want %v", most, got, want)
		}
	}
}

// The bounds of equally spaced looks are Pocock's, to the digits of published tables for this spending function
// (for example of the R package gsDesign, sfLDPocock, two-sided 0.05): z of 2.44, 2.43, 2.41, 2.40 and 2.39.
func TestBoundsOfPocock(t *testing.T) {
	want := []float64{2.4380, 2.4268, 2.4101, 2.3966, 2.3859}
	for k, p := range nominalErrors([]int{10, 20, 30, 40, 50}, 0.05) {
		z := math.Sqrt2 * math.Erfinv(1-p)
		if math.Abs(z-want[k]) > 0.002 {
			t.Errorf("look %d: z = %.4f, want %.4f", k+1, z, want[k])
		}
	}
	if got := AtLook([]int{7}, 7, 0.95); math.Abs(got-0.95) > 1e-9 {
		t.Errorf("one look is at the level %g", got)
	}
	looks := Looks(40)
	if a, b := AtLook(looks, 9, 0.95), AtLook(looks, 10, 0.95); a != b {
		t.Errorf("9 pairs, of which one was dropped, are at %g, 10 at %g", a, b)
	}
	if AtLook(looks, 41, 0.95) != AtLook(looks, 40, 0.95) {
		t.Error("beyond the last look")
	}
}

// Of 2,000 experiments without a difference that are looked at again and again, at most 5% claim one at any look, within
// two standard errors: for normal, skewed and heavy-tailed values, for a machine whose speed moves like 1/f noise, and for
// families of one, four and ten comparisons. The intervals hold the truth at the first look that decides.
func TestOptionalStopping(t *testing.T) {
	trials := need.Cases(300, 2000)
	pink := pinkNoise(rand.New(rand.NewPCG(5, 5)), 1<<20)
	draws := map[string]func(r *rand.Rand, n, members int) [][]float64{}
	independent := func(value func(*rand.Rand) float64) func(r *rand.Rand, n, members int) [][]float64 {
		return func(r *rand.Rand, n, members int) [][]float64 {
			out := make([][]float64, members)
			for m := range out {
				for range n {
					out[m] = append(out[m], value(r))
				}
			}
			return out
		}
	}
	draws["normal"] = independent(func(r *rand.Rand) float64 { return 10 + r.NormFloat64() })
	draws["log-normal"] = independent(func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) })
	draws["heavy-tailed"] = independent(func(r *rand.Rand) float64 { return 100 + studentOf3(r) })
	draws["1/f"] = func(r *rand.Rand, n, members int) [][]float64 { // one run after the other, in ABBA order
		out := make([][]float64, members)
		at := r.IntN(len(pink)) // stretches hardly overlap
		for i := range n {
			for k := range members {
				m := k
				if i%2 == 1 {
					m = members - 1 - k
				}
				out[m] = append(out[m], math.Exp(0.1*pink[at%len(pink)]))
				at++
			}
		}
		return out
	}
	const most = 40
	looks := Looks(most)
	for name, draw := range draws {
		for _, family := range []int{1, 4, 10} {
			rng := rand.New(rand.NewPCG(uint64(family), 3))
			claims, held, all := 0, 0, 0
			for range trials {
				values := draw(rng, most, family+1)
				claimed := false
				for k, n := range looks {
					var p []float64
					var one Paired
					for _, v := range values[1:] {
						one = ComparePairs(values[0][:n], v[:n], AtLook(looks, n, 0.95))
						p = append(p, one.P*0.05/(1-AtLook(looks, n, 0.95)))
					}
					decided := slices.Min(Holm(p)) < 0.05
					claimed = claimed || decided
					if family == 1 && (decided || k == len(looks)-1) {
						all++
						if one.DifferenceLow <= 0 && 0 <= one.DifferenceHigh {
							held++
						}
						break
					}
					if claimed {
						break
					}
				}
				if claimed {
					claims++
				}
			}
			share := float64(claims) / float64(trials)
			t.Logf("%-12s %2d comparisons: %.2f%% claim a difference", name, family, 100*share)
			if share > 0.05+2*math.Sqrt(0.05*0.95/float64(trials)) {
				t.Errorf("%s, %d comparisons: %.2f%% claim a difference", name, family, 100*share)
			}
			if family == 1 && float64(held)/float64(all) < 0.95-2*math.Sqrt(0.05*0.95/float64(trials)) {
				t.Errorf("%s: %d of %d intervals hold the truth", name, held, all)
			}
		}
	}
}

// Looking again and again takes fewer pairs, in the mean, than the fixed number which detects a difference as often: about
// 0.7 of it over effects of 5, 10, 20 and 50% on values that differ by 10% from pair to pair (0.69 to 0.71 by the seed).
func TestPairsUntilDecided(t *testing.T) {
	trials := need.Cases(400, 1000)
	const most, spread = 40, 0.1
	looks := Looks(most)
	ratios := 0.0
	effects := []float64{0.05, 0.1, 0.2, 0.5}
	for _, effect := range effects {
		rng := rand.New(rand.NewPCG(9, uint64(100*effect)))
		draw := func(n int) (b, c []float64) {
			for range n {
				b = append(b, 1+spread/math.Sqrt2*rng.NormFloat64())
				c = append(c, 1-effect+spread/math.Sqrt2*rng.NormFloat64())
			}
			return b, c
		}
		pairs, decided := 0, 0
		for range trials {
			b, c := draw(most)
			for _, n := range looks {
				level := AtLook(looks, n, 0.95)
				if r := ComparePairs(b[:n], c[:n], level); r.P < 1-level && Finite(r.RatioLow) {
					decided, pairs = decided+1, pairs+n
					break
				} else if n == most {
					pairs += n
				}
			}
		}
		power := float64(decided) / float64(trials)
		fixed := MinPairs
		for ; fixed < 200; fixed++ {
			found := 0
			for range trials {
				if b, c := draw(fixed); ComparePairs(b, c, 0.95).P < 0.05 {
					found++
				}
			}
			if float64(found)/float64(trials) >= min(power, 0.999) {
				break
			}
		}
		mean := float64(pairs) / float64(trials)
		ratios += mean / float64(fixed)
		t.Logf("an effect of %2.0f%%: %.1f pairs in the mean, %.1f%% decided; %d fixed ones detect it as often: %.2f", 100*effect, mean,
			100*power, fixed, mean/float64(fixed))
	}
	if mean := ratios / float64(len(effects)); mean > 0.75 {
		t.Errorf("%.2f of the fixed number of pairs, in the mean over effects", mean)
	}
}

func studentOf3(r *rand.Rand) float64 {
	sum := 0.0
	for range 3 {
		x := r.NormFloat64()
		sum += x * x
	}
	return r.NormFloat64() / math.Sqrt(sum/3)
}

// pinkNoise is a sum of random walks that return to 0 at rates which differ by factors of four: its spectrum is near 1/f.
func pinkNoise(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for rate := 0.5; rate > 1e-4; rate /= 4 {
		x := 0.0
		for i := range out {
			x += -rate*x + math.Sqrt(2*rate)*r.NormFloat64()
			out[i] += x
		}
	}
	return out
}
