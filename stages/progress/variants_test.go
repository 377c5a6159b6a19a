package progress

import (
	"strings"
	"testing"
)

// Patterns as tfexp init writes them: for programs that print epochs, for Lightning, and for dictionaries.
const (
	lossText = `[^a-z_](?:train[a-z]*[ _/-]+)?loss(?:_epoch|_step)?[^0-9a-z.+-]+(?:tensor\()?(?P<loss>[+-]?[0-9.eE+-]+)`
	printed  = `(?i:epoch)\W*(?P<epoch>[0-9]+)(?i:(?:.*?` + lossText + `)?)`
	bars     = `Epoch (?P<epoch0>[0-9]+)(?:/[0-9]+)?:?\s.*?\s(?P<batch>[0-9]+)/(?:(?P<batches>[0-9]+)|\?|--)(?:.*` + lossText + `)?`
	literals = `["']loss["']:\s*["']?(?P<loss>[0-9.eE+-]+).*["']epoch["']:\s*["']?(?P<epoch>[0-9.]+)|["']epoch["']:\s*["']?(?P<epoch2>[0-9.]+)` +
		`(?:.*["']loss["']:\s*["']?(?P<loss2>[0-9.eE+-]+))?`
)

// TestWritings reads numbers, colors and progress bars in the forms of several languages, terminals and frameworks.
func TestWritings(t *testing.T) {
	for _, c := range []struct{ name, pattern, output, want string }{
		{"values behind a running epoch", `(?P<epoch>\d+)/\d+ \[|^acc (?P<accuracy>\S+)`, "1/2 [3/9]\nacc 0.5\n2/2 [3/9]\nacc 0.75\n", "1 0 - 0.5, 2 0 - 0.75"},
		{"an epoch that begins twice", `^Epoch (?P<epoch>\d+)|^(?P<batch>\d+)/(?P<batches>\d+)|^loss (?P<loss9>\S+)`,
			"Epoch 1\nloss 0.5\nEpoch 1 validates\nEpoch 2\n1/2\nloss 0.25\n2/2\nloss 0.125\n", "1 0 0.5 -, 2 0 0.25 -, 2 0 0.125 -"},
		{"batches by their index", printed, "epoch: 1, batch_idx: 0, loss: 0.9\nepoch: 1, batch_idx: 100, loss: 0.5\nepoch: 2, batch_idx: 0, loss: 0.4\n",
			"1 0 0.5 -, 2 0 0.4 -"},
		{"a tensor of TensorFlow", printed, "Epoch 1 loss: tf.Tensor(0.5, shape=(), dtype=float32)\n", "1 0 0.5 -"},
		{"the loss of a validation", printed, "Epoch 1 Val Loss: 0.9 Train Loss: 0.5\nEpoch 2 valid_loss=0.4\n", "1 0 0.5 -, 2 0 - -"},
		{"the loss of a validation that a pattern needs", `Epoch (?P<epoch>\d+) .*loss (?P<loss>\S+)`, "Epoch 1 val loss 0.5\n", "1 0 0.5 -"},
		{"the loss of a validation that a pattern names", `Epoch (?P<epoch>\d+).*val_loss (?P<loss>\S+)`, "Epoch 1 loss 0.5 val_loss 0.25\n", "1 0 0.25 -"},
		{"the epoch of a checkpoint", printed, "=> loaded checkpoint 'c.pth' (epoch 12)\nResuming from epoch 12\nEpoch 13 loss 0.5\n", "13 0 0.5 -"},
		{"a word about loading behind the epoch", printed, "Epoch 1 data loading 0.1s loss 0.5 epoch time 3s\n", "1 0 0.5 -"},
		{"nan: Python", printed, "Epoch 1 loss: nan\n", "1 0 +Inf -"},
		{"nan: JavaScript", printed, "Epoch 1 loss: NaN\nEpoch 2 loss: -Infinity\n", "1 0 +Inf -, 2 0 +Inf -"},
		{"nan: C", printed, "Epoch 1, loss=-nan\nEpoch 2, loss=inf\n", "1 0 +Inf -, 2 0 +Inf -"},
		{"nan: C on Windows", printed, "Epoch 1 loss: -nan(ind)\nEpoch 2 loss: 1.#QNAN\nEpoch 3 loss: 1.#INF\n", "1 0 +Inf -, 2 0 +Inf -, 3 0 +Inf -"},
		{"nan: Fortran", printed, "Epoch 1 loss: NaN\nEpoch 2 loss: +Infinity\n", "1 0 +Inf -, 2 0 +Inf -"},
		{"nan: a tensor", printed, "Epoch 1 loss: tensor(nan, device='cuda:0', grad_fn=<MeanBackward0>)\n", "1 0 +Inf -"},
		{"nan: numpy 2", printed, "Epoch 1 loss: np.float64(nan)\nEpoch 2 loss: np.float32(0.25)\n", "1 0 +Inf -, 2 0 0.25 -"},
		{"nan: numpy 2 in a dictionary", literals, "{'epoch': 1, 'loss': np.float64(0.5)}\n{'loss': np.float32(inf), 'epoch': 2}\n",
			"1 0 0.5 -, 2 0 +Inf -"},
		{"nan: a tensor in a dictionary", literals, "{'loss': tensor(0.5000), 'epoch': 1}\n", "1 0 0.5 -"},
		{"nan: Julia and R", printed, "Epoch 1 loss: NaN32\nEpoch 2 loss: Inf\n", "1 0 +Inf -, 2 0 +Inf -"},
		{"nan: JSON", literals, `{"epoch": 1, "loss": NaN}` + "\n" + `{"epoch": 2, "loss": null}` + "\n", "1 0 +Inf -, 2 0 - -"},

		{"color: 256", printed, "Epoch \x1b[38;5;196m1\x1b[0m loss: \x1b[38;5;46m0.5\x1b[0m\n", "1 0 0.5 -"},
		{"color: 24 bits", printed, "Epoch 1 loss: \x1b[38;2;10;20;30m0.5\x1b[m\n", "1 0 0.5 -"},
		{"color: colons", printed, "Epoch 1 loss: \x1b[38:2::10:20:30m0.5\x1b[m\n", "1 0 0.5 -"},
		{"color: a link", printed, "Epoch 1 loss: \x1b]8;;https://example.org/7\x1b\\0.5\x1b]8;;\x1b\\\n", "1 0 0.5 -"},
		{"color: tput", printed, "Epoch 1 loss: \x1b(B\x1b[m0.5\x1b[K\n", "1 0 0.5 -"},
		{"color: in a word", printed, "Ep\x1b[1moch 1 lo\x1b[0mss: 0.5\n", "1 0 0.5 -"},
		{"color: lines drawn again", printed, "Epoch 1 loss: 0.9\x1b[2K\x1b[1GEpoch 1 loss: 0.5\n", "1 0 0.9 -, 1 0 0.5 -"},
		{"color: the cursor hidden", printed, "\x1b[?25lEpoch 1 loss: 0.5\x1b[?25h\n", "1 0 0.5 -"},
		{"color: eight bits", printed, "Epoch 1 loss: \u009b1m0.5\u009b0m\n", "1 0 0.5 -"},
		{"color: CR LF", printed, "Epoch 1 loss: 0.5\r\nEpoch 2 loss: 0.25\r\n", "1 0 0.5 -, 2 0 0.25 -"},

		{"bar: no loss", bars, "Epoch 0:  25%|██▌| 1/4 [00:00<00:00, 8.1it/s, v_num=0]\rEpoch 0: 100%|███| 4/4 [00:00<00:00, 8it/s, v_num=0]\n", "1 0 - -"},
		{"bar: the loss of validation", bars, "Epoch 0: 100%|███| 4/4 [00:00<00:00, 8it/s, v_num=0, val_loss=0.5]\n", "1 0 - -"},
		{"bar: checks and validation", bars, "Sanity Checking DataLoader 0: 100%|█| 2/2 [00:00<00:00]\rEpoch 0: 100%|███| 4/4 [00:00<00:00, v_num=0]\r" +
			"Validation DataLoader 0: 100%|█| 3/3 [00:00<00:00]\rEpoch 1: 100%|███| 4/4 [00:00<00:00, v_num=0]\n", "1 0 - -, 2 0 - -"},
		{"bar: of a step and an epoch", bars, "Epoch 0: 100%|███| 4/4 [00:00<00:00, v_num=0, train_loss_step=0.9, train_loss_epoch=0.7]\n", "1 0 0.7 -"},
		{"bar: no length", bars, "Epoch 0: |   | 3/? [00:00<00:00, 9it/s, v_num=0]\rEpoch 1: |   | 1/? [00:00<00:00, v_num=0]\r" +
			"Epoch 1: |   | 3/? [00:00<00:00, v_num=0]\n", "1 0 - -, 2 0 - -"},
		{"bar: rich", bars, "Epoch 0/2  ━━━━━━━━━━ 4/4 0:00:00 • 0:00:00 93.14it/s v_num: 0.000\nEpoch 1/2  ━━━━━━━━━━ 4/4 0:00:00 • 0:00:00 93.1it/s v_num: 0.000 loss: 0.25\n",
			"1 0 - -, 2 0 0.25 -"},
		{"bar: a loss that is nan", bars, "Epoch 0: 100%|███| 4/4 [00:00<00:00, v_num=0, loss=nan]\n", "1 0 +Inf -"},
		{"bar: a version in letters", bars, "Epoch 0: 100%|███| 4/4 [00:00<00:00, v_num=abc1]\nEpoch 1: 100%|███| 4/4 [00:00<00:00, v_num=7e12]\n", "1 0 - -, 2 0 - -"},
		{"bar: many batches", bars, "Epoch 9:  99%|███| 1874/1875 [00:12<00:00, 150.06it/s, v_num=3, loss=0.5]\rEpoch 9: 100%|███| 1875/1875 [00:12<00:00, 150.06it/s, v_num=3, loss=1.23e-05]\n",
			"10 0 1.23e-05 -"},
		{"bar: a line of its own each time", bars, "Epoch 0:  50%|█| 2/4 [00:00<00:00, v_num=0]\nEpoch 0: 100%|█| 4/4 [00:00<00:00, v_num=0]\n" +
			"Epoch 0: 100%|█| 4/4 [00:00<00:00, v_num=0]\n", "1 0 - -"},
	} {
		told, _ := read(t, c.pattern, c.output, false, 7)
		if got := strings.Join(told, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
