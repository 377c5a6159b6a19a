package start_test

import (
	"os"
	"path/filepath"
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
		if p.Epochs != c.epochs || !cmp.Equal(p.Frameworks, c.frameworks) || len(p.Doubts()) != c.doubts {
			t.Errorf("%q: %d epochs, %v, %v", c.source, p.Epochs, p.Frameworks, p.Doubts())
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

// Arguments that a program cannot do without are named.
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
	if said := p.Doubts()[0]; said != "It needs more arguments: add data, --model to command." {
		t.Error(said)
	}
}
