package progress

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/jobs/contract"
)

// Lines of programs, as they come in pieces; the patterns are the ones that tfexp init writes.
func TestProgressLines(t *testing.T) {
	for _, c := range []struct {
		name, pattern, output string
		steps                 bool
		want                  []string
	}{
		{"print", `[Ee]poch\D*(?P<epoch>\d+)(?:.*?\bloss\W+(?P<loss>[\d.eE+-]+))?`, "begin\nEpoch 1/3 - loss: 0.41\nepoch 2, val 3\n", false,
			[]string{"1 0 0.41 -", "2 0 - -"}},
		{"from 0", `Epoch (?P<epoch0>\d+): 100%.*?loss=(?P<loss>[\d.eE+-]+)`,
			"Epoch 0:  50%|##  | 1/2 [loss=0.9]\rEpoch 0: 100%|####| 2/2 [00:01, loss=0.7]\rEpoch 1: 100%|####| [loss=5e-1]\n", false,
			[]string{"1 0 0.7 -", "2 0 0.5 -"}},
		{"counted", `^\d+/\d+ - .*?\bloss: (?P<loss>[\d.eE+-]+)(?:.*?\baccuracy: (?P<accuracy>[\d.]+))?`,
			"Epoch 1/2\n157/157 - 1s - loss: 0.4 - accuracy: 0.85\nEpoch 2/2\n157/157 - 1s - accuracy: 91 - loss: 0.3\n", false,
			[]string{"1 0 0.4 0.85", "2 0 0.3 -"}},
		{"fractions", `'loss': '?(?P<loss>[\d.eE+-]+).*?'epoch': '?(?P<epoch>[\d.]+)`, "{'loss': 0.5, 'epoch': 0.5}\n{'loss': 0.4, 'epoch': 1.0}\n" +
			"{'loss': nan, 'epoch': 1.5}\n", false, []string{"1 0 0.4 -", "1 0 +Inf -"}},
		{"not finite", `epoch (?P<epoch>\d+) loss (?P<loss>[\d.]+)( acc (?P<accuracy>\S+))?`,
			"epoch 1 loss NaN acc 0.5\nepoch 2 loss -inf acc nan\nepoch 3 loss inf\nepoch 4 loss\n", false,
			[]string{"1 0 +Inf 0.5", "3 0 +Inf -"}},
		{"steps", `^done`, "done\nnot done\ndone", true, []string{"0 1 - -"}},
		{"no number", `step (?P<step>\w+)`, "step one\nstep 7\n", false, []string{"0 7 - -"}},
	} {
		for _, piece := range []int{1, 7, 1000} {
			l := progressLines{pattern: regexp.MustCompile(c.pattern), epochs: !c.steps}
			var got []string
			for out := range slices.Chunk([]byte(c.output), piece) {
				l.add(out, func(p contract.Progress) {
					text := func(v *float64) string {
						if v == nil {
							return "-"
						}
						return fmt.Sprint(*v)
					}
					got = append(got, fmt.Sprint(p.Epoch, p.Step, " ", text(p.Loss), " ", text(p.Accuracy)))
				})
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s in pieces of %d: %q, want %q", c.name, piece, got, c.want)
			}
		}
	}
	l := progressLines{pattern: regexp.MustCompile("x$"), epochs: true}
	l.add(slices.Repeat([]byte("x"), 3*mostLine), func(contract.Progress) { t.Error("a line without an end matches") })
	if len(l.line) > mostLine {
		t.Errorf("%d bytes of a line are kept", len(l.line))
	}
}
