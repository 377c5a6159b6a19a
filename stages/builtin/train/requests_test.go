//go:build unix

package train

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/jobs/contract"
)

// alone runs a training of one process as a part of a job, so that it can be
// watched.
func alone(t *testing.T, env []string, args ...string) *job {
	t.Helper()
	j := newJob(t, map[string]int{"worker": 1}, env, args...)
	j.startAll()
	return j
}

// A killed training resumes from its last checkpoint. Its lost work is known to the step, and its result is the same.
func TestCheckpointsAtAnInterval(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing after another, and long under the race detector")
	}
	for _, every := range []string{"700steps", "100ms"} {
		t.Run(every, func(t *testing.T) {
			env := []string{"TFEXP_CHECKPOINT_DIR=" + t.TempDir(), "TFEXP_CHECKPOINT_EVERY=" + every}
			j := alone(t, env, "mlp", "--epochs", "1000000")
			j.until(`"checkpoint"`)
			j.until(`"epoch":`)
			j.until(`"epoch":`)
			j.signal(syscall.SIGKILL, "worker 0")
			j.wait("worker 0")
			first := report(t, j.chief().output())
			epochs := strconv.Itoa(first.Progress.Epoch + 20)
			again := alone(t, env, "mlp", "--epochs", epochs)
			again.ends(0, "worker 0")
			out := again.chief().output()
			second := report(t, out)
			if len(second.Resumed) != 1 {
				t.Fatalf("resumed %v", second.Resumed)
			}
			resumed, last := second.Resumed[0], first.Checkpoints[len(first.Checkpoints)-1]
			if resumed.Step < last.Step || every == "700steps" && (resumed.Step%700 != 0 || resumed.LostSteps > 700) {
				t.Errorf("resumed %+v after the checkpoint %+v", resumed, last)
			}
			// The killed program had done the reported work, and less than another epoch.
			if at := resumed.Step + resumed.LostSteps; at < first.Progress.Step || at > first.Progress.Step+45 {
				t.Errorf("came to step %d, after %d was reported", at, first.Progress.Step)
			}
			whole, _ := output(t, nil, "mlp", "--epochs", epochs)
			want, got := course(t, whole), course(t, out)
			if diff := cmp.Diff(want[max(len(want)-len(got), 0):], got); diff != "" || len(got) < 20 {
				t.Errorf("%d epochs after the kill, which go another way (-whole +parts):\n%s", len(got), diff)
			}
		})
	}
}

func TestCheckpointsWithoutAPlace(t *testing.T) {
	_, errs := output(t, []string{"TFEXP_EPOCHS=2", "TFEXP_CHECKPOINT_EVERY=1steps"}, "softmax")
	if !strings.Contains(errs, "TFEXP_CHECKPOINT_DIR is not set") {
		t.Errorf("stderr %q", errs)
	}
}

// The training keeps its budget. Its last whole epoch counts, with the accuracy of that epoch.
func TestBudget(t *testing.T) {
	if raceEnabled {
		t.Skip("an epoch may take longer than the budget")
	}
	var out string
	var r contract.Report
	// On a busy machine an epoch may not end in time.
	for budget := 1; r.Accuracy == nil && budget <= 16; budget *= 2 {
		begin := time.Now()
		out, _ = output(t, []string{fmt.Sprintf("TFEXP_BUDGET=%d", budget)}, "mlp", "--passes", "3")
		if took := time.Since(begin); took < time.Duration(budget)*time.Second || took > patient {
			t.Errorf("a budget of %d s took %v", budget, took)
		}
		r = report(t, out)
	}
	if r.FinalAccuracy == nil || r.Accuracy == nil || *r.FinalAccuracy != *r.Accuracy || r.Progress.TimeLeft == nil {
		t.Fatalf("%+v", r)
	}
	if r.Progress.Step != r.Progress.Epoch*135 {
		t.Errorf("%d epochs of 135 steps after step %d", r.Progress.Epoch, r.Progress.Step)
	}
	if !strings.Contains(out, `{"tfexp":{"final_accuracy":`) {
		t.Error(out)
	}
}

// A budget too short for an epoch, or none at all, gives the accuracy at the start.
// A training with a target ends after the first epoch whose loss is at or below it,
// and else after its work.
func TestTargetLoss(t *testing.T) {
	whole, _ := output(t, []string{"TFEXP_EPOCHS=8"}, "softmax")
	for target, want := range map[string]int{"1.3": 4, "0.0001": 8} {
		out, _ := output(t, []string{"TFEXP_EPOCHS=8", "TFEXP_TARGET_LOSS=" + target}, "softmax")
		r := report(t, out)
		if r.Updates != want || len(r.Epochs) != want {
			t.Errorf("target %s: %d epochs, want %d:\n%s", target, r.Updates, want, whole)
		}
	}
}

func TestBudgetShorterThanAnEpoch(t *testing.T) {
	for _, budget := range []string{"0", "0.05"} {
		out, _ := output(t, []string{"TFEXP_EPOCHS=5", "TFEXP_BUDGET=" + budget}, "cnn", "--passes", "20")
		r := report(t, out)
		if r.FinalAccuracy == nil || math.Abs(*r.FinalAccuracy-0.1) > 0.02 || r.Updates != 0 || r.Save < 0 {
			t.Errorf("budget %s: %+v", budget, r)
		}
	}
}

// Work that is finished before the budget ends the training.
func TestBudgetLongerThanTheWork(t *testing.T) {
	out, _ := output(t, []string{"TFEXP_EPOCHS=3", "TFEXP_BUDGET=100"}, "mlp")
	if r := report(t, out); r.FinalAccuracy == nil || *r.FinalAccuracy != *r.Accuracy || r.Progress.Epoch != 3 {
		t.Errorf("%+v", r)
	}
}

// Neither a pause nor the time of other attempts is taken from a budget. A program that waits for a core may learn of
// its pause too late: then the test tries again.
func TestBudgetIsServiceTime(t *testing.T) {
	const budget, pause = 100.0, time.Second
	var env []string
	var left float64
	for tries := 1; ; tries++ {
		env = []string{fmt.Sprintf("TFEXP_BUDGET=%g", budget), "TFEXP_CHECKPOINT_DIR=" + t.TempDir()}
		begin := time.Now()
		j := alone(t, env, "softmax")
		j.until(`"epoch":3,`)
		j.signal(syscall.SIGSTOP, "worker 0")
		time.Sleep(pause)
		j.signal(syscall.SIGCONT, "worker 0")
		j.until(`"epoch":`)
		j.signal(syscall.SIGTERM, "worker 0")
		j.ends(contract.ExitStopped, "worker 0")
		ran := (time.Since(begin) - pause).Seconds()
		left = *report(t, j.chief().output()).Progress.TimeLeft
		if left < budget && left > budget-ran-0.1 {
			break
		}
		if tries == 5 {
			t.Fatalf("%.3f s are left of %g s, after %.3f s and a pause", left, budget, ran)
		}
	}
	begin := time.Now()
	again := alone(t, env, "softmax")
	again.until(`"epoch":`)
	again.signal(syscall.SIGTERM, "worker 0")
	again.ends(contract.ExitStopped, "worker 0")
	then := *report(t, again.chief().output()).Progress.TimeLeft
	if ran := time.Since(begin).Seconds(); then >= left || then < left-ran-0.1 {
		t.Errorf("of %.3f s, %.3f s are left after a second attempt of %.3f s", left, then, ran)
	}
}

// The remaining budget comes from the control file, even if the training began without a budget.
func TestTimeLeftIsTold(t *testing.T) {
	control := filepath.Join(t.TempDir(), "control")
	if err := writeMessage(control, contract.Message{Intra: 1}); err != nil {
		t.Fatal(err)
	}
	j := alone(t, []string{"TFEXP_EPOCHS=10000000", "TFEXP_CONTROL=" + control}, "softmax")
	j.until(`"epoch":3,`)
	told, begin := 0.5, time.Now()
	if err := writeMessage(control, contract.Message{Intra: 1, TimeLeft: &told, Change: "up"}); err != nil {
		t.Fatal(err)
	}
	j.ends(0, "worker 0")
	if took := time.Since(begin); took < 400*time.Millisecond || took > patient {
		t.Errorf("the training went on for %v, told 0.5 s", took)
	}
	if r := report(t, j.chief().output()); r.FinalAccuracy == nil || *r.FinalAccuracy < 0.5 {
		t.Errorf("final accuracy %v", r.FinalAccuracy)
	}
}

// A request is carried out once. An impossible request is refused with a reason.
func TestRequests(t *testing.T) {
	dir := t.TempDir()
	control := filepath.Join(dir, "control")
	write := func(m contract.Message) {
		m.Intra = 1
		if err := writeMessage(control, m); err != nil {
			t.Fatal(err)
		}
	}
	write(contract.Message{})
	env := []string{"TFEXP_CONTROL=" + control, "TFEXP_CHECKPOINT_DIR=" + filepath.Join(dir, "ck")}
	j := alone(t, env, "mlp", "--epochs", "10000000")
	j.until(`"epoch":2,`)
	no, first, none := 9, 0, 1
	warning := 30.0
	for i, m := range []struct {
		message contract.Message
		line    string
	}{
		{contract.Message{Warning: &warning}, `"checkpoint":{`},
		{contract.Message{Settings: settings("batch", "128", "momentum", "0.5")}, `"refused":"momentum","reason":"there is no setting`},
		{contract.Message{Settings: settings("batch", "0")}, `"refused":"batch","reason":"the value must be a whole number of`},
		{contract.Message{Deepen: &no}, `"refused":"deepen","reason":"there is no block 9: the network has 1,`},
		{contract.Message{Deepen: &none, Checkpoint: true}, `"checkpoint":{`},
		{contract.Message{Deepen: &first}, `"deepened":{"block":0,"layers":2`},
	} {
		m.message.Serial = int64(i + 1)
		write(m.message)
		j.until(m.line)
	}
	deepened := contract.Message{Serial: 6, Deepen: &first, Change: "down"}
	write(deepened) // the same request
	j.until(`"epoch"`)
	j.until(`"epoch"`)
	j.signal(syscall.SIGTERM, "worker 0")
	j.ends(contract.ExitStopped, "worker 0")
	r := report(t, j.chief().output())
	if len(r.Deepened) != 1 || len(r.Changed) != 1 || len(r.Refused) != 3 || len(r.Checkpoints) != 3 {
		t.Errorf("%+v", r)
	}
	// The checkpoint has the network, and the request that caused it.
	again := alone(t, env, "mlp", "--epochs", "10000000")
	again.until(`"epoch"`)
	again.until(`"epoch"`)
	again.signal(syscall.SIGTERM, "worker 0")
	again.ends(contract.ExitStopped, "worker 0")
	second := report(t, again.chief().output())
	if len(second.Deepened) != 0 || second.Progress.Epoch <= r.Progress.Epoch || *second.Loss > 0.5 {
		t.Errorf("%+v", second)
	}
	softmax := alone(t, []string{"TFEXP_CONTROL=" + control, "TFEXP_EPOCHS=3"}, "softmax")
	softmax.ends(0, "worker 0")
	r = report(t, softmax.chief().output())
	if len(r.Refused) != 1 || !strings.Contains(r.Refused[0].Reason, "last linear") {
		t.Errorf("%+v", r)
	}
}

// Deepening does not change the network's output, wherever the layer is added.
func TestDeepeningKeepsTheFunction(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing after another, and long under the race detector")
	}
	for _, args := range [][]string{
		{"mlp", "--hidden", "9,7"}, {"cnn", "--filters", "3,4", "--hidden", "11"},
		{"cnn", "--filters", "2,3,4", "--optimizer", "sgd"},
	} {
		c := configOf(t, args...)
		for block := range c.depths() {
			var tm team
			tm.resize(1)
			tr := newTrainer(c, &tm)
			epoch := func() (loss float64) {
				for range 45 {
					tr.step()
					loss += tr.loss() / float64(len(tr.present.images)) / 45
				}
				return loss
			}
			lossBefore := epoch()
			before := outputs(tr)
			w, m := slices.Clone(tr.state.Weights), slices.Clone(tr.state.M)
			for range 2 { // also a block that has been deepened before
				if err := tr.deepen(block); err != nil {
					t.Fatal(err)
				}
			}
			after := outputs(tr)
			for i := range before {
				if math.Abs(before[i]-after[i]) > 1e-5 {
					t.Fatalf("%q block %d: score %d is %g, was %g", args, block, i, after[i], before[i])
				}
			}
			if got := tr.state.Blocks[block]; got != 3 {
				t.Errorf("%q block %d has %d layers", args, block, got)
			}
			keptOld(t, tr, w, m)
			if loss := epoch(); !(loss < lossBefore) {
				t.Errorf("%q block %d: loss %g after the deepening, %g before", args, block, loss, lossBefore)
			}
		}
	}
}

// An impossible deepening is refused with the reason, and the network does not change.
func TestDeepeningIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing after another, and long under the race detector")
	}
	for _, test := range []struct {
		args  []string
		block int
		want  string
	}{
		{[]string{"cnn"}, 4, "there is no block 4: the network has 3, counted from 0"},
		{[]string{"cnn"}, -2, "there is no block -2"},
		{[]string{"mlp", "--activation", "tanh"}, 0, "unchanged only with relu"},
		{[]string{"mlp", "--blocks", "64"}, 0, "has 64 layers already"},
		{[]string{"mlp", "--hidden", "2500"}, 0, ""},
		{[]string{"mlp", "--hidden", "2880"}, 0, "would have 8513290 parameters"},
		{[]string{"softmax"}, 0, "after its last linear layer"},
	} {
		var tm team
		tm.resize(1)
		tr := newTrainer(configOf(t, test.args...), &tm)
		before := len(tr.state.Weights)
		_, err := local{tr}.deepen(test.block)
		if test.want == "" {
			if err != nil {
				t.Errorf("%q: %v", test.args, err)
			}
			continue
		}
		var no refusal
		if !errors.As(err, &no) || !strings.Contains(no.Error(), test.want) || len(tr.state.Weights) != before {
			t.Errorf("%q block %d: %v, want %q", test.args, test.block, err, test.want)
		}
	}
}

// The learning rate decays by epochs, and restarts with a deepening.
func TestRates(t *testing.T) {
	var tm team
	tm.resize(1)
	tr := newTrainer(configOf(t, "mlp", "--learning-rate", "0.004", "--decay", "0.5", "--restart-rate", "0.01"), &tm)
	for i, want := range []float64{0.004, 0.002, 0.01, 0.005} {
		if i == 2 {
			if err := tr.deepen(0); err != nil {
				t.Fatal(err)
			}
		}
		if got := tr.rate(); math.Abs(got-want) > 1e-12 {
			t.Errorf("epoch %d has the rate %g, want %g", i, got, want)
		}
		if i == 2 {
			tr.state.RateEpoch = i
		}
		for range 45 {
			tr.step()
		}
	}
}

var deepenedSeeds = flag.Int("deepened-seeds", 1, "trainings for each accuracy of TestDeepenedAccuracy")

// TestDeepenedAccuracy measures the effect of a deepening on the digits: a CNN after 10 epochs, deepened and not, after
// 10 more. The README of the programs has its figures with three seeds; with one seed, one block is deepened after 6.
func TestDeepenedAccuracy(t *testing.T) {
	if raceEnabled || testing.Short() {
		t.Skip("trains for a while")
	}
	blocks := []int{1}
	if *deepenedSeeds > 1 {
		blocks = []int{-1, 0, 1, 2}
	}
	for _, block := range blocks {
		var last, mean float64
		epochs, seeds := 10, *deepenedSeeds
		if seeds == 1 {
			epochs = 6
		}
		for seed := range seeds {
			var tm team
			tm.resize(1)
			tr := newTrainer(configOf(t, "cnn", "--seed", strconv.Itoa(seed+1)), &tm)
			for epoch := range 2 * epochs {
				if epoch == epochs && block >= 0 {
					if err := tr.deepen(block); err != nil {
						t.Fatal(err)
					}
				}
				for range tr.stepsPerEpoch() {
					tr.step()
				}
				if epoch >= 2*epochs-5 {
					mean += tr.accuracy() / 5 / float64(seeds)
				}
			}
			last += tr.accuracy() / float64(seeds)
		}
		t.Logf("deepened block %d (-1: none): accuracy %.4f, mean of the last five epochs %.4f", block, last, mean)
		if last < 0.93 {
			t.Errorf("accuracy %.4f", last)
		}
	}
}

// keptOld checks that the optimizer's state of the old weights is unchanged,
// and its state of the new weights is 0.
func keptOld(t *testing.T, tr *trainer, w, m []float64) {
	t.Helper()
	at, old := 0, 0
	for i, l := range tr.net.Layers {
		weights, biases := l.Params()
		n := weights + biases
		if tr.state.Born[i] == 0 {
			if !slices.Equal(tr.state.Weights[at:at+n], w[old:old+n]) || !slices.Equal(tr.state.M[at:at+n], m[old:old+n]) {
				t.Errorf("layer %d has changed", i)
			}
			old += n
		} else if slices.ContainsFunc(tr.state.M[at:at+n], func(x float64) bool { return x != 0 }) {
			t.Errorf("layer %d is new, and has a state", i)
		}
		at += n
	}
	if old != len(w) {
		t.Errorf("%d of %d old parameters", old, len(w))
	}
}

// outputs are the scores of some images.
func outputs(tr *trainer) []float64 {
	const n = 20
	ws := tr.net.NewWorkspace(n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range ws.Values[0] {
		ws.Values[0][i] = 2 * r.Float64()
	}
	return slices.Clone(tr.net.Forward(tr.state.Weights, ws, n))
}
