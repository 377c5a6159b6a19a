package start_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/cmd/tfexp/start"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/decode"
)

// TestSettings reads the options of programs. For these it writes searches, which must be valid.
func TestSettings(t *testing.T) {
	for name, c := range map[string]struct{ program, want, command string }{
		"argparse": {`import argparse
p = argparse.ArgumentParser()
p.add_argument("-l", "--lr", type=float, default=1e-3, help="rate (per step), not more")
p.add_argument("--batch-size", type=int, default=32)
p.add_argument('--opt', choices=['sgd', "adam"], default="sgd")
p.add_argument("--dropout", type=float, default=0.1)
p.add_argument("--epochs", type=int, default=5)
p.add_argument("--seed", type=int, default=7)
p.add_argument("--amp", action="store_true")
p.add_argument("--wd", type=float, default=0)
p.add_argument("--name", default="x")
print(f"Epoch {epoch + 1} loss {loss}")`,
			`lr 0.0001..0.01 log, batch_size [16 32 64], opt ["sgd" "adam"], dropout 0..0.2`,
			`["sh", "-c", "exec python3 -u train.py --epochs $TFEXP_EPOCHS \"$@\"", "train.py", "--lr", each.lr, "--batch-size", each.batch_size, ` +
				`"--opt", each.opt, "--dropout", each.dropout]`},
		"click": {`import click
@click.option("--lr", default=0.01, show_default=True)
@click.option("--width", type=click.IntRange(8, 64), default=16)
@click.option("--opt", type=click.Choice(["sgd", "adam"]))
@click.option("--cold/--warm", default=True)
def main(): pass`, `lr 0.001..0.1 log, width 8..64, opt ["sgd" "adam"]`, `["python3", "train.py", "--lr", each.lr`},
		"absl": {`flags.DEFINE_float("learning_rate", 0.1, "The rate.")
flags.DEFINE_integer("hidden", 64, "Units.")
flags.DEFINE_enum("opt", "sgd", ["sgd", "adam"], "Which.")`, `learning_rate 0.01..1 log, hidden [32 64 128], opt ["sgd" "adam"]`,
			`"--learning_rate", each.learning_rate`},
		"a call without an end": {`p.add_argument("--lr", type=float, default=0.1`, "", ""},
		"none":                  {`p.add_argument("--verbose", action="store_true")`, "", ""},
	} {
		p := start.InspectProgram("train.py", []byte(c.program))
		if got := shown(p.Settings); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if c.want != "" {
			searched(t, p, c.command)
		}
	}
	config := []byte("defaults:\n  - _self_\nhydra:\n  x: 3\nseed: 3\nepochs: 9\nmodel:\n  width: 64 # units\n  drop: {a: 1}\noptim:\n  lr: 1e-3\n  name: adam\n")
	program := []byte("import hydra\n@hydra.main(version_base=None, config_path=\"conf\", config_name=\"base\")\ndef main(cfg): pass\n")
	if got := start.HydraConfig(program); got != "conf/base.yaml" {
		t.Errorf("the configuration is %q", got)
	}
	p := start.InspectProgram("train.py", program)
	p.Settings = start.SettingsOfYAML(config)
	if got := shown(p.Settings); got != "model_width [32 64 128], optim_lr 0.0001..0.01 log" {
		t.Errorf("of Hydra: %s", got)
	}
	searched(t, p, `["python3", "train.py", "model.width=${each.model_width}", "optim.lr=${each.optim_lr}"]`)
}

// shown returns a list of settings as one line.
func shown(list []start.Setting) string {
	var out []string
	for _, s := range list {
		text := fmt.Sprint(s.Name, " ", s.Values)
		if s.Values == nil {
			text = fmt.Sprintf("%s %s..%s", s.Name, s.Min, s.Max)
		}
		if s.Log {
			text += " log"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

// searched checks that the search of a program can be read, and has the command.
func searched(t *testing.T, p start.TrainingProgram, command string) {
	t.Helper()
	source, err := p.Search("mine", false)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "train.py"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, diags := decode.Source(filepath.Join(dir, "mine.hcl"), source, decode.Options{
		Host: experiments.HostFacts{Threads: 2, Cores: 2, MemoryBytes: 8 << 30},
	})
	if len(diags) > 0 || !strings.Contains(string(source), command) {
		t.Errorf("%v\n%s", diags, source)
	}
}

// TestObjectiveOfASearch: the objective is the accuracy if the program prints an accuracy, else the loss.
func TestObjectiveOfASearch(t *testing.T) {
	for printed, want := range map[string]string{
		"print(f'epoch {epoch} loss {loss}')":              "loss",
		"print(f'epoch {epoch} loss {loss} acc {a}')":      "accuracy",
		"print(f'epoch {epoch} loss {loss} accelerator')":  "loss",
		"print(f'Epoch {epoch}: val_accuracy {a} loss 1')": "accuracy",
	} {
		p := start.InspectProgram("train.py", []byte("parser.add_argument('--lr', type=float, default=0.1)\nfor epoch in range(3):\n    "+printed+"\n"))
		source, err := p.Search("mine", false)
		if err != nil || !strings.Contains(string(source), fmt.Sprintf("objective = %q", want)) {
			t.Errorf("%s: not %s: %v\n%s", printed, want, err, source)
		}
		// The comment lists the other objectives.
		other := map[string]string{"loss": "accuracy", "accuracy": "loss"}[want]
		if line := fmt.Sprintf("%q # or %s, time, ", want, other); !strings.Contains(string(source), line) {
			t.Errorf("%s: no %s in\n%s", printed, line, source)
		}
	}
}

// TestDetachedPrograms: programs that start others which outlive them are named.
func TestDetachedPrograms(t *testing.T) {
	for _, c := range []struct{ file, source, want string }{
		{"run.sh", "#!/bin/sh\nnohup python3 train.py &\n", "nohup"},
		{"run.sh", "sbatch train.sbatch\n", "sbatch"},
		{"train.py", "import subprocess\nsubprocess.run([\"sbatch\", \"run.sh\"])\n", "sbatch"},
		{"train.py", "import os\nos.system('nohup python3 x.py &')\n", "nohup"},
		{"train.py", "\"\"\"Usage: sbatch train.sh\"\"\"\n", ""},
		{"run.sh", "python3 train.py\n", ""},
	} {
		p := start.InspectProgram(c.file, []byte(c.source))
		if said := strings.Contains(strings.Join(p.OpenQuestions(), " "), "goes on after it, by "); p.Detached != c.want || said != (c.want != "") {
			t.Errorf("%q: %q, and %q", c.source, p.Detached, p.OpenQuestions())
		}
	}
}

// TestParameters finds the options that libraries make of parameters and fields, and the option for the amount of work.
func TestParameters(t *testing.T) {
	for source, want := range map[string]string{
		"import typer\napp = typer.Typer()\n@app.command()\ndef main(epochs: int = 3, lr: float = 1e-3, batch_size: int = typer.Option(32, help='(b)')):\n    pass\n":             "--epochs 3 --lr --batch-size",
		"import fire\ndef train(lr: float = 0.1, batch_size=32, num_epochs=4):\n    pass\nclass Net:\n    def __init__(self, hidden=64):\n        pass\nfire.Fire(train)\n":       "--num_epochs 4 --lr --batch_size",
		"import tyro\n@dataclass\nclass Args:\n    lr: float = 3e-4\n    num_epochs: int = 5\n    hidden_size: int = 128\n\nargs = tyro.cli(Args)\n":                              "--num-epochs 5 --lr --hidden-size",
		"@dataclass\nclass ModelArgs:\n    hidden: int = field(default=64, metadata={'help': 'x'})\n    dropout: float = 0.1\nHfArgumentParser((ModelArgs, TrainingArguments))\n": "--num_train_epochs 10 --hidden --dropout",
		"@dataclass\nclass Config:\n    lr: float = 0.1\n":                                                           " 10",
		"from absl import flags\nflags.DEFINE_integer('num_epochs', 6, 'n')\nflags.DEFINE_float('lr', 1e-3, 'lr')\n": "--num_epochs 6 --lr",
	} {
		p := start.InspectProgram("train.py", []byte(source))
		got := fmt.Sprint(p.Option, " ", p.Work)
		for _, s := range p.Settings {
			got += " " + s.Option
		}
		if got != want {
			t.Errorf("%q: %s, want %s", source, got, want)
		}
	}
	p := start.InspectProgram("train.py", []byte("import sys, yaml\ncfg = yaml.safe_load(open(sys.argv[1]))\n"))
	if said := strings.Join(p.OpenQuestions(), " "); !strings.Contains(said, "add sys.argv[1] to command") {
		t.Errorf("a program with an argument by number: %q", said)
	}
}
