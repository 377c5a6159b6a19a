package start_test

import (
	"strings"
	"testing"
)

// TestOutputs reads the progress in lines of programs of several kinds. The lines have the form in the programs'
// sources.
func TestOutputs(t *testing.T) {
	const lightning = "import lightning as L\nL.Trainer(max_epochs=2).fit(m)\n"
	const deepspeed = "import deepspeed\nengine.train_batch()\n"
	const printed = "for epoch in range(1, 4):\n    print(f'Epoch {epoch}/3 - loss: {loss} - accuracy: {acc}')\n"
	const torchvision = "header = f\"Epoch: [{epoch}]\"\nfor x in metric_logger.log_every(loader, 10, header):\n    pass\n"
	const mnist = "print('Train Epoch: {} [{}/{} ({:.0f}%)]\\tLoss: {:.6f}'.format(epoch, a, b, c, d))\n"
	for name, c := range map[string]struct{ program, output, want string }{
		"lightning, step and epoch": {lightning, "Epoch 0: 100%|##| 4/4 [00:00<00:00, 9.1it/s, v_num=1, train_loss_step=0.312, val_loss=0.281, train_loss_epoch=0.390]\n" +
			"Epoch 1: 100%|##| 4/4 [00:00<00:00, 9.1it/s, v_num=1, train_loss_step=0.2, val_loss=0.181, train_loss_epoch=0.25]\n`Trainer.fit` stopped: `max_epochs=2` reached.\n", "1/0 0.39 -, 2/0 0.25 -"},
		"lightning, no validation": {lightning, "Epoch 0:   0%|          | 0/4 [00:00<?, ?it/s] \rEpoch 0:  25%|##        | 1/4 [00:00<00:00,  7.1it/s, v_num=3]\rEpoch 0: 100%|##########| 4/4 [00:00<00:00, 20.1it/s, v_num=3]\rEpoch 0: 100%|##########| 4/4 [00:00<00:00, 19.1it/s, v_num=3]\rEpoch 0:   0%|          | 0/4 [00:00<?, ?it/s, v_num=3]        \rEpoch 1:   0%|          | 0/4 [00:00<?, ?it/s, v_num=3]        \rEpoch 1: 100%|##########| 4/4 [00:00<00:00, 20.1it/s, v_num=3]\n", "1/0 - -, 2/0 - -"},
		"lightning, colored":       {lightning, "\x1b[37mEpoch 0/1\x1b[0m \x1b[38;2;98;6;224m━━━━\x1b[0m \x1b[37m4/4\x1b[0m \x1b[38;5;245m0:00:00 • 0:00:00\x1b[0m \x1b[38;5;249m20.1it/s\x1b[0m \x1b[37mv_num: 2.000 train_loss: 0.512\x1b[0m\n", "1/0 0.512 -"},
		"deepspeed": {deepspeed, "[2024-05-01 10:00:00,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[0.001], mom=[(0.9, 0.999)]\n" +
			"[2024-05-01 10:00:00,124] [INFO] [timer.py:199:stop] epoch=0/micro_step=10/global_step=10, RunningAvgSamplesPerSec=51.2, CurrSamplesPerSec=50.1, MemAllocated=0.1GB\n" +
			"[2024-05-01 10:00:09,123] [INFO] [logging.py:96:log_dist] [Rank 0] step=20, skipped=1, lr=[0.001], mom=[(0.9, 0.999)]\n", "0/10 - -, 0/20 - -"},
		"deepspeed, pipeline": {deepspeed, "steps: 10 loss: 2.3026 iter time (s): 0.150 samples/sec: 106.6\nsteps: 20 loss: nan iter time (s): 0.150 samples/sec: 106.6\n", "0/10 2.303 -, 0/20 +Inf -"},
		"decimal commas":      {printed, "Epoch 1/3 - loss: 0,2513 - accuracy: 0,91\nEpoch 2/3 - loss: 1.234,5 - accuracy: 0,92\n", "1/0 0.2513 0.91, 2/0 1234 0.92"},
		"thousands":           {printed, "Epoch 1,000/3,000 - loss: 1,234.5 - accuracy: 0.9\n", "1000/0 1234 0.9"},
		"colors and nan":      {printed, "\x1b[2K\r\x1b[32mEpoch\x1b[0m \x1b[1m2\x1b[0m/3 - loss: \x1b[1;31mnan\x1b[0m - accuracy: \x1b[33m0.1\x1b[0m\n", "2/0 +Inf 0.1"},
		"torchvision": {torchvision, "Epoch: [0]  [  0/100]  eta: 0:01:00  lr: 0.1  img/s: 10.1  loss: 6.9300 (6.9300)  acc1: 0.0000 (0.0000)  time: 0.6  data: 0.1\n" +
			"Epoch: [0]  [ 99/100]  eta: 0:00:00  lr: 0.1  img/s: 10.1  loss: 5.5000 (6.1000)  acc1: 1.0000 (0.5000)  time: 0.6  data: 0.1\nEpoch: [0] Total time: 0:01:00\n" +
			"Test:   [ 0/10]  eta: 0:00:05  loss: 5.1 (5.1)  acc1: 2.0 (2.0)\nEpoch: [1]  [  0/100]  eta: 0:01:00  lr: 0.1  img/s: 10.1  loss: 5.4000 (5.4000)  acc1: 0.0000 (0.0000)\n", "1/0 5.5 -, 2/0 5.4 -"},
		"mnist": {mnist, "Train Epoch: 1 [0/60000 (0%)]\tLoss: 2.300000\nTrain Epoch: 1 [59520/60000 (99%)]\tLoss: 0.200000\n\nTest set: Average loss: 0.0500, Accuracy: 9800/10000 (98%)\n\n" +
			"Train Epoch: 2 [0/60000 (0%)]\tLoss: 0.150000\nTrain Epoch: 2 [59520/60000 (99%)]\tLoss: 0.100000\n", "1/0 0.2 -, 2/0 0.1 -"},
		"a dictionary of losses": {"print({'epoch': epoch, 'train_loss': loss})\n", "{'epoch': 1, 'train_loss': 0.5}\n{'epoch': 2, 'train_loss': nan}\n", "1/0 0.5 -, 2/0 +Inf -"},
		"scientific":             {printed, "Epoch 1/3 - loss: 1.2E-3 - accuracy: 9.1e-1\nEpoch 2/3 - loss: .5 - accuracy: 1\n", "1/0 0.0012 0.91, 2/0 0.5 1"},
		"percent":                {printed, "Epoch 1/3 - loss: 0.5 - accuracy: 91.5%\n", "1/0 0.5 0.915"},
		"a bar and a line":       {"from tqdm import tqdm\nfor epoch in range(2):\n    for x in tqdm(loader, desc=f'Epoch {epoch}'):\n        pass\n", "Epoch 0:  50%|##   | 2/4 [00:00<00:00]\rEpoch 0: 100%|#####| 4/4 [00:00<00:00]\nEpoch 1: 100%|#####| 4/4 [00:00<00:00]\n", "1/0 - -, 2/0 - -"},
		"xgboost, nan":           {"import xgboost as xgb\nxgb.train(p, d, num_boost_round=5)\n", "[0]\ttrain-rmse:0.5\teval-rmse:0.6\n[1]\ttrain-rmse:nan\teval-rmse:nan\n", "1/0 0.5 -, 2/0 +Inf -"},
		"nanoGPT":                {"print(f\"step {iter_num}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}\")\nprint(f\"iter {iter_num}: loss {lossf:.4f}, time {dt*1000:.2f}ms\")\n", "step 0: train loss 4.2874, val loss 4.2823\niter 0: loss 4.2649, time 33607.26ms, mfu -100.00%\niter 10: loss nan, time 120.20ms, mfu 2.1%\n", "0/10 +Inf -"},
		"keras, a loss in words": {"import keras\nm.fit(x, y, epochs=3)\n", "Epoch 1/3\n\x1b[1m4/4\x1b[0m \x1b[32m━━━━━━━━━━━━━━━━━━━━\x1b[0m\x1b[37m\x1b[0m \x1b[1m1s\x1b[0m 9ms/step - binary_accuracy: 0.4844 - loss: 0.8199 - val_binary_accuracy: 0.5 - val_loss: 0.7\n", "1/0 0.8199 0.5"},
	} {
		told, warned := followed(t, c.program, c.output)
		if got := strings.Join(told, ", "); got != c.want {
			t.Errorf("%s: %q, want %q (%q)", name, got, c.want, warned)
		}
	}
}
