package start_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/cmd/tfexp/start"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/decode"
	_ "github.com/tfexp/tfexp/stages/all"
)

func TestInspect(t *testing.T) {
	for _, c := range []struct {
		file, source string
		command      []string
		epochs       int
		frameworks   []string
		doubts       int
	}{
		{
			"train.py", "import torch\nparser.add_argument('--epochs', type=int, default=25)\n",
			[]string{"sh", "-c", "exec python3 train.py --epochs $TFEXP_EPOCHS"}, 25, []string{"PyTorch"}, 1,
		},
		{
			"train.py", "import os\nfrom tensorflow import keras\nEPOCHS = 7\nn = " +
				"int(os.environ['TFEXP_EPOCHS'])\nprint({\"tfexp\": {}})\n",
			[]string{"python3", "train.py"}, 7, []string{"TensorFlow"}, 0,
		},
		{"train.py", "for i in range(3): pass\n", []string{"python3", "train.py"}, 10, nil, 2},
		{"it's mine.py", "parser.add_argument('--epochs', default=4)\n",
			[]string{"sh", "-c", `exec python3 'it'\''s mine.py' --epochs $TFEXP_EPOCHS`}, 4, nil, 1},
		{"train.py", "parser.add_argument(\n  '--num_train_epochs',\n  default=6)\n",
			[]string{"sh", "-c", "exec python3 train.py --num_train_epochs $TFEXP_EPOCHS"}, 6, nil, 1},
		{"train.py", "t = Trainer(max_epochs=8)\n", []string{"python3", "train.py"}, 8, nil, 2},
		{"run.sh", "#!/bin/sh\nTFEXP_EPOCHS\n", []string{"./run.sh"}, 10, nil, 1},
		{"run.sh", "echo $TFEXP_EPOCHS\n", []string{"sh", "run.sh"}, 10, nil, 1},
		{"train.py", "import sys\nnum_epochs = int(sys.argv[1])\n",
			[]string{"sh", "-c", "exec python3 train.py $TFEXP_EPOCHS"}, 10, nil, 1},
		{"run.sh", "#!/bin/sh\npython3 t.py --epochs \"${1:-3}\"\n", []string{"sh", "-c", "exec ./run.sh $TFEXP_EPOCHS"}, 3, nil, 1},
		{"run.sh", "#!/bin/sh\npython3 t.py --epochs \"$10\"\n", []string{"./run.sh"}, 10, nil, 2},
	} {
		t.Chdir(t.TempDir())
		if err := os.WriteFile(c.file, []byte(c.source), 0o755); err != nil {
			t.Fatal(err)
		}
		p := start.InspectProgram(c.file, []byte(c.source))
		if d := cmp.Diff(c.command, p.Command); d != "" {
			t.Errorf("command of %q:\n%s", c.source, d)
		}
		if p.Work != c.epochs || !cmp.Equal(p.Frameworks, c.frameworks) || len(p.OpenQuestions()) != c.doubts {
			t.Errorf("%q: %d epochs, %v, %v", c.source, p.Work, p.Frameworks, p.OpenQuestions())
		}
		source, err := p.Experiment("mine")
		if err != nil {
			t.Fatal(err)
		}
		dir, err := os.Getwd()
		if err != nil {
			t.Fatal(err)
		}
		spec, diags := decode.Source(filepath.Join(dir, "mine.hcl"), source, decode.Options{
			Host: experiments.HostFacts{Threads: 2, Cores: 2, MemoryBytes: 8 << 30},
		})
		if len(diags) > 0 || len(spec.Cells) != 3 {
			t.Errorf("the experiment of %q: %v", c.source, diags)
		}
		if formatted := strings.Contains(string(source), "\t"); formatted {
			t.Errorf("the experiment of %q has tabs", c.source)
		}
	}
}

// TestNotes says what is not read of an output, and how many steps a program has.
func TestNotes(t *testing.T) {
	for source, want := range map[string]struct {
		work int
		note string
	}{
		"from stable_baselines3 import PPO\nm = PPO('MlpPolicy', env, verbose=1)\nm.learn(total_timesteps=25_000)\n": {25000, "have rewards, which are not read"},
		"from stable_baselines3 import PPO\nm = PPO('MlpPolicy', env)\nm.learn(total_timesteps=500)\n":               {500, "prints its tables with verbose=1"},
		"python -m spacy train config.cfg\n": {1000, "its steps alone are read"},
	} {
		p := start.InspectProgram("run.sh", []byte(source))
		if said := strings.Join(p.OpenQuestions(), " "); !p.Steps || p.Work != want.work || !strings.Contains(said, want.note) {
			t.Errorf("%q: %d %s, %q", source, p.Work, p.Unit(), said)
		}
	}
}

// Lines of progress are recognized by the code that prints them.
func TestRecognizedLines(t *testing.T) {
	for source, printed := range map[string]string{
		"print(f'Epoch {epoch + 1}/{n} - loss: {loss:.2f}')":                     "1 = epoch: Epoch 3/30 - loss: 0.41",
		"for epoch in range(1, n + 1):\n  print(f\"epoch {epoch} loss={loss}\")": "1 = epoch: epoch 3 loss=0.5",
		"for epoch in range(n):\n  print(f'Epoch: {epoch}, loss {loss}')":        "2 = epoch0: Epoch: 2, loss 0.5",
		"print('epoch %d: loss %g' % (epoch, loss))":                             "1 = epoch: epoch 3: loss 0.5",
		"for e in range(n):\n  print('Epoch: %d/%d, loss %g' % (e + 1, n, x))":   "1 = epoch: Epoch: 3/5, loss 0.5",
		"for e in range(n):\n  print('Epoch {} loss {}'.format(e + 1, loss))":    "1 = epoch: Epoch 3 loss 0.5",
		"for e in range(n):\n  print('epoch %d: loss %g' % (e, loss + 1))":       "2 = epoch0: epoch 2: loss 0.5",
		"import lightning as L\ntrainer.fit(model)":                              "2 = epoch0: Epoch 2: 100%|##| 9/9 [00:01, loss=0.5]",
		"from transformers import Trainer\nt = Trainer(m)":                       "3 = epoch: {'loss': 0.5, 'lr': 1e-05, 'epoch': 3.0}",
		"model.fit(x, y, epochs=3,\n  verbose=2)":                                "157/157 - 1s - accuracy: 0.9 - loss: 0.5",
		"for epoch in range(n):\n  print('epoch', epoch, 'loss', loss)":          "2 = epoch0: epoch 2 loss 0.5",
		"print(\"Epoch:\", epoch + 1, \"loss:\", loss)":                          "1 = epoch: Epoch: 3 loss: 0.5",
		"print({'loss': loss, 'epoch': epoch + 1})":                              "3 = epoch: {'loss': 0.5, 'epoch': 3}",
		"model.fit(x, y)": "", "print(loss)": "",
	} {
		p := start.InspectProgram("train.py", []byte(source))
		_, line, _ := strings.Cut(printed, ": ")
		if !strings.Contains(printed, " = ") {
			line = printed
		}
		if (p.Lines == "") != (printed == "") {
			t.Errorf("%s: the pattern is %q", source, p.Lines)
			continue
		}
		if p.Lines == "" {
			continue
		}
		re := regexp.MustCompile(p.Lines)
		m := re.FindStringSubmatch(line)
		if m == nil || m[re.SubexpIndex("loss")] == "" {
			t.Errorf("%s: %q does not match %q: %q", source, p.Lines, line, m)
		}
		if _, group, counts := strings.Cut(strings.SplitN(printed, ":", 2)[0], " = "); counts && re.SubexpIndex(group) < 0 {
			t.Errorf("%s: %q has no group %q", source, p.Lines, group)
		}
		if !strings.Contains(strings.Join(p.Command, " "), "python3 -u") {
			t.Errorf("%s: %q does not flush its lines", source, p.Command)
		}
		text, err := p.Experiment("mine")
		if err != nil || !strings.Contains(string(text), "progress {") {
			t.Errorf("%v: %s", err, text)
		}
	}
}

// The required arguments of a program are named.
func TestNeededArguments(t *testing.T) {
	p := start.InspectProgram("train.py", []byte(`
p.add_argument("data", help="a folder")
p.add_argument("out", nargs="?")
p.add_argument("--epochs", required=True)
p.add_argument('--model', type=str, required=True)
p.add_argument("--lr", default=0.1)
`))
	if d := cmp.Diff([]string{"data", "--model"}, p.Arguments); d != "" {
		t.Error(d)
	}
	if said := p.OpenQuestions()[0]; said != "It needs more arguments: add data, --model to command." {
		t.Error(said)
	}
}

// TestAdditions: the second job and the workload are marked as additions, and the second job is never the longer one.
func TestAdditions(t *testing.T) {
	for epochs, shorter := range map[string]string{"1": "1", "3": "2", "50": "10"} {
		source, err := start.InspectProgram("train.py", []byte("parser.add_argument('--epochs', type=int, default="+epochs+")\n")).
			Experiment("mine")
		if err != nil {
			t.Fatal(err)
		}
		_, short, _ := strings.Cut(string(source), "\n# An addition: the same program with fewer epochs.")
		short, mix, _ := strings.Cut(short, "\n# An addition: one long job, and three short ones")
		if !strings.Contains(short, "\njob \"short\" {") || !strings.Contains(short, "  epochs  = "+shorter+"\n") {
			t.Errorf("%s epochs: the addition is %s", epochs, short)
		}
		if !strings.Contains(mix, "\nworkload \"mixed\" {") {
			t.Errorf("%s epochs: the workload is not marked as an addition", epochs)
		}
	}
}
