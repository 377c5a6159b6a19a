package start

import (
	"regexp"
	"slices"
	"strings"
)

// Parts of patterns: a number, the loss of the training, and an accuracy (a fraction, or percent). The loss and the
// accuracy are optional: lines without them match as well.
const (
	number             = `[0-9.eE+-]+`
	loss               = `(?:.*?` + lossName + `)?`
	lossName           = `[^a-z_](?:(?:train[a-z]*|avg|average|mean|running|total|epoch|batch)[ _/:-]+)*` + lossWord
	lossWord           = `loss(?:_epoch|_step| is)?(?: ?\(\w+\))?[^0-9a-z.+-]+(?:tensor\()?(?P<loss>[+-]?` + number + `)`
	accuracy           = `(?:.*[^a-z]` + accName + `(?P<accuracy>` + number + `))?`
	dictionaryAccuracy = `(?:.*["'](?:val_|eval_|test_)?acc(?:uracy)?["']:\s*["']?(?P<accuracy>` + number + `))?`
	barAccuracy        = `[^a-z](?:val|valid|test|eval)[_/]acc(?:uracy)?(?:_epoch)?[:=]\s*`
	accName            = `acc(?:uracy)?(?: is)?[^0-9a-z.+-]+`
)

// catboostWork matches the names of CatBoost for the number of trees.
const catboostWork = `iterations|n_estimators|num_trees|num_boost_round`

// kerasLines matches the lines of Keras: "Epoch 1/3", and then 4/4 - 1s - loss: 0.5 - val_accuracy: 0.9.
const kerasLines = `^\s*[Ee]poch\s+(?P<epoch>[0-9]+)\s*/\s*[0-9]+\s*$` +
	`|^\s*(?P<batch>[0-9]+)\s*/\s*(?P<batches>[0-9]+)\s` +
	`(?:.*?` + kerasAccuracy + `(?P<accuracy>` + number + `).*?` + kerasLoss + `(?P<loss>` + number + `)` +
	`|.*?` + kerasLoss + `(?P<loss2>` + number + `)(?:.*?` + kerasAccuracy + `(?P<accuracy2>` + number + `))?` +
	`|.*?` + kerasAccuracy + `(?P<accuracy3>` + number + `))?` +
	`(?:.*\sval_(?:\w+_)?acc(?:uracy)?:\s+(?P<accuracy4>` + number + `))?`

// Parts of kerasLines: Keras 3 prints the accuracy before the loss, Keras 2 behind it.
const (
	kerasAccuracy = `[^a-z_](?:\w+_)?acc(?:uracy)?:\s+`
	kerasLoss     = `\s(?:train_)?loss:\s+`
)

// Parts of the sources of programs: calls that print or log text, and imports of packages.
const (
	printing = `(?:print\w*|log\w*\.info|\.info|\.write|\becho|set_description(?:_str)?)\(\s*`
	imports  = `(?m)^\s*(?:import|from)\s+(?:[\w.]+(?:[ \t]+as[ \t]+\w+)?[ \t]*,[ \t]*)*(?:%)\b`
)

// progressStyle is a way in which programs print their progress.
type progressStyle struct {
	// A program has this style if its source matches every pattern of by, and not the pattern unless.
	by     []string
	unless string
	// lines matches the printed lines (see the argument lines of progress blocks). steps reports whether the lines
	// count steps instead of epochs.
	lines string
	steps bool
	// either reports that some programs of this style count epochs from 0, and others from 1. The group epoch0 is for
	// counting from 0.
	either bool
	// work matches the names of the program's number of epochs or steps; empty for the usual names.
	work string
	// note says what is not read, and what to do about it; empty if there is nothing to say.
	note string
}

// imported matches programs that import one of some packages.
func imported(packages ...string) string {
	return strings.Replace(imports, "%", strings.Join(packages, "|"), 1)
}

// progressStyles lists the known styles; the first that fits counts. Styles of frameworks come before lines that
// programs print themselves.
var progressStyles = []progressStyle{
	{ // Hugging Face: {'loss': 0.5, 'epoch': 1.0}
		by: []string{imported("transformers", "trl"), `Trainer\(`},
		lines: `\{(?:.*'loss': '?(?P<loss>` + number + `))?(?:.*'(?:eval_)?accuracy': '?(?P<accuracy>` + number +
			`))?.*'epoch': '?(?P<epoch>[0-9.]+)`,
	},
	{ // Lightning: Epoch 0: 100%|██| 4/4 [00:00<00:00, v_num=0], and its bar of rich
		by:     []string{imported("pytorch_lightning", "lightning")},
		unless: `\benable_progress_bar\s*=\s*False\b`,
		note: "Lightning uses the package rich where it is installed: its bar appears at the end of a program alone, " +
			"if the output is not a terminal. To print each epoch, give the Trainer  callbacks=[TQDMProgressBar()]",
		lines: `Epoch (?P<epoch0>[0-9]+)(?:/-?[0-9]+)?:?\s.*?\s(?P<batch>[0-9]+)/(?:(?P<batches>[0-9]+)|\?|--)` +
			`(?:(?:.*` + barAccuracy + `(?P<accuracy>` + number + `))?.*` + lossName + `)?(?:.*` + barAccuracy +
			`(?P<accuracy2>` +
			number + `))?`,
	},
	{ // YOLO: 1/3  0G  1.2  4.3  1.3  17  640: 100%|██| 4/4; in a file several of them are in one line
		by: []string{imported("ultralytics")},
		lines: `(?:.*\s|^)(?P<epoch>[0-9]+)/[0-9]+\s+[0-9.]+G\s+(?P<loss>` + number + `).*\s(?P<batch>[0-9]+)/(?P` +
			`<batches>[0-9]+)`,
	},
	{ // Paddle: Epoch 1/2, and then step 938/938 [===] - loss: 0.4 - acc: 0.9
		by: []string{imported("paddle"), `\.fit\(`},
		lines: `^\s*Epoch\s+(?P<epoch>[0-9]+)/[0-9]+\s*$|^\s*step\s+(?P<batch>[0-9]+)/(?P<batches>[0-9]+)\s(?:.*?` +
			`\sloss: (?P<loss>` + number +
			`))?(?:.*?\sacc: (?P<accuracy>` + number + `))?`,
	},
	{
		by:     []string{imported("tensorflow", "keras", "tf_keras"), `\.fit\(`},
		unless: `\.fit\([^#]*\bverbose\s*=\s*(?:0|False)\b`,
		lines:  kerasLines,
	},
	{
		by: []string{imported("tensorflow", "keras", "tf_keras"), `\bProgbar\(`, printing +
			`f?["'](?:\\n)?[Ee]poch`}, lines: kerasLines,
	},
	{ // XGBoost: [0]	train-rmse:0.5	eval-rmse:0.6
		by: []string{imported("xgboost")}, work: `num_boost_round|n_estimators|num_rounds?`,
		lines: `^\s*\[(?P<epoch0>[0-9]+)\]\s+(?:.*?-\w*(?:loss|nloglik)\S*?:(?P<loss>` + number + `)|.*?-\w*(?:error|rms` +
			`|mae|mape|deviance)\S*?:(?P<loss2>` + number + `)|[\w.]+-\w)`,
	},
	{ // LightGBM: [1]	training's l2: 0.5
		by: []string{imported("lightgbm")}, work: `n_estimators|num_boost_round|num_iterations?|num_trees`,
		lines: `^\s*(?:\[(?P<epoch>[0-9]+)\]|\[LightGBM\].*Iteration:(?P<epoch2>[0-9]+),)\s+\S+(?:'s)?\s+` +
			`(?:(?:.*?\s)??(?:l1|l2|rmse|mape|quantile|huber|fair|poisson|gamma|\w*loss\w*|\w*error\w*` +
			`|\w*entropy)\s*:\s*(?P<loss>` + number +
			`)|\S)`,
	},
	{ // CatBoost: 0:	learn: 0.69	test: 0.7	total: 50ms; a metric of one's own may be no loss
		by:     []string{imported("catboost")},
		work:   catboostWork,
		unless: `\b(?:eval_metric|custom_metric)\s*=`,
		lines:  `^\s*(?P<epoch0>[0-9]+):\s+learn: (?P<loss>` + number + `)`,
	},
	{
		by:    []string{imported("catboost")},
		work:  catboostWork,
		lines: `^\s*(?P<epoch0>[0-9]+):\s+learn: `,
	},
	{ // linear models of scikit-learn: -- Epoch 1, and then Norm: 1.2, NNZs: 5, Bias: 0.1, T: 100, Avg. loss: 0.5
		by: []string{imported("sklearn"), `\bverbose\s*=\s*(?:True|[1-9])`, `\b(?:SGD|Perceptron|PassiveAggres` +
			`sive)\w*\(`}, work: `max_iter`,
		lines: `^-- Epoch (?P<epoch>[0-9]+)\s*$|^Norm: .*Avg\. loss: (?P<loss>` + number + `)`,
	},
	{ // networks of scikit-learn: Iteration 1, loss = 0.7
		by: []string{imported("sklearn"), `\bverbose\s*=\s*(?:True|[1-9])`, `\bMLPClassifier\(`}, work: `max_iter`,
		lines: `^\s*Iteration (?P<epoch>[0-9]+), loss = (?P<loss>` + number + `)|^Validation score: (?P<accuracy>` +
			number + `)`,
	},
	{
		by: []string{imported("sklearn"), `\bverbose\s*=\s*(?:True|[1-9])`, `\bMLP\w+\(`}, work: `max_iter`,
		lines: `^\s*Iteration (?P<epoch>[0-9]+), loss = (?P<loss>` + number + `)`,
	},
	{ // clusters of scikit-learn: Iteration 0, inertia 584.7
		by: []string{imported("sklearn"), `\bverbose\s*=\s*(?:True|[1-9])`, `\bKMeans\(`}, work: `max_iter`,
		lines: `^Iteration (?P<epoch0>[0-9]+), inertia (?P<loss>` + number + `)`,
	},
	{ // gradient boosting of scikit-learn, a table:  1  1.2  3.00s, and [1/9] 1 tree, 31 leaves, train loss: 0.5
		by:    []string{imported("sklearn"), `\bverbose\s*=\s*(?:True|[1-9])`, `\bGradientBoosting\w+\(`},
		lines: `^\s+(?P<epoch>[0-9]+)\s+(?P<loss>` + number + `)\s.*[0-9][smh]\s*$`,
	},
	{
		by: []string{imported("sklearn"), `\bverbose\s*=\s*(?:[2-9])`, `\bHistGradientBoosting\w+\(`}, work: `max_iter`,
		lines: `^\[(?P<epoch>[0-9]+)/[0-9]+\] [0-9]+ trees?,(?:.*\btrain loss: (?P<loss>` + number + `))?`,
	},
	{ // forests of scikit-learn: building tree 1 of 10
		by:    []string{imported("sklearn"), `\bverbose\s*=\s*(?:[2-9])`, `\b(?:RandomForest|ExtraTrees)\w+\(`},
		lines: `^building tree (?P<epoch>[0-9]+) of [0-9]+`,
	},
	{ // Optuna: Trial 0 finished with value: 0.7
		by: []string{imported("optuna"), `\.optimize\(`}, unless: printing + `.*epoch`, work: `n_trials`,
		lines: `\bTrial (?P<epoch0>[0-9]+) (?:finished|pruned|failed)`,
		note: "The trials of Optuna count as epochs, and their values are not read. tfexp searches settings itself, by a " +
			"tune block, and can stop trials early:  tfexp init --template tune",
	},
	{ // OpenMMLab: Epoch(train)  [1][ 50/100]  lr: 1e-3  loss: 0.5
		by: []string{imported("mmengine", "mmcv", "mmdet", "mmseg", "mmcls", "mmpretrain", "mmpose")},
		lines: `Epoch(?:\(train\))?\s+\[(?P<epoch>[0-9]+)\]\[\s*(?P<batch>[0-9]+)/(?P<batches>[0-9]+)\](?:.*?\slo` +
			`ss: (?P<loss>` + number +
			`))?`,
	},
	{ // Detectron2: iter: 19  total_loss: 9.6
		by: []string{imported("detectron2")}, steps: true,
		lines: `\biter: (?P<step>[0-9]+)\s(?:.*?\btotal_loss: (?P<loss>` + number + `))?`,
	},
	{ // skorch, a table of epoch, train_loss, valid_acc, valid_loss and dur:  1  0.70  0.50  0.69  0.01
		by: []string{imported("skorch"), `\bNeuralNet(?:Binary)?Classifier\(`},
		lines: `^\s+(?P<epoch>[0-9]+)\s+(?P<loss>` + number + `|nan|inf)\s+(?P<accuracy>` + number +
			`)\s+\S+\s.*[0-9.]+\s*$`,
	},
	{
		by:    []string{imported("skorch"), `\bNeuralNet\w*\(`},
		lines: `^\s+(?P<epoch>[0-9]+)\s+(?P<loss>` + number + `|nan|inf)\s.*[0-9.]+\s*$`,
	},
	{ // fastai with accuracy as its first metric
		by: []string{imported("fastai"), `\bmetrics\s*=\s*\[?\s*accuracy\b`},
		lines: `^\s*(?P<epoch0>[0-9]+)\s+(?P<loss>` + number + `|nan|inf)\s+\S+\s+(?P<accuracy>` + number +
			`)\s.*\s?[0-9]+:[0-9]+\s*$`,
	},
	{ // fastai, a table: 0  0.50  0.40  0.90  00:05
		by:    []string{imported("fastai")},
		lines: `^\s*(?P<epoch0>[0-9]+)\s+(?P<loss>` + number + `|nan|inf)\s.*\s[0-9]+:[0-9]+\s*$`,
	},
	{ // fairseq: | INFO | train | epoch 001 | loss 7.5 | ppl 180, and {"epoch": 1, "train_loss": "7.5"}
		by: []string{`\bfairseq\b`},
		lines: `\| train \| epoch (?P<epoch>[0-9]+) \|(?: loss (?P<loss>` + number + `))?|\{"epoch": (?P<epoch2>[0-9]+),` +
			`.*?"train_loss": "?(?P<loss2>` + number + `)`,
	},
	{ // Gluon's estimator: [Epoch 0] Finished in 3.2s, training accuracy: 0.9, training softmaxcrossentropyloss: 0.5
		by: []string{imported("mxnet"), `\bEstimator\(`},
		lines: `\[Epoch (?P<epoch0>[0-9]+)\] Finished in(?:.*?\btrain(?:ing)? accuracy: (?P<accuracy>` + number +
			`))?(?:.*?\btrain(?:ing)? \w*loss\w*: (?P<loss>` + number + `))?(?:.*?\bvalidation accuracy: (?P<accuracy2>` +
			number + `))?`,
	},
	{ // MXNet: Epoch[0] Train-accuracy=0.9, and Epoch[0] Time cost=12.3
		by: []string{imported("mxnet"), `\.fit\(`},
		lines: `\bEpoch\[(?P<epoch0>[0-9]+)\] (?:Time cost=|(?:Train|Validation)-accuracy=(?P<accuracy>` + number +
			`)|Train-(?:[\w-]*loss|cross-entropy|nll-loss|rmse|mse|mae)=(?P<loss>` + number + `))`,
	},
	{ // spaCy, a table of E, #, the losses, the scores and SCORE:   0     200         44.17   3214.01   50.00    0.50
		by: []string{`\bspacy["']?[\s,]+["']?train\b|\bspacy\.cli\.train\b`}, steps: true,
		lines: `^\s*-?[0-9]+\s+(?P<step>[0-9]+)\s+[0-9.]+\s.*[0-9]\s*$`,
		note: "The table of spaCy has a loss for each component, and no loss of the whole: its steps alone are read. For " +
			"the loss of the first component, write (?P<loss>[0-9.]+) in place of the last [0-9.]+ in lines. The option of " +
			"spacy train for the number of steps is  --training.max_steps $TFEXP_STEPS",
	},
	{ // Stable-Baselines3, a table: |    total_timesteps | 2048     |, and behind it |    loss            | 0.5      |
		work:  `total_timesteps|(?:num_)?timesteps`,
		by:    []string{imported("stable_baselines3", "sb3_contrib"), `\.learn\(`, `\bverbose\s*=\s*(?:True|[1-9])`},
		steps: true,
		lines: `^\|\s+total_timesteps\s+\|\s*(?P<step>[0-9]+)\s*\||^\|\s+loss\s+\|\s*(?P<loss>` + number + `)\s*\|`,
		note: "The tables of Stable-Baselines3 have rewards, which are not read, and a loss for some algorithms (PPO, " +
			"DQN): for another value, name it in place of loss in lines.",
	},
	{
		by: []string{imported("stable_baselines3", "sb3_contrib"), `\.learn\(`}, steps: true, work: `total_timesteps`,
		note: "Stable-Baselines3 prints its tables with verbose=1 in the call that makes the model: add it, and run tfexp " +
			"init again.",
	},
	{ // Megatron: iteration 100/ 500 | consumed samples: 800 | lm loss: 6.5E+00
		by: []string{`(?i)\bmegatron\b`}, steps: true,
		lines: `\biteration\s+(?P<step>[0-9]+)\s*/\s*[0-9]+\s*\|(?:.*\b(?:lm )?loss: (?P<loss>` + number + `))?`,
	},
	{ // timm: Train: 0 [  50/1251 (  4%)]  Loss: 6.95 (6.95)
		by: []string{`["']Train: \{`},
		lines: `Train: (?P<epoch0>[0-9]+) \[\s*[0-9]+/[0-9]+ \(\s*(?P<batch>[0-9]+)%\)\](?:.*?Loss:\s+(?P<loss>` +
			number + `))?`,
	},
	{ // PyTorch's example for ImageNet: Epoch: [0][  10/5005]	Time …	Loss 6.9 (7.0)
		by: []string{`["']Epoch: \[\{[^}]*\}\]["']`},
		lines: `Epoch: \[(?P<epoch0>[0-9]+)\]\s*\[\s*(?P<batch>[0-9]+)/(?P<batches>[0-9]+)\](?:.*?\b[Ll]oss:?\s+(` +
			`?P<loss>` + number +
			`))?`,
	},
	{ // Keras behind another library
		by: []string{`\.fit\([^#]*\bverbose\s*=\s*2\b`}, unless: printing + `.*epoch`, lines: kerasLines,
	},
	{ // PyTorch's tutorials: [1,  2000] loss: 2.2, and [0/5][0/1583]	Loss_D: 1.6
		by:    []string{printing + `f?["']\[(?:%d|\{[^}]*\+ *1[^}]*\}),\s*(?:%\d*d|\{[^}]*\})\]`},
		lines: `^\[(?P<epoch>[0-9]+),\s*(?P<batch>[0-9]+)\](?i:` + loss + `)`,
	},
	{
		by:    []string{printing + `f?["']\[(?:%d/%d|\{[^}]*\}/\{[^}]*\})\]\s?\[(?:%d/%d|\{[^}]*\}/\{[^}]*\})\]`},
		lines: `^\[(?P<epoch0>[0-9]+)/[0-9]+\]\s?\[(?P<batch>[0-9]+)/(?P<batches>[0-9]+)\](?i:` + loss + `)`,
	},
	{ // nanoGPT, and programs that print their steps
		by: []string{`(?i)` + printing + `.*["'](?:[^"']*[^\w\s"'] *)?\s*(?:(?:train(?:ing)?|global)[ _]+)?(?:step` +
			`|iter(?:ation)?)s?\W{0,4}[{%]`},
		unless: `(?i)` + printing + `.*epoch`, steps: true,
		lines: `(?:^|[^\w\s]\s*|[,.]\d+ )(?i:(?:(?:train(?:ing)?|global)[ _]+)?(?:step|iter(?:ation)?))s?[^0-9a-z]*` +
			`(?P<step>[0-9]+)(?i:` + loss + accuracy + `)`,
	},
	{ // DeepSpeed: [Rank 0] step=10, skipped=0, lr=[0.001], and steps: 10 loss: 0.5
		by: []string{imported("deepspeed")}, unless: `(?i)` + printing + `.*epoch`, steps: true,
		lines: `\bsteps?[=:]\s?(?P<step>[0-9]+)[, ](?:.*\bloss: (?P<loss>` + number + `))?`,
	},
	{ // dictionaries with a whole number of epochs: {"epoch": 1, "loss": 0.5}
		by: []string{printing + `(?:str\(|json\.dumps\()?\{[^}]*["']epoch["']:\s*epoch\b[^}]*\}`,
			`\bfor\s+epoch\s+in\s+(?:range|trange|tqdm)\(`}, either: true,
		lines: `["'](?:train[a-z]*_)?loss["']:\s*["']?(?P<loss>` + number + `).*["']epoch["']:\s*(?P<epoch0>[0-9]+)|` +
			`["']epoch["']:\s*(?P<epoch02>[0-9]+)(?:.*["'](?:train[a-z]*_)?loss["']:\s*["']?(?P<loss2>` + number +
			`))?` + dictionaryAccuracy,
	},
	{ // dictionaries: {"epoch": 1, "loss": 0.5}
		by: []string{printing + `(?:str\(|json\.dumps\()?\{[^}]*["']epoch["'][^}]*\}`},
		lines: `["'](?:train[a-z]*_)?loss["']:\s*["']?(?P<loss>` + number + `).*["']epoch["']:\s*["']?(?P<epoch>[` +
			`0-9.]+)|["']epoch["']:\s*["']?(?P<epoch2>[0-9.]+)(?:.*["'](?:train[a-z]*_)?loss["']:\s*["']?(?P<loss2>` +
			number + `))?` + dictionaryAccuracy,
	},
	{ // 1/8: train/loss=0.5, and [1/8] loss=0.5
		by: []string{`(?i)` + printing + `f?["']\[?\{\s*(?:epoch|ep|e)\b[^}]*\}\s?/\s?\{`}, either: true,
		lines: `(?:^|[^\w.]\s*)(?P<epoch0>[0-9]+)\s?/\s?[0-9]+\b(?i:` + loss + accuracy + `)`,
	},
	{ // structlog: epoch=1 train_loss=0.5, and {"epoch": 1, "train_loss": 0.5}
		by: []string{`\.(?:info|msg|debug)\(\s*f?["'][^"'{%]*["']\s*,[^)]*\bepoch\s*=\s*epoch\b`}, either: true,
		lines: `\bepoch["']?[=:]\s*(?P<epoch0>[0-9]+)(?i:` + loss + accuracy + `)`,
	},
	{ // a bar of batches in each epoch: Epoch 1:  50%|█ | 2/4 [loss=0.5]
		by: []string{`\btqdm\b`, `(?i)(?:desc\s*=\s*|set_description(?:_str)?\()f?["'](?:train\w*\s*)?\[?epoch\W{` +
			`0,4}[{%]`}, either: true,
		lines: `(?i:epoch)\W*(?P<epoch0>[0-9]+).*?\|\s*(?P<batch>[0-9]+)/(?P<batches>[0-9]+)\s(?i:` + loss + `)`,
	},
	{ // programs that print their epochs
		by: []string{`(?i)` + printing + `.*epoch(?:\W{0,4}[{%]|\W{0,2}["'],\s*\w)`}, either: true,
		lines: `(?i:epoch)\W*(?P<epoch0>[0-9]+)(?i:` + loss + accuracy + `)`,
	},
	{ // a bar of the epochs:  33%|███ | 1/3 [00:01<00:02, loss=0.5]
		by:    []string{`\b(?:tqdm|trange)\(\s*(?:range\(\s*)?(?:\w+\.)*(?:` + epochs + `)\b`},
		lines: `%\|.*\|\s*(?P<epoch>[0-9]+)/[0-9]+ \[(?i:` + loss + `)`,
	},
	{ // a bar of the steps of the whole training
		by: []string{`\b(?:tqdm|trange)\(\s*(?:range\(\s*)?(?:\w+\.)*(?:max_|num_|total_|n_)?(?:train(?:ing)?_` +
			`|update_)?(?:steps|iters|iterations)\b`},
		steps: true,
		lines: `%\|.*\|\s*(?P<step>[0-9]+)/[0-9]+ \[(?i:` + loss + `)`,
	},
	{ // a bar of batches, in epochs that nothing names
		by:    []string{`\btqdm\(\s*(?:enumerate\(\s*)?\w*(?:load|train|data)\w*`},
		lines: `%\|.*\|\s*(?P<batch>[0-9]+)/(?P<batches>[0-9]+) \[(?i:` + loss + `)`,
	},
}

// Patterns of the sources of programs whose epochs count from 0, and from 1. The second has precedence.
var (
	fromZero = regexp.MustCompile(`range\(|enumerate\(`)
	fromOne  = regexp.MustCompile(`(?i)epoch\W{0,6}\w+\s*\+\s*1|(?:str|format|%)\s*\(\s*epoch\s*\+\s*1` +
		`|["'],\s*epoch\s*\+\s*1|\bfor\s+(?:\w*ep\w*|[a-z])\b[^\n]*(?:range\(\s*1\s*,|start\s*=\s*1\b)` +
		`|range\(\s*1\s*,[^\n]*epoch|\[?\{\s*(?:epoch|ep|e)\s*\+\s*1\s*\}\s?/|range\([^)\n]*epochs?\s*\+\s*1\s*\)` +
		`|(?i:epoch)[^\n]*["']\s*(?:%\s*\(?|\.format\()\s*\w+\s*\+\s*1\b`) // the first value of a format
)

// findStyle returns the style in which a program prints its progress; without lines if no style is recognized.
func findStyle(source []byte) progressStyle {
	for _, s := range progressStyles {
		missing := func(by string) bool { return !regexp.MustCompile(by).Match(source) }
		if slices.ContainsFunc(s.by, missing) || s.unless != "" && !missing(s.unless) {
			continue
		}
		if s.either && (fromOne.Match(source) || !fromZero.Match(source)) {
			s.lines = strings.ReplaceAll(s.lines, "epoch0", "epoch")
		}
		if s.either || s.steps && strings.Contains(s.lines, accuracy) {
			s.lines = s.separated(source)
		}
		return s
	}
	return progressStyle{}
}
