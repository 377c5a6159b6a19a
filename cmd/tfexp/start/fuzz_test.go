package start_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/cmd/tfexp/start"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/decode"
)

// For any source and any file name of a program, the experiment made for it can be read.
func FuzzInspect(f *testing.F) {
	for _, x := range [][2]string{
		{"train.py", "import torch\nparser.add_argument('--epochs', type=int, default=25)\n"},
		{"train.py", "parser.add_argument(\"--epochs\", default=99999999999999999999)\n"},
		{"train.py", "EPOCHS = -3\nepochs: int = 0\nn_epochs = 1e9\n"}, {"a b's \"c\".py", "${x} %{if}\n\x00\x1b[2J"},
		{"run.sh", "#!/bin/sh\nTFEXP_EPOCHS\n"}, {"\u202e.py", "\xff\xfe"}, {"-rf", "#!/usr/bin/env python3\n"}, {"${x}.py", ""},
		{"train.py", "\"--epoch\", default=1000000001\n"}, {"$${x}%%{.py", "'--epochs'"}, {" ", ""},
	} {
		f.Add(x[0], x[1])
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, file, source string) {
		if file = filepath.Base(file); len(file) > 100 {
			t.Skip("no system has such files")
		}
		path := filepath.Join(dir, file)
		if os.WriteFile(path, []byte(source), 0o755) != nil {
			t.Skip("it is no name of a file")
		}
		defer os.Remove(path)
		text, err := start.InspectProgram(file, []byte(source)).Experiment("mine")
		if err != nil {
			return
		}
		_, diags := decode.Source(filepath.Join(dir, "mine.hcl"), text, decode.Options{
			Host: experiments.HostFacts{Threads: 2, Cores: 2, MemoryBytes: 8 << 30},
		})
		if diags.HasErrors() {
			t.Fatalf("the experiment with %q cannot be read: %v\n%s", file, diags, text)
		}
	})
}
