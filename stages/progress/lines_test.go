package progress

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
)

// read returns the reports of a program's output as "epoch step loss accuracy", and the warnings at its end. The output
// arrives in pieces of size bytes.
func read(t testing.TB, pattern, output string, steps bool, size int) (told, warned []string) {
	t.Helper()
	p, err := newPattern(pattern)
	if err != nil {
		t.Fatal(err)
	}
	l := progressLines{linePattern: p, epochs: !steps}
	tell := func(p contract.Progress, made time.Time) {
		text := func(v *float64) string {
			if v == nil {
				return "-"
			}
			return fmt.Sprint(*v)
		}
		told = append(told, fmt.Sprint(p.Epoch, p.Step, " ", text(p.Loss), " ", text(p.Accuracy)))
	}
	for piece := range slices.Chunk([]byte(output), size) {
		l.add(piece, tell)
	}
	l.finished(tell, func(_, text string) { warned = append(warned, text) })
	return told, warned
}

// Patterns as users write them.
const (
	anyEpoch  = `[Ee]poch\D*(?P<epoch>\d+)(?:.*?\bloss\W+(?P<loss>[\d.eE+-]+))?`
	anyEpoch0 = `[Ee]poch\D*(?P<epoch0>\d+)(?:.*?\bloss\W+(?P<loss>[\d.eE+-]+))?`
	needsLoss = `Epoch (?P<epoch0>[0-9]+): 100%.*loss[=:] ?(?P<loss>[0-9.eE+-]+)`
	kerasLine = `^\d+/\d+ - .*?\bloss: (?P<loss>[\d.eE+-]+)(?:.*?\baccuracy: (?P<accuracy>[\d.]+))?`
	fractions = `'loss': '?(?P<loss>[\d.eE+-]+).*?'epoch': '?(?P<epoch>[\d.]+)`
)

// TestProgressLines reads output of programs in pieces.
func TestProgressLines(t *testing.T) {
	for _, c := range []struct {
		name, pattern, output string
		steps                 bool
		want                  string // reports, separated by commas
		warned                string
	}{
		{"print", anyEpoch, "begin\nEpoch 1/3 - loss: 0.41\nepoch 2, val 3\n", false, "1 0 0.41 -, 2 0 - -", ""},
		{"from 0", needsLoss, "Epoch 0:  50%|##  | 1/2 [loss=0.9]\rEpoch 0: 100%|####| 2/2 [00:01, loss=0.7]\rEpoch 1: 100%|####| [loss=5e-1]\n",
			false, "1 0 0.7 -, 2 0 0.5 -", ""},
		{"counted", kerasLine, "Epoch 1/2\n157/157 - 1s - loss: 0.4 - accuracy: 0.85\nEpoch 2/2\n157/157 - 1s - accuracy: 91 - loss: 0.3\n",
			false, "1 0 0.4 0.85, 2 0 0.3 -", ""},
		{"fractions", fractions, "{'loss': 0.5, 'epoch': 0.5}\n{'loss': 0.4, 'epoch': 1.0}\n{'loss': nan, 'epoch': 1.5}\n", false,
			"1 0 0.4 -, 1 0 +Inf -", ""},
		{"rounded fractions", fractions, "{'loss': 0.5, 'epoch': 0.99}\n{'loss': 0.4, 'epoch': 1.99}\n", false, "1 0 0.5 -, 2 0 0.4 -", ""},
		{"not finite", `epoch (?P<epoch>\d+) loss (?P<loss>[\d.]+)( acc (?P<accuracy>\S+))?`,
			"epoch 1 loss NaN acc 0.5\nepoch 2 loss -inf acc nan\nepoch 3 loss inf\nepoch 4 loss\nepoch 5 loss -1.#IND00\n", false,
			"1 0 +Inf 0.5, 2 0 +Inf -, 3 0 +Inf -, 5 0 +Inf -", ""},
		{"not finite, and optional", anyEpoch, "epoch 1 loss: nan\nepoch 2 loss=-Infinity\n", false, "1 0 +Inf -, 2 0 +Inf -", ""},
		{"not finite, before another loss", `epoch (?P<epoch>\d+).*?loss=(?P<loss>[\d.]+)`,
			"epoch 1 loss=nan, val_loss=0.5\n", false, "1 0 +Inf -", ""},
		{"steps", `^done`, "done\nnot done\ndone", true, "0 1 - -, 0 2 - -", ""},
		{"no number", `step (?P<step>\w+)`, "step one\nstep 7\n", false, "0 7 - -", `such as "step one"`},
		{"no loss anywhere", needsLoss, "Epoch 0: 100%|##| 4/4\nEpoch 1:  50%|# | 2/4\rEpoch 1: 100%|##| 4/4\nEpoch 2: 100%|##| 4/4\n",
			false, "1 0 - -, 2 0 - -, 3 0 - -", "no line that it printed has the loss"},
		{"no loss, one epoch", needsLoss, "Epoch 0: 100%|##| 4/4\n", false, "1 0 - -", "no line that it printed has the loss"},
		{"a heading without a loss", `Epoch (?P<epoch>\d+)/\d+.*loss: (?P<loss>[\d.]+)`, "Epoch 1/2\nEpoch 1/2 loss: 0.5\nEpoch 2/2\nEpoch 2/2 loss: 0.4\n",
			false, "1 0 0.5 -, 2 0 0.4 -", ""},
		{"no match", needsLoss, "hello\nstep 3 of 4\n", false, "", `it printed 2 lines, such as "step 3 of 4"`},
		{"no output", needsLoss, "", false, "", "it printed nothing"},
		{"nothing finished", `epoch (?P<epoch>\d+)`, "epoch 0\n", false, "", "none says that an epoch or a step has finished"},

		{"colors", anyEpoch, "\x1b[32mEpoch \x1b[1m3\x1b[0m/4 - loss: \x1b[1;38;5;9m0.5\x1b[0m\n", false, "3 0 0.5 -", ""},
		{"a title and a link", anyEpoch, "\x1b]0;9 jobs\x07Epoch 1 - \x1b]8;;http://x/9\x1b\\loss\x1b]8;;\x1b\\: 0.5\x1b[K\n", false, "1 0 0.5 -", ""},
		{"another character set", anyEpoch, "\x1b(BEpoch 1\x1b=\x1b7 loss: 0.5\x1b8\n", false, "1 0 0.5 -", ""},
		{"8 bits", anyEpoch, "Epoch 1 loss: \u009b31m0.5\u009b0m\n", false, "1 0 0.5 -", ""},
		{"a sequence that is cut off", anyEpoch, "Epoch 1 loss: 0.5\x1b[3\nEpoch 2\n", false, "1 0 0.5 -, 2 0 - -", ""},
		{"CRLF", anyEpoch, "Epoch 1 loss: 0.5\r\nEpoch 2 loss: 0.4\r\n", false, "1 0 0.5 -, 2 0 0.4 -", ""},
		{"backspaces", anyEpoch, "Epoch 1 loss: 0.9\b\b\b0.5\nEpoch 2 loss: 1\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\b\rEpoch 2 loss: 0.4\n",
			false, "1 0 0.5 -, 2 0 1 -, 2 0 0.4 -", ""},
		{"the cursor moves", anyEpoch, "Epoch 1 loss: 0.5\x1b[1GEpoch 2 loss: 0.4\x1b[1A\x1b[2KEpoch 3\x1b[2Closs: 0.3\n", false,
			"1 0 0.5 -, 2 0 0.4 -, 3 0 0.3 -", ""},
		{"drawn again", anyEpoch, "\rEpoch 1 loss: 0.5\rEpoch 1 loss: 0.5\rEpoch 1 loss: 0.5\n", false, "1 0 0.5 -", ""},
		{"other letters", anyEpoch, "\x1b[1m訓練 Epoch 1\x1b[0m ▇▇ é loss: 0.5\n", false, "1 0 0.5 -", ""},

		{"decimal commas", anyEpoch, "Epoch 1/3 loss: 0,51\nEpoch 2 loss: 1,5e-3, acc: 0,9\n", false, "1 0 0.51 -, 2 0 0.0015 -", ""},
		{"a decimal comma that is needed", `epoch (?P<epoch>\d+) loss (?P<loss>\d+\.\d+)`, "epoch 1 loss 0,51\n", false, "1 0 0.51 -", ""},
		{"columns", `^(?P<epoch>\d+),(?P<loss>[\d.]+),(?P<accuracy>[\d.]+)$`, "epoch,loss,acc\n1,2,0.5\n2,1,1\n", false, "1 0 2 0.5, 2 0 1 1", ""},
		{"two columns", `^(?P<epoch>\d+),(?P<loss>[\d.]+)$`, "1,0.5\n2,1\n", false, "1 0 0.5 -, 2 0 1 -", ""},
		{"thousands", `step (?P<step>\d+)/.*loss (?P<loss>[\d.]+)`, "step 1,500/64,000 loss 1,234.5\nstep 2,000,000/1 loss 3.25\n", true,
			"0 1500 1234.5 -, 0 2000000 3.25 -", ""},
		{"percent", `epoch (?P<epoch>\d+) acc (?P<accuracy>[\d.]+)`, "epoch 1 acc 50%\nepoch 2 acc 75.5 %\nepoch 3 acc 91\n", false,
			"1 0 - 0.5, 2 0 - 0.755, 3 0 - -", `such as "accuracy 91": a count, a loss and an accuracy are numbers, and an accuracy is a part of 1, or has % behind it; name its group percent`},
		{"percent without a sign", `epoch (?P<epoch>\d+) acc (?P<percent>[\d.,]+)`, "epoch 1 acc 93.12\nepoch 2 acc 94,5\nepoch 3 acc 95.5%\nepoch 4 acc 101\n", false,
			"1 0 - 0.9312, 2 0 - 0.945, 3 0 - 0.955, 4 0 - -", `such as "percent 101"`},
		{"a loss in another line", `^step (?P<step>\d+)$|^loss (?P<loss>\S+)$`, "loss 9\nstep 10\nloss 0.5\nstep 20\nstep 0\nloss 0.4\n", true,
			"0 10 - -, 0 10 0.5 -, 0 20 - -, 0 20 0.4 -", ""},
		{"a tensor", `epoch (?P<epoch>\d+) loss (?P<loss>.+)`, "epoch 1 loss tensor(0.5, grad_fn=<X>)\n", false, "1 0 0.5 -", ""},
		{"a comma behind", `epoch=(?P<epoch>\S+) loss=(?P<loss>\S+)`, "epoch=1, loss=0.5, acc=1\n", false, "1 0 0.5 -", ""},

		{"batches in brackets", anyEpoch, "Train Epoch: 1 [0/60000 (0%)]\tLoss: 2.3\nTrain Epoch: 1 [59520/60000 (99%)]\tLoss: 0.5\n" +
			"Train Epoch: 2 [0/60000 (0%)]\tLoss: 0.4\nTrain Epoch: 2 [59520/60000 (99%)]\tloss: 0.3\n", false, "1 0 - -, 2 0 0.3 -", ""},
		{"batches from 0", anyEpoch0, "Epoch: [0][  10/5005]\tloss 2.5 (2.5)\nEpoch: [0][5000/5005]\tloss 2 (2)\n" +
			"Test: [0/98] loss 2\nEpoch: [1][10/5005] loss 1.5\n", false, "1 0 2 -, 2 0 1.5 -", ""},
		{"all batches", anyEpoch, "Epoch [1/2], Step [100/200], loss: 0.5\nEpoch [1/2], Step [200/200], loss: 0.4\n" +
			"Epoch [2/2], Step [100/200], loss: 0.3\nEpoch [2/2], Step [200/200], loss: 0.2\n", false, "1 0 0.4 -, 2 0 0.2 -", ""},
		{"a bar", anyEpoch0, "Epoch 0:   0%|  | 0/4 [00:00<?, ?it/s]\rEpoch 0:  75%|# | 3/4 [loss=0.5]\rEpoch 0: 100%|##| 4/4 [loss=0.4]\n" +
			"Epoch 1: 100%|##| 4/4 [loss=0.3]\n", false, "1 0 0.4 -, 2 0 0.3 -", ""},
		{"percent behind", anyEpoch, "Epoch 1/2: 50% loss: 0.5\rEpoch 1/2: 100% loss: 0.4\nEpoch 2/2 - 99% loss: 0.3\n", false, "1 0 0.4 -, 2 0 0.3 -", ""},
		{"batches in words", anyEpoch, "Epoch 1, batch 10 of 20, loss 0.5\nEpoch 1, batch 20 of 20, loss 0.4\n", false, "1 0 0.4 -", ""},
		{"batches without their number", anyEpoch, "Epoch [1] Batch [0-20] loss=0.5\nEpoch [1] Batch [20-40] loss=0.4\nEpoch 2, step 7, loss 0.3\nEpoch 2 loss 0.2\n" +
			"Epoch 3 done at step 9, loss 0.1\n", false, "1 0 0.4 -, 2 0 0.2 -, 3 0 0.1 -", ""},
		{"a step in the only line of an epoch", `"epoch": (?P<epoch>\d+).*"loss": (?P<loss>[\d.]+)`, "{\"epoch\": 1, \"step\": 10, \"loss\": 3}\n{\"epoch\": 2, \"step\": 20, \"loss\": 2}\n" +
			"{\"epoch\": 3, \"step\": 30, \"loss\": 1}\n", false, "1 0 3 -, 2 0 2 -, 3 0 1 -", ""},
		{"steps in several lines of an epoch", `"epoch": (?P<epoch>\d+).*"loss": (?P<loss>[\d.]+)`, "{\"epoch\": 1, \"step\": 5, \"loss\": 4}\n{\"epoch\": 1, \"step\": 10, \"loss\": 3}\n" +
			"{\"epoch\": 2, \"step\": 15, \"loss\": 2}\n{\"epoch\": 3, \"step\": 20, \"loss\": 1}\n", false, "1 0 3 -, 2 0 2 -, 3 0 1 -", ""},
		{"its own total", anyEpoch, "Epoch [1/2] loss: 0.5\n[Epoch 2/2] loss: 0.4 Accuracy: 9800/10000 (98%)\n", false, "1 0 0.5 -, 2 0 0.4 -", ""},
		{"an end after batches", anyEpoch, "Epoch 1 [10/20] loss 0.5\nEpoch 1 done, loss 0.4\nEpoch 2 [10/20] loss 0.3\nEpoch 2 done, loss 0.2\n", false,
			"1 0 0.4 -, 2 0 0.2 -", ""},
		{"a bar without a count", `loss: (?P<loss>[\d.]+)`, "1/4 - loss: 0.9\r4/4 - loss: 0.5\r4/4 - loss: 0.5 - val_loss: 1\n 2/4 - loss: 1\r4/4 - loss: 0.4\n",
			false, "1 0 0.5 -, 2 0 0.4 -", ""},
		{"steps of epochs", `epoch (?P<epoch>\d+) step (?P<step>\d+)`, "epoch 1 step 5/10\nepoch 1 step 10/10\n", true, "0 5 - -, 1 10 - -", ""},
		{"groups of batches", `^Epoch (?P<epoch>\d+)/\d+$|^\s*(?P<batch>\d+)/(?P<batches>\d+) .*\bloss: (?P<loss>[\d.]+)`,
			"Epoch 1/2\n1/4 - loss: 0.9\r4/4 - loss: 0.5\r4/4 - loss: 0.5 - val_loss: 1\nEpoch 2/2\n2/4 - loss: 1\r4/4 - loss: 0.4\n9/9 - loss: 7\n",
			false, "1 0 0.5 -, 2 0 0.4 -", ""},
	} {
		for _, size := range []int{1, 7, 1000} {
			got, warned := read(t, c.pattern, c.output, c.steps, size)
			if all := strings.Join(got, ", "); all != c.want {
				t.Errorf("%s in pieces of %d: %q, want %q", c.name, size, all, c.want)
			}
			if all := strings.Join(warned, "\n"); (all == "") != (c.warned == "") || !strings.Contains(all, c.warned) {
				t.Errorf("%s: warned %q, want %q", c.name, all, c.warned)
			}
		}
	}
	p, err := newPattern(anyEpoch)
	if err != nil {
		t.Fatal(err)
	}
	var soon []int // epochs that are reported before the program ends
	one := progressLines{linePattern: p, epochs: true}
	for _, line := range []string{"epoch 1, step 10\n", "epoch 2, step 20\n", "epoch 3, step 30\n"} {
		one.add([]byte(line), func(p contract.Progress, _ time.Time) { soon = append(soon, p.Epoch) })
	}
	if !slices.Equal(soon, []int{1, 2, 3}) {
		t.Errorf("epochs %d are reported, although each has a single line", soon)
	}
	l := progressLines{linePattern: &linePattern{}}
	l.add(slices.Repeat([]byte("x"), 3*mostLine), func(contract.Progress, time.Time) { t.Error("a line without an end matches") })
	if len(l.output.line) > mostLine {
		t.Errorf("%d bytes of a line are kept", len(l.output.line))
	}
}
