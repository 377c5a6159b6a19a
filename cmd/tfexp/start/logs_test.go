package start_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/start"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/stages"
)

// followed returns the reports that the experiment of tfexp init reads from the output of a program, as "epoch/step
// loss accuracy", and the warnings.
func followed(t *testing.T, program, output string) (told, warned []string) {
	t.Helper()
	source, err := start.InspectProgram("train.py", []byte(program)).Experiment("mine")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "train.py"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	spec, diags := decode.Source(filepath.Join(dir, "mine.hcl"), source, decode.Options{
		Host: experiments.HostFacts{Threads: 2, Cores: 2, MemoryBytes: 8 << 30},
	})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, part := range spec.Cells[0].Workload.Submits[0].Job.Parts {
		p, ok := part.(stages.ProgressPart)
		if !ok {
			continue
		}
		value := func(v *float64) string {
			if v == nil {
				return "-"
			}
			return fmt.Sprintf("%.4g", *v)
		}
		tell := func(p contract.Progress, _ time.Time) {
			told = append(told, fmt.Sprintf("%d/%d %s %s", p.Epoch, p.Step, value(p.Loss), value(p.Accuracy)))
		}
		r := p.Progress().Reader(&launch.Job{}, nil)
		r.Output([]byte(output), tell)
		r.Finished(tell, func(_, text string) { warned = append(warned, text) })
		return told, warned
	}
	t.Errorf("no progress is read of %q", program)
	return nil, nil
}

// These are the parts of programs that determine how a framework prints progress.
const (
	kerasProgram     = "import keras\nm.fit(x, y, epochs=3)\n"
	lightningProgram = "import lightning as L\nL.Trainer(max_epochs=2).fit(m)\n"
)

// TestFrameworks reads the progress in the output of programs that use a framework. The files were written by these
// programs; other lines are in the form of the framework's source.
func TestFrameworks(t *testing.T) {
	for name, c := range map[string]struct{ program, output, want string }{
		"transformers": {"from transformers import Trainer\nTrainer(m, a).train()\n", "file transformers.log",
			"1/0 0.6933 -, 1/0 0.6931 -, 2/0 0.693 -, 2/0 0.6927 -, 3/0 0.6927 -"},
		"transformers 5": {"from transformers import Trainer\nTrainer(m, a).train()\n",
			"{'loss': 'nan', 'grad_norm': 'nan', 'learning_rate': '5e-05', 'epoch': '1'}\n{'train_runtime': '2.1', 'train_loss': '0.69', 'epoch': '1'}\n",
			"1/0 +Inf -"},
		"scikit-learn, networks": {"from sklearn.neural_network import MLPClassifier\nMLPClassifier(verbose=True).fit(X, y)\n",
			"Iteration 1, loss = 0.70\nIteration 2, loss = 0.65\nTraining loss did not improve\n", "1/0 0.7 -, 2/0 0.65 -"},
		"scikit-learn, boosting": {"from sklearn.ensemble import GradientBoostingClassifier\nGradientBoostingClassifier(verbose=2).fit(X, y)\n",
			"      Iter       Train Loss   Remaining Time \n         1           1.2           3.00s\n         2           1.1           2.90s\n",
			"1/0 1.2 -, 2/0 1.1 -"},
		"scikit-learn, linear": {"from sklearn.linear_model import SGDClassifier\nSGDClassifier(verbose=1).fit(X, y)\n",
			"-- Epoch 1\nNorm: 1.2, NNZs: 5, Bias: 0.1, T: 100, Avg. loss: 0.5\n-- Epoch 2\nNorm: 1.2, Avg. loss: 0.4\n", "1/0 - -, 1/0 0.5 -, 2/0 - -, 2/0 0.4 -"},
		"catboost": {"from catboost import CatBoostClassifier\nCatBoostClassifier(iterations=2).fit(X, y)\n",
			"Learning rate set to 0.1\n0:\tlearn: 0.6931\ttest: 0.69\tbest: 0.69 (0)\ttotal: 50ms\tremaining: 4s\n1:\tlearn: 0.5\ttotal: 1s\tremaining: 0us\n",
			"1/0 0.6931 -, 2/0 0.5 -"},
		"catboost, a metric of its own": {"import catboost\ncatboost.CatBoostClassifier(eval_metric='AUC').fit(X, y)\n", "0:\tlearn: 0.9\ttotal: 50ms\n", "1/0 - -"},
		"openmmlab": {"from mmengine.runner import Runner\nrunner.train()\n", "2023/01/01 00:00:00 - mmengine - INFO - Epoch(train)  [1][ 50/100]  lr: 1e-3  " +
			"loss: 0.5000  loss_cls: 0.2\n- INFO - Epoch(train)  [1][100/100]  lr: 1e-3  loss: 0.4000  loss_cls: 0.2\n- INFO - Epoch(val) [1][10/10]  " +
			"loss: 9\n- INFO - Epoch(train)  [2][ 50/100]  lr: 1e-3  loss: 0.3000\n", "1/0 0.4 -, 2/0 0.3 -"},
		"detectron2": {"from detectron2.engine import DefaultTrainer\ntrainer.train()\n",
			"[01/01 00:00:00 d2.utils.events]:  eta: 0:01:00  iter: 19  total_loss: 9.6  loss_cls: 4.3  time: 0.3\n  iter: 39  total_loss: nan\n",
			"0/19 9.6 -, 0/39 +Inf -"},
		"fastai": {"from fastai.vision.all import *\nlearn.fine_tune(2)\n", "epoch     train_loss  valid_loss  accuracy  time    \n" +
			"0         0.500000    0.400000    0.900000  00:05     \n1         0.300000    0.200000    0.950000  00:05     \n", "1/0 0.5 -, 2/0 0.3 -"},
		"paddle": {"import paddle\nmodel.fit(train, epochs=2, verbose=1)\n", "Epoch 1/2\nstep  10/938 [..............................] - loss: 2.4 - acc: " +
			"0.1 - 5ms/step\nstep 938/938 [==============================] - loss: 0.4 - acc: 0.9 - 5ms/step\n", "1/0 0.4 0.9"},
		"a bar of steps": {"from tqdm.auto import tqdm\nbar = tqdm(range(max_train_steps))\nfor epoch in range(2):\n  bar.update(1)\n",
			"\r  0%|          | 0/10 [00:00<?, ?it/s]\r 50%|#####     | 5/10 [00:01<00:01,  5.0it/s, loss=0.5]\r100%|##########| 10/10 [00:02<00:00, loss=0.4]\n",
			"0/5 0.5 -, 0/10 0.4 -"},
		"training steps": {"for step in range(9):\n  print(f'train step: {step}, loss: {loss:.4f}')\n", "train step: 0, loss: 2.3\ntrain step: 100, loss: 0.5\n",
			"0/100 0.5 -"},
		"dictionaries from 0": {"import json\nfor epoch in range(2):\n  print(json.dumps({'epoch': epoch, 'train_loss': l}))\n",
			"{\"epoch\": 0, \"train_loss\": 0.5}\n{\"epoch\": 1, \"train_loss\": NaN}\n", "1/0 0.5 -, 2/0 +Inf -"},
		"keras":                         {kerasProgram, "file keras.log", "1/0 0.8199 0.4844, 2/0 0.7974 0.4844, 3/0 0.7775 0.4844"},
		"keras, validated":              {kerasProgram, "file keras-validation.log", "1/0 1.054 0.4219, 2/0 1.025 0.4375, 3/0 0.9984 0.4375"},
		"keras in two lines":            {"import tensorflow as tf\nm.fit(x, y, epochs=3, verbose=2)\n", "file keras-two-lines.log", "1/0 0.8188 0.4531, 2/0 0.7994 0.4219, 3/0 0.7836 0.4219"},
		"keras in two lines, validated": {kerasProgram, "file keras-two-lines-validation.log", "1/0 0.6959 0.5156, 2/0 0.6913 0.5469, 3/0 0.687 0.5625"},
		"keras, diverged":               {kerasProgram, "Epoch 1/2\n4/4 - 1s - 9ms/step - loss: nan\nEpoch 2/2\n4/4 - 1s - loss: inf\n", "1/0 +Inf -, 2/0 +Inf -"},
		"xgboost": {"import xgboost as xgb\nxgb.train(p, d, num_boost_round=5)\n", "file xgboost.log",
			"1/0 0.3671 -, 2/0 0.2783 -, 3/0 0.2132 -, 4/0 0.1642 -, 5/0 0.127 -"},
		"xgboost with another metric": {"import xgboost\n", "[0]\tvalid-auc:0.5\n[1]\tvalid-auc:0.75\n", "1/0 - -, 2/0 - -"},
		"lightgbm":                    {"import lightgbm as lgb\n", "file lightgbm.log", "1/0 0.171 -, 2/0 0.1559 -, 3/0 0.1435 -, 4/0 0.1327 -, 5/0 0.1223 -"},
		"lightgbm, the command":       {"import lightgbm\n", "[LightGBM] [Info] Iteration:1, valid_1 binary_logloss : 0.5\n", "1/0 0.5 -"},
		"mnist": {"for epoch in range(1, args.epochs + 1):\n  print('Train Epoch: {} [{}/{} ({:.0f}%)]\\tLoss: {:.6f}'.format(epoch, b))\n",
			"file mnist.log", "1/0 0.9759 -, 2/0 0.9755 -, 3/0 0.9791 -"},
		"tqdm over epochs":  {"from tqdm import tqdm\nfor epoch in tqdm(range(epochs)):\n  pass\n", "file tqdm_epochs.log", "1/0 1 -, 1/0 0.5 -, 2/0 0.5 -, 2/0 0.333 -, 3/0 0.333 -"},
		"tqdm over batches": {"from tqdm import tqdm\nfor epoch in range(3):\n  bar = tqdm(loader, desc=f\"Epoch {epoch}\")\n", "file tqdm_batches.log", "1/0 1 -, 2/0 0.5 -, 3/0 0.333 -"},
		"tqdm over batches alone": {"from tqdm import tqdm\nfor epoch in range(2):\n  for x in tqdm(train_loader):\n",
			"  0%|          | 0/4 [00:00<?, ?it/s]\r100%|####| 4/4 [00:01<00:00,  9.9it/s]\n 50%|##  | 2/4 [00:00<00:00]\r100%|####| 4/4 [00:01<00:00]\n",
			"1/0 - -, 2/0 - -"},
		"lightning": {lightningProgram, "Sanity Checking DataLoader 0: 100%|█| 2/2 [00:00<00:00, 9.0it/s]\r" +
			"Epoch 0:   0%|          | 0/4 [00:00<?, ?it/s] \rEpoch 0: 100%|██████████| 4/4 [00:00<00:00, 90.01it/s, v_num=0]\n" +
			"Validation DataLoader 0: 100%|█| 4/4 [00:00<00:00]\x1b[A\rEpoch 0: 100%|██████████| 4/4 [00:00<00:00, 80.2it/s, v_num=0]\n" +
			"Epoch 1:  25%|██▌       | 1/4 [00:00<00:00, 90.01it/s, v_num=0]\rEpoch 1: 100%|██████████| 4/4 [00:00<00:00, 90.01it/s, v_num=0]\n" +
			"`Trainer.fit` stopped: `max_epochs=2` reached.\n", "1/0 - -, 2/0 - -"},
		"lightning with its loss": {lightningProgram, "Epoch 0: 100%|█| 4/4 [00:00<00:00, 9it/s, v_num=0, train_loss_step=0.900]\r" +
			"Epoch 0: 100%|█| 4/4 [00:00<00:00, 9it/s, v_num=0, train_loss_step=0.900, val_loss=0.700, train_loss_epoch=0.800]\n" +
			"Epoch 1: 100%|█| 4/4 [00:00<00:00, 9it/s, loss=nan, v_num=0]\n", "1/0 0.9 -, 1/0 0.8 -, 2/0 +Inf -"},
		"lightning by rich": {lightningProgram, "\x1b[?25lEpoch 0/1  \x1b[38;2;98;6;224m━━━━━━╸\x1b[0m 2/4 \x1b[38;5;245m0:00:00 • 0:00:00\x1b[0m 90.01it/s v_num: 0.000 train_loss: 0.9\r\x1b[2K" +
			"Epoch 0/1  \x1b[38;2;98;6;224m━━━━━━━━━━━━\x1b[0m 4/4 \x1b[38;5;245m0:00:00 • 0:00:00\x1b[0m 90.01it/s v_num: 0.000 train_loss: 0.8\r\x1b[2K" +
			"Epoch 1/1  ━━━━━━━━━━━━ 4/4 0:00:00 • 0:00:00 90.01it/s v_num: 0.000 train_loss: 0.7\n", "1/0 0.8 -, 2/0 0.7 -"},
		"lightning without a length": {lightningProgram, "Epoch 0: |          | 0/? [00:00<?, ?it/s]\rEpoch 0: |          | 7/? [00:01<00:00]\nEpoch 1: |  | 7/? [00:01<00:00]\n",
			"1/0 - -, 2/0 - -"},
		"ultralytics": {"from ultralytics import YOLO\nYOLO('yolov8n.yaml').train(epochs=2)\n",
			"      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n" +
				"        1/2         0G      1.213      4.307      1.264         17        640:  25%|██▌       | 1/4 [00:01<00:03]\r" +
				"\x1b[K        1/2         0G      1.112      4.307      1.264         17        640: 100%|██████████| 4/4 [00:03<00:00,  1.2it/s]\n" +
				"                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|██████████| 1/1 [00:00<00:00]\n" +
				"                   all          4         17      0.9      0.8      0.85      0.6\n" +
				"\x1b[K        2/2      2.41G      1.013      4.107      1.164         17        640: 100% ━━━━━━━━━━━━ 4/4 1.2it/s 3.0s\n",
			"1/0 1.112 -, 2/0 1.013 -"},
		"ultralytics in a file": {"from ultralytics import YOLO\nYOLO('yolov8n.yaml').train(epochs=2)\n",
			"        1/2      2.41G      1.213      4.307      1.264         17        640: 45% ━━━━━─────── 180/400 3.0it/s 1:00<1:13" +
				"        1/2      2.41G      1.112      4.307      1.264         17        640: 100% ━━━━━━━━━━━━ 400/400 3.2it/s 2:05\n" +
				"        2/2      2.41G      1.013      4.107      1.164         17        640: 100% ━━━━━━━━━━━━ 400/400 3.2it/s 2:05\n",
			"1/0 1.112 -, 2/0 1.013 -"},
		"fairseq": {"from fairseq_cli.train import cli_main\nimport fairseq\n",
			"2024-03-12 10:03:01 | INFO | train_inner | epoch 001:    100 / 1023 loss=14.1, nll_loss=13.9, ppl=15000, num_updates=100, lr=1e-05\n" +
				"2024-03-12 10:09:01 | INFO | valid | epoch 001 | valid on 'valid' subset | loss 10.2 | nll_loss 9.9\n" +
				"2024-03-12 10:09:02 | INFO | train | epoch 001 | loss 11.5 | nll_loss 11.1 | ppl 2100 | num_updates 1023\n", "1/0 11.5 -"},
		"fairseq, json": {"#!/bin/sh\nfairseq-train data-bin --log-format json\n",
			"2024-03-12 10:03:01 | INFO | train_inner | {\"epoch\": 1, \"update\": 0.498, \"loss\": \"14.1\", \"nll_loss\": \"13.9\", \"num_updates\": \"500\"}\n" +
				"2024-03-12 10:09:01 | INFO | valid | {\"epoch\": 1, \"valid_loss\": \"10.2\", \"valid_nll_loss\": \"9.9\", \"valid_num_updates\": \"1004\"}\n" +
				"2024-03-12 10:09:02 | INFO | train | {\"epoch\": 1, \"train_loss\": \"11.5\", \"train_nll_loss\": \"11.1\", \"train_num_updates\": \"1004\"}\n" +
				"{\"epoch\": 2, \"update\": 1.5, \"loss\": \"9.8\", \"nll_loss\": \"9.1\"}\n{\"epoch\": 2, \"train_loss\": NaN, \"train_nll_loss\": NaN}\n",
			"1/0 11.5 -, 2/0 +Inf -"},
		"mxnet": {"import mxnet as mx\nmod.fit(train, eval_data=val, num_epoch=2, batch_end_callback=mx.callback.Speedometer(64, 100))\n",
			"INFO:root:Epoch[0] Batch [0-100]\tSpeed: 1234.50 samples/sec\taccuracy=0.510000\tcross-entropy=1.9\n" +
				"INFO:root:Epoch[0] Train-accuracy=0.780000\nINFO:root:Epoch[0] Train-cross-entropy=0.900000\nINFO:root:Epoch[0] Time cost=12.345\n" +
				"INFO:root:Epoch[0] Validation-accuracy=0.800000\nINFO:root:Epoch[0] Validation-cross-entropy=0.700000\n" +
				"Epoch[1] Batch [100]\tSpeed: 1234.5 samples/sec\taccuracy=0.91\nEpoch[1] Train-top_k_accuracy_5=0.99\nEpoch[1] Time cost=12.1\n",
			"1/0 - 0.78, 1/0 0.9 0.78, 1/0 0.9 0.8, 2/0 - -"},
		"gluon, estimator": {"from mxnet.gluon.contrib.estimator import Estimator\nest = Estimator(net, loss)\nest.fit(train, epochs=2)\n",
			"Train for 2 epochs.\n[Epoch 0] Begin, current learning rate: 0.0010\n[Epoch 0][Batch 0][Samples 64] time/interval: 0.100s training accuracy: 0.1000, training softmaxcrossentropyloss: 2.3000\n" +
				"[Epoch 0] Finished in 3.200s, training accuracy: 0.7000, training softmaxcrossentropyloss: 0.9000\n" +
				"[Epoch 1] Finished in 3.100s, training accuracy: 0.8000, training softmaxcrossentropyloss: nan, validation accuracy: 0.7500, validation softmaxcrossentropyloss: 0.8\n" +
				"Train finished using total 6s with 2 epochs. training accuracy: 0.8000\n", "1/0 0.9 0.7, 2/0 +Inf 0.75"},
		"gluon, a loop": {"from mxnet import gluon\nfor epoch in range(2):\n  logger.info('Epoch[%d] Batch [%d]\\tSpeed: %f samples/sec\\t%s=%f'%(epoch, i, s, n, v))\n  logger.info('[Epoch %d] training: %s=%f'%(epoch, n, v))\n",
			"Epoch[0] Batch [49]\tSpeed: 123.4 samples/sec\taccuracy=0.100000\tlr=0.1\nEpoch[0] Batch [99]\tSpeed: 123.4 samples/sec\taccuracy=0.200000\tlr=0.1\n" +
				"[Epoch 0] training: accuracy=0.250000\n[Epoch 0] speed: 123 samples/sec\ttime cost: 12.1\nEpoch[1] Batch [49]\tSpeed: 123.4 samples/sec\taccuracy=0.300000\tlr=0.1\n" +
				"[Epoch 1] training: accuracy=0.350000\n", "1/0 - 0.25, 2/0 - 0.35"},
		"spacy": {"#!/bin/sh\nexec python3 -m spacy train config.cfg --output out\n",
			"ℹ Pipeline: ['tok2vec', 'ner']\nℹ Initial learn rate: 0.001\nE    #       LOSS TOK2VEC  LOSS NER  ENTS_F  ENTS_P  ENTS_R  SCORE \n" +
				"---  ------  ------------  --------  ------  ------  ------  ------\n  0       0          0.00     46.67    0.00    0.00    0.00    0.00\n" +
				"  0     200         44.17   3214.01   50.00   60.00   42.86    0.50\n 11    1000           nan       nan    0.00    0.00    0.00    0.00\n✔ Saved pipeline to output directory\n",
			"0/200 - -, 0/1000 - -"},
		"spacy as a list": {"subprocess.run([\"python\", \"-m\", \"spacy\", \"train\", \"config.cfg\"])\n", " -1     400        844.17   50.00    0.50\n", "0/400 - -"},
		"stable-baselines3": {"from stable_baselines3 import PPO\nPPO('MlpPolicy', env, verbose=1).learn(total_timesteps=25_000)\n",
			"Using cpu device\n---------------------------------\n| rollout/           |          |\n|    ep_len_mean     | 22.5     |\n|    ep_rew_mean     | 22.5     |\n| time/              |          |\n" +
				"|    fps             | 1234     |\n|    iterations      | 1        |\n|    time_elapsed    | 1        |\n|    total_timesteps | 2048     |\n---------------------------------\n" +
				"| time/                   |             |\n|    iterations           | 2           |\n|    total_timesteps      | 4096        |\n| train/                  |             |\n" +
				"|    approx_kl            | 0.008504291 |\n|    entropy_loss         | -0.686      |\n|    loss                 | 5.93        |\n|    policy_gradient_loss | -0.0131     |\n|    value_loss           | 55.8        |\n" +
				"|    total_timesteps      | 6144        |\n|    loss                 | 1.2e+03     |\n",
			"0/2048 - -, 0/4096 - -, 0/4096 5.93 -, 0/6144 - -, 0/6144 1200 -"},
		"flax": {"from absl import logging\nfor epoch in range(1, num_epochs + 1):\n  logging.info('train epoch: %d, loss: %.4f, accuracy: %.2f', epoch,\n               metrics['loss'], metrics['accuracy'] * 100)\n",
			"I0312 10:03:01.000000 140 train.py:153] train epoch: 1, loss: 0.2345, accuracy: 93.12\nI0312 10:03:02.000000 140 train.py:153] train epoch: 2, loss: 0.1345, accuracy: 0.95\n",
			"1/0 0.2345 0.9312, 2/0 0.1345 0.0095"},
		"flax in several lines": {"for epoch in range(1, num_epochs + 1):\n  logging.info(\n    'epoch:% 3d, train_loss: %.4f, train_accuracy: %.2f, test_loss: %.4f,'\n    ' test_accuracy: %.2f'\n" +
			"    % (\n      epoch,\n      train_loss,\n      train_accuracy * 100,\n      test_loss,\n      test_accuracy * 100,\n    )\n  )\n",
			"I0312 10:03:01.000000 140 train.py:153] epoch:  1, train_loss: 0.2345, train_accuracy: 93.12, test_loss: 0.1000, test_accuracy: 97.50\n", "1/0 0.2345 0.975"},
		"percent by a variable":   {"for epoch in range(1, 3):\n  train_acc = 100. * correct / total\n  print(f'Epoch {epoch} loss: {loss} acc: {train_acc:.1f}')\n", "Epoch 1 loss: 0.5 acc: 91.5\n", "1/0 0.5 0.915"},
		"percent in another line": {"for epoch in range(1, 3):\n  print(f'Epoch {epoch} loss: {loss} acc: {acc:.3f}')\nprint('test accuracy', 100 * acc)\n", "Epoch 1 loss: 0.5 acc: 0.915\n", "1/0 0.5 0.915"},
		"batches without their number": {"for epoch in range(1, 3):\n  print(f'Epoch {epoch}, batch {i}, loss: {loss}')\n",
			"Epoch 1, batch 100, loss: 0.9\nEpoch 1, batch 200, loss: 0.8\nEpoch 2, batch 100, loss: 0.7\nEpoch 2, step 200, loss: 0.6\n", "1/0 0.8 -, 2/0 0.6 -"},
		"epochs with their last step": {"for epoch in range(1, 3):\n  print(f'Epoch {epoch} finished at step {i}, loss: {loss}')\n", "Epoch 1 finished at step 200, loss: 0.8\n", "1/0 0.8 -"},
		"megatron": {"from megatron.training import pretrain\n",
			" [2024-03-12 10:03:01] iteration      100/     500 | consumed samples:         800 | elapsed time per iteration (ms): 210.1 | " +
				"learning rate: 1.500000E-04 | global batch size:     8 | lm loss: 6.512345E+00 | loss scale: 1.0 | grad norm: 1.2 |\n" +
				" validation loss at iteration 100 | lm loss value: 6.4E+00 | lm loss PPL: 6.0E+02 |\n" +
				" iteration      200/     500 | consumed samples:        1600 | lm loss: NAN | number of nan iterations:   1 |\n" +
				" iteration      300/     500 | consumed samples:        2400 | loss: 5.512345E+00 | loss scale: 1.0 |\n",
			"0/100 6.512 -, 0/200 +Inf -, 0/300 5.512 -"},
		"timm": {"import timm\n_logger.info(f'Train: {epoch} [{i:>4d}/{n} ({100 * i / (n - 1):>3.0f}%)]  Loss: {loss.val:#.3g}')\n",
			"Train: 0 [   0/1251 (  0%)]  Loss: 6.95 (6.95)  Time: 2.1s, 120.0/s  LR: 1.000e-05\nTrain: 0 [1250/1251 (100%)]  Loss: 5.95 (6.4)  Time: 0.9s\n" +
				"Test: [   0/48]  Time: 1.2 (1.2)  Loss:  5.1 (5.1)  Acc@1:  3.1 (3.1)\nTrain: 1 [1250/1251 (100%)]  Loss: 5.05 (5.2)\n",
			"1/0 5.95 -, 2/0 5.05 -"},
		"timm without the last update": {"import timm\n_logger.info(f'Train: {epoch} [{i:>4d}/{n} ({100 * i / (n - 1):>3.0f}%)]  Loss: {loss.val:#.3g}')\n",
			"Train: 0 [   0/1000 (  0%)]  Loss: 6.95 (6.95)\nTrain: 0 [ 950/1000 ( 95%)]  Loss: 5.95 (6.4)\nTrain: 1 [   0/1000 (  0%)]  Loss: 5.85 (5.85)\n" +
				"Train: 1 [ 950/1000 ( 95%)]  Loss: 5.05 (5.2)\n", "1/0 5.95 -, 2/0 5.05 -"},
		"imagenet": {"progress = ProgressMeter(n, [losses], prefix=\"Epoch: [{}]\".format(epoch))\nfor epoch in range(args.start_epoch, args.epochs):\n",
			"Epoch: [0][   1/5005]\tTime  2.1 ( 2.1)\tData  1.0 ( 1.0)\tLoss 6.9e+00 (7.0e+00)\tAcc@1   0.00 (  0.00)\n" +
				"Epoch: [0][5001/5005]\tTime  0.1 ( 0.2)\tLoss 5.5e+00 (6.0e+00)\tAcc@1   3.00 (  1.00)\nTest: [ 1/98]\tTime 1.0\tLoss 5.0e+00\n * Acc@1 4.100 Acc@5 11.2\n" +
				"Epoch: [1][5001/5005]\tTime  0.1 ( 0.2)\tLoss 4.5e+00 (5.0e+00)\n", "1/0 5.5 -, 2/0 4.5 -"},
		"nanoGPT": {"max_iters = 500\nprint(f\"step {iter_num}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}\")\nprint(f\"iter {iter_num}: loss {lossf:.4f}\")\n",
			"step 0: train loss 10.9, val loss 10.95\niter 0: loss 10.9, time 3012.11ms, mfu -100.00%\niter 10: loss 9.5, time 30.11ms, mfu 17.11%\n" +
				"step 250: train loss 8.1, val loss 8.2\n", "0/10 9.5 -, 0/250 8.1 -"},
		"deepspeed": {"import deepspeed\nmodel, _, _, _ = deepspeed.initialize()\n",
			"[2024-03-12 10:03:01,000] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[0.001], mom=[[0.9, 0.999]]\n" +
				"steps: 20 loss: 2.5 iter time (s): 0.301 samples/sec: 26.5\n", "0/10 - -, 0/20 2.5 -"},
		"dictionaries": {"print({'epoch': epoch, 'loss': loss})\n", "{'epoch': 1, 'loss': 0.5}\n{\"loss\": 0.25, \"epoch\": 2}\n", "1/0 0.5 -, 2/0 0.25 -"},
		"loguru": {"for epoch in range(1, 9):\n  logger.info(f\"Epoch {epoch} loss={loss} acc={acc}\")\n",
			"\x1b[32m2026-03-01 10:00:00.123\x1b[0m | \x1b[1mINFO    \x1b[0m | \x1b[36m__main__\x1b[0m:\x1b[36m<module>\x1b[0m:\x1b[36m5\x1b[0m - \x1b[1mEpoch 1 loss=0.5 acc=91.5%\x1b[0m\n",
			"1/0 0.5 0.915"},
	} {
		t.Run(name, func(t *testing.T) {
			output := c.output
			if file, ok := strings.CutPrefix(output, "file "); ok {
				raw, err := os.ReadFile(filepath.Join("testdata", "logs", file))
				if err != nil {
					t.Fatal(err)
				}
				output = string(raw)
			}
			told, warned := followed(t, c.program, output)
			if all := strings.Join(told, ", "); all != c.want || len(warned) > 0 {
				t.Errorf("%q, want %q; warned %q", all, c.want, warned)
			}
		})
	}
}
