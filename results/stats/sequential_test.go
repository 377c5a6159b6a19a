package stats

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
)

// The numbers of Looks begin with MinPairs, grow by at most a quarter from look to look, and end with all pairs.
func TestLooks(t *testing.T) {
	for most, want := range map[int][]int{
		1: {1}, 3: {3}, 4: {3, 4}, 6: {3, 4, 5, 6}, 12: {3, 4, 5, 6, 7, 8, 10, 12}, 40: {3, 4, 5, 6, 7, 8, 10, 12, 15, 18, 22, 27, 33, 40},
	} {
		if got := Looks(most); !slices.Equal(got, want) {
			t.Errorf("up to %d: %v, want %v", most, got, want)
		}
	}
}

// The bounds of equally spaced looks equal Pocock's, as published for this spending function: z of 2.44, 2.43, 2.41,
// 2.40 and 2.39. The R package gsDesign computes the same (sfLDPocock, two-sided 0.05).
func TestBoundsOfPocock(t *testing.T) {
	want := []float64{2.4380, 2.4268, 2.4101, 2.3966, 2.3859}
	for k, p := range spendErrors([]int{10, 20, 30, 40, 50}, func(n int) float64 { return 0.05 * pocock(float64(n)/50) }) {
		z := math.Sqrt2 * math.Erfinv(1-p)
		if math.Abs(z-want[k]) > 0.002 {
			t.Errorf("look %d: z = %.4f, want %.4f", k+1, z, want[k])
		}
	}
}

// The level of a look does not depend on later looks. Each interval agrees with its p-value. For a smaller error of all
// looks, the levels equal the ones computed directly for that error.
func TestLevelsOfLooks(t *testing.T) {
	if got := LookAt([]int{7}, 7, 7, 0.95).Level(0.95); math.Abs(got-0.95) > 1e-9 {
		t.Errorf("one look is at the level %g", got)
	}
	looks := Looks(40)
	if a, b := LookAt(looks, 40, 9, 0.95), LookAt(looks, 40, 10, 0.95); a != b {
		t.Errorf("9 pairs, of which one was dropped, are at %v, 10 at %v", a, b)
	}
	if LookAt(looks, 40, 41, 0.95) != LookAt(looks, 40, 40, 0.95) {
		t.Error("beyond the last look")
	}
	more := append(slices.Clone(looks), 60, 80)
	for k, n := range looks {
		before, after := LookAt(looks, 40, n, 0.95), LookAt(more, 40, n, 0.95)
		if before != after {
			t.Errorf("look %d is at %v, and at %v when replicates are added later", n, before, after)
		}
		for _, level := range []float64{0.95, 0.99, 0.995} {
			if got := before.P(1 - before.Level(level)); math.Abs(got-(1-level)) > 1e-12 {
				t.Errorf("an interval at %g has the p-value %g", level, got)
			}
			exact := nominalErrors(looks, 40, 1-level)[k]
			if got := 1 - before.Level(level); math.Abs(got/exact-1) > 0.03 {
				t.Errorf("look %d for %g: %g, want %g", n, level, got, exact)
			}
		}
	}
	for _, n := range more[len(looks):] {
		if level := LookAt(more, 40, n, 0.95).Level(0.95); level < 0.985 {
			t.Errorf("added replicates, %d in all, are at %g", n, level)
		}
	}
}

func pocock(t float64) float64 { return math.Log1p((math.E - 1) * t) }

// nothing draws experiments without a difference: replicates of some policies. The policies run in a random order,
// which is reversed in every second replicate.
type nothing struct {
	name string
	draw func(r *rand.Rand) func() float64 // returns a function that draws the values of one experiment in turn
}

func (d nothing) experiment(r *rand.Rand, replicates, policies int) [][]float64 {
	out := make([][]float64, policies)
	next := d.draw(r)
	var order []int
	for i := range replicates {
		if i%2 == 0 {
			order = r.Perm(policies)
		} else {
			slices.Reverse(order)
		}
		for _, m := range order {
			out[m] = append(out[m], next())
		}
	}
	return out
}

// nothings returns kinds of experiments without a difference: normal, skewed and heavy-tailed values, and a machine
// whose speed varies like 1/f noise.
func nothings(seed uint64) []nothing {
	pink := pinkNoise(rand.New(rand.NewPCG(seed, 5)), 1<<20)
	independent := func(value func(*rand.Rand) float64) func(*rand.Rand) func() float64 {
		return func(r *rand.Rand) func() float64 { return func() float64 { return value(r) } }
	}
	return []nothing{
		{"normal", independent(func(r *rand.Rand) float64 { return 10 + r.NormFloat64() })},
		{"log-normal", independent(func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()) })},
		{"heavy-tailed", independent(func(r *rand.Rand) float64 { return 100 + studentOf3(r) })},
		{"1/f", func(r *rand.Rand) func() float64 {
			at := r.IntN(len(pink)) // random starts rarely overlap
			return func() float64 {
				at = (at + 1) % len(pink)
				return math.Exp(0.1 * pink[at])
			}
		}},
	}
}

// seedOf is the seed of the tests below, which the command line can set: go test ./results/stats -run Optional -args
// -looks-seed 7
var seedOf = flag.Uint64("looks-seed", 3, "seed of the experiments that are looked at again and again")

// Of 2,000 experiments without a difference, at most 5% claim a difference at any look, within two standard errors.
// Families have one, four and ten comparisons. Some experiments follow the planned looks and then get more replicates.
// In others, somebody looks at a fixed number of replicates after each one and then adds as many. The intervals hold
// the true value at the first look that claims a difference.
func TestOptionalStopping(t *testing.T) {
	trials := need.Cases(200, 2000)
	const most, added = 40, 80
	looks := append(Looks(most), added)
	for _, d := range nothings(*seedOf) {
		for _, family := range []int{1, 4, 10} {
			rng := rand.New(rand.NewPCG(uint64(family), *seedOf))
			var planned, more, fixed, peeked int // numbers of claims
			held, all := 0, 0
			for range trials {
				values := d.experiment(rng, added, family+1)
				p := func(n int) float64 { // corrected p-value of the family
					least := 1.0
					for _, v := range values[1:] {
						least = min(least, newMeanTest(differences(values[0][:n], v[:n]), ofDifferences).p(0))
					}
					return min(1, least*float64(family))
				}
				at := 0 // number of pairs at the look that claims a difference
				for _, n := range looks {
					if at = n; joint(LookAt(looks, most, n, 0.95), p(n), family) < 0.05 {
						if more++; n <= most {
							planned++
						}
						break
					}
				}
				if family == 1 {
					one := ComparePairs(values[0][:at], values[1][:at], LookAt(looks, most, at, 0.95).Level(0.95))
					if all++; one.DifferenceLow <= 0 && 0 <= one.DifferenceHigh {
						held++
					}
				}
				last := p(most) < 0.05
				if last {
					fixed++
				}
				for n := MinPairs; n < most && !last; n++ {
					last = joint(LookAt(Looks(most), most, n, 0.95), p(n), family)/0.1 < 0.05
				}
				if last || joint(LookAt([]int{most, added}, most, added, 0.95), p(added), family) < 0.05 {
					peeked++
				}
			}
			share := func(n int) float64 { return float64(n) / float64(trials) }
			t.Logf("%-12s %2d comparisons: %.2f%% claim a difference, %.2f%% with added replicates; of a fixed number %.2f%%, "+
				"looked at and added to %.2f%%", d.name, family, 100*share(planned), 100*share(more), 100*share(fixed), 100*share(peeked))
			bound := 0.05 + 2*math.Sqrt(0.05*0.95/float64(trials))
			if share(planned) > bound || share(more) > bound || d.name != "1/f" && share(peeked) > bound {
				t.Errorf("%s, %d comparisons: more than 5%% claim a difference", d.name, family)
			}
			if family == 1 && float64(held)/float64(all) < 0.95-2*math.Sqrt(0.05*0.95/float64(trials)) {
				t.Errorf("%s: %d of %d intervals hold the truth", d.name, held, all)
			}
		}
	}
}

// joint returns the corrected p-value of a family at a look, given the smallest corrected p-value that ignores looks.
func joint(l Look, p float64, family int) float64 {
	return min(1, l.P(p/float64(family))*float64(family))
}

// rule decides after each pair whether an experiment ends with a claim, from the pairs so far.
type rule struct {
	name    string
	decides func(n int, diff []float64, alpha float64) bool
}

// rules returns the rules that were considered. Some are looks that spend the error in different ways. The others are
// confidence sequences, which are valid after any number of pairs: mixtures of t likelihoods over effects (T. L. Lai,
// "On Confidence Sequences", The Annals of Statistics 4(2), 1976), and bets on signs by the rule of Krichevsky and
// Trofimov.
func rules(most int) (list []rule) {
	looks := Looks(most)
	spending := func(name string, part float64, shape func(t float64) float64) {
		known := map[float64][]float64{}
		list = append(list, rule{name, func(n int, diff []float64, alpha float64) bool {
			if known[alpha] == nil {
				known[alpha] = spendErrors(looks, func(n int) float64 { return alpha * part * shape(float64(n)/float64(most)) })
			}
			return newMeanTest(diff, ofDifferences).p(0) < known[alpha][slices.Index(looks, n)]
		}})
	}
	spending("Pocock, 0.9 of the error (certain)", plannedPart, pocock)
	spending("Pocock", 1, pocock)
	spending("proportional to pairs", 1, func(t float64) float64 { return t })
	spending("to their square", 1, func(t float64) float64 { return t * t })
	spending("O'Brien and Fleming", 1, func(t float64) float64 { return upperTail(2.2414/math.Sqrt(t)) / upperTail(2.2414) })
	mixture := func(name string, skewed bool) {
		list = append(list, rule{name, func(n int, diff []float64, alpha float64) bool {
			m := newMeanTest(diff, ofDifferences)
			t, side := m.mean/m.se, m.below
			if t < 0 {
				side = m.above
			}
			if skewed {
				t /= side
			}
			const variance = 1 // variance of the effects, in standard deviations of the values
			a, N := t*t/float64(n-1), float64(n)
			return -math.Log1p(N*variance)/2+N/2*(math.Log1p(a)-math.Log1p(a/(1+N*variance))) > -math.Log(alpha)
		}})
	}
	mixture("mixture of t", false)
	mixture("mixture of t, corrected for skewness", true)
	list = append(list, rule{"bets on signs", func(n int, diff []float64, alpha float64) bool {
		up := 0.0
		for _, d := range diff {
			if d > 0 {
				up++
			}
		}
		beta := func(a, b float64) float64 {
			x, _ := math.Lgamma(a)
			y, _ := math.Lgamma(b)
			z, _ := math.Lgamma(a + b)
			return x + y - z
		}
		return float64(n)*math.Ln2+beta(up+0.5, float64(n)-up+0.5)-beta(0.5, 0.5) > -math.Log(alpha)
	}})
	return list
}

// The test compares rules to stop. It counts how many experiments without a difference claim one, and how many pairs
// experiments with a difference need. The fixed number of pairs that detects a difference as often is 1. Effects are 5,
// 10, 20 and 50%, and pairs differ by 10%. The rule of certain needs at most 0.7 on average, and less than confidence
// sequences. The long form prints the figures of docs/statistics.md.
func TestRulesToStop(t *testing.T) {
	trials := need.Cases(200, 2000)
	const most, spread = 40, 0.1
	looks, all := Looks(most), rules(most)
	claims := make([]string, len(all))
	for _, d := range nothings(*seedOf + 1) {
		for _, family := range []int{1, 4, 10} {
			rng, count := rand.New(rand.NewPCG(uint64(family), *seedOf+1)), make([]int, len(all))
			for range trials {
				values := d.experiment(rng, most, family+1)
				for i, r := range all {
					if slices.ContainsFunc(looks, func(n int) bool {
						return slices.ContainsFunc(values[1:], func(v []float64) bool {
							return r.decides(n, differences(values[0][:n], v[:n]), 0.05/float64(family))
						})
					}) {
						count[i]++
					}
				}
			}
			for i := range all {
				claims[i] += fmt.Sprintf(" %.1f", 100*float64(count[i])/float64(trials))
			}
		}
	}
	ratios := make([]float64, len(all))
	effects := []float64{0.05, 0.1, 0.2, 0.5}
	pairs := make([]string, len(all))
	for _, effect := range effects {
		rng := rand.New(rand.NewPCG(*seedOf, uint64(100*effect)))
		sum, decided := make([]int, len(all)), make([]int, len(all))
		found := make([]int, 2*most) // with a fixed number of pairs
		for range trials {
			base, other := make([]float64, len(found)), make([]float64, len(found))
			for i := range base {
				base[i] = 1 + spread/math.Sqrt2*rng.NormFloat64()
				other[i] = 1 - effect + spread/math.Sqrt2*rng.NormFloat64()
			}
			for n := MinPairs; n < len(found); n++ {
				if newMeanTest(differences(base[:n], other[:n]), ofDifferences).p(0) < 0.05 {
					found[n]++
				}
			}
			for i, r := range all {
				k := slices.IndexFunc(looks, func(n int) bool { return r.decides(n, differences(base[:n], other[:n]), 0.05) })
				if k >= 0 {
					decided[i], sum[i] = decided[i]+1, sum[i]+looks[k]
				} else {
					sum[i] += most
				}
			}
		}
		for i := range all {
			fixed := MinPairs
			for fixed < len(found)-1 && float64(found[fixed]) < min(float64(decided[i]), 0.999*float64(trials)) {
				fixed++
			}
			mean := float64(sum[i]) / float64(trials)
			ratios[i] += mean / float64(fixed) / float64(len(effects))
			pairs[i] += fmt.Sprintf(" %4.1f of %d (%.1f%%)", mean, fixed, 100*float64(decided[i])/float64(trials))
		}
	}
	for i, r := range all {
		t.Logf("%-36s claims%s; pairs%s; ratio %.2f", r.name, claims[i], pairs[i], ratios[i])
		if i >= 5 && ratios[i] < ratios[0] {
			t.Errorf("%s take fewer pairs than certain", r.name)
		}
	}
	if ratios[0] > 0.7 && need.Long() {
		t.Errorf("%.2f of the fixed number of pairs, in the mean over effects", ratios[0])
	}
}

func differences(b, c []float64) []float64 {
	diff := make([]float64, len(b))
	for i := range diff {
		diff[i] = c[i] - b[i]
	}
	return diff
}

func studentOf3(r *rand.Rand) float64 {
	sum := 0.0
	for range 3 {
		x := r.NormFloat64()
		sum += x * x
	}
	return r.NormFloat64() / math.Sqrt(sum/3)
}

// pinkNoise returns n values of noise with a spectrum near 1/f. It is a sum of random walks that return to 0 at rates
// that differ by factors of four.
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
