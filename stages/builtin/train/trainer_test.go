package train

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"github.com/tfexp/tfexp/hardware/need"
)

// train runs steps of c, with threads(step) threads, and returns the weights
// and the losses.
func train(t *testing.T, c config, steps int, threads func(step int) int) ([]float64, float64) {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var tm team
	defer tm.close()
	tm.resize(threads(0))
	tr := newTrainer(c, &tm)
	for step := range steps {
		if n := threads(step); n != tm.threads {
			tm.resize(n)
		}
		tr.step()
	}
	return tr.state.Weights, tr.state.Loss
}

func constant(n int) func(int) int { return func(int) int { return n } }

func TestThreadsDoNotChangeTheResult(t *testing.T) {
	for _, args := range [][]string{
		{"softmax", "--batch", "1437"}, {"svm"}, {"mlp", "--batch", "64"}, {"mlp", "--hidden", "200,90"},
		{"cnn", "--optimizer", "sgd"},
	} {
		c := configOf(t, args...)
		const steps = 46 // one more than a pass
		w, loss := train(t, c, steps, constant(1))
		for name, threads := range map[string]func(int) int{
			"2": constant(2), "4": constant(4), "changing": func(step int) int { return 1 + step/7%4 },
		} {
			if testing.Short() && name != "changing" { // for the race detector
				continue
			}
			w2, loss2 := train(t, c, steps, threads)
			if !slices.Equal(w, w2) || loss != loss2 {
				t.Errorf("%q: %s threads end at loss %v, 1 thread at %v", args, name, loss2, loss)
			}
		}
	}
}

func TestSeedsGiveOtherCourses(t *testing.T) {
	a, _ := train(t, configOf(t, "mlp"), 5, constant(1))
	b, _ := train(t, configOf(t, "mlp", "--seed", "2"), 5, constant(1))
	if slices.Equal(a, b) {
		t.Error("seeds 1 and 2 give the same weights")
	}
}

func TestPassesSeeEveryImageOnce(t *testing.T) {
	var tm team
	tr := newTrainer(configOf(t, "softmax"), &tm)
	orders := map[int][]int{}
	for _, pass := range []int{0, 1, 0} {
		tr.shuffle(pass)
		sorted := slices.Sorted(slices.Values(tr.order))
		for i, image := range sorted {
			if i != image {
				t.Fatalf("pass %d lacks image %d", pass, i)
			}
		}
		if was, ok := orders[pass]; ok && !slices.Equal(was, tr.order) {
			t.Errorf("pass %d has two orders", pass)
		}
		orders[pass] = slices.Clone(tr.order)
	}
	if slices.Equal(orders[0], orders[1]) {
		t.Error("two passes have the same order")
	}
}

func TestAccuracy(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing after another, and long under the race detector")
	}
	for _, test := range []struct {
		args   []string
		epochs int
		want   float64
		more   bool // in the long form
	}{
		{[]string{"softmax"}, 60, 0.92, false},
		{[]string{"svm"}, 60, 0.92, true},
		{[]string{"mlp"}, 30, 0.95, false},
		{[]string{"mlp", "--optimizer", "sgd"}, 30, 0.95, true},
		{[]string{"cnn"}, 12, 0.94, true},
	} {
		if raceEnabled && test.args[0] == "cnn" {
			continue // ten times slower, and the sums are the same
		}
		if test.more && !need.Long() {
			continue
		}
		c := configOf(t, test.args...)
		var tm team
		tm.resize(runtime.GOMAXPROCS(0))
		tr := newTrainer(c, &tm)
		for range test.epochs * tr.stepsPerEpoch() {
			tr.step()
		}
		if got := tr.accuracy(); got < test.want {
			t.Errorf("%q: held-out accuracy %.3f after %d epochs, want %.2f", test.args, got, test.epochs, test.want)
		}
		tm.close()
	}
}

// Epochs that allocate would be slowed down by the collector now and then.
func TestStepsDoNotAllocate(t *testing.T) {
	var tm team
	tm.resize(1)
	tr := newTrainer(configOf(t, "cnn", "--filters", "2,2"), &tm)
	tr.step()
	if n := testing.AllocsPerRun(20, tr.step); n > 8 {
		t.Errorf("a step allocates %.0f times, want at most 8", n)
	}
}

func TestTeamDoesEveryItemOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var tm team
	for _, threads := range []int{1, 4, 2, 3} {
		tm.resize(threads)
		for _, items := range []int{0, 1, 2, 3, 17, 100} {
			counts := make([]atomic.Int32, items)
			tm.do(items, func(worker, item int) {
				counts[item].Add(1)
				if worker >= threads {
					t.Errorf("worker %d of %d", worker, threads)
				}
			})
			for i := range counts {
				if n := counts[i].Load(); n != 1 {
					t.Errorf("%d threads: item %d of %d was done %d times", threads, i, items, n)
				}
			}
		}
	}
	tm.close()
}

func BenchmarkEpoch(b *testing.B) {
	for _, args := range [][]string{{"softmax"}, {"svm"}, {"mlp"}, {"mlp", "--hidden", "256,128", "--batch", "64"},
		{"cnn", "--batch", "64"}} {
		for _, threads := range []int{1, 2} {
			c, _, err := parse(args, nil)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(nameOf(args, threads), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
				var tm team
				defer tm.close()
				tm.resize(threads)
				tr := newTrainer(c, &tm)
				for b.Loop() {
					for range tr.stepsPerEpoch() {
						tr.step()
					}
					tr.accuracy()
				}
			})
		}
	}
}

// stepsPerEpoch is the number of steps in an epoch; the last one of a pass over the data may be smaller.
func (tr *trainer) stepsPerEpoch() int {
	return ceil(tr.train.Len(), tr.config.batch) * tr.config.passes
}
