package contract

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// example returns the code block of ../README.md in the given language that
// has a line with mark.
func example(t *testing.T, language, mark string) string {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(text), "```"+language+"\n")[1:] {
		if code, _, _ := strings.Cut(block, "```"); strings.Contains(code, mark) {
			return code
		}
	}
	t.Fatalf("README has no block of %s with %q", language, mark)
	return ""
}

// The programs in the README keep the contract.
func TestReadmePrograms(t *testing.T) {
	for _, test := range []struct {
		interpreter, language, mark string
		times                       bool // a time-writer line is printed
	}{
		{"python3", "python", "TIME_WRITTER_OUTPUT", true},
		{"python3", "python", "import tfexp_job", true},
		{"sh", "sh", "train-one-epoch", false},
	} {
		t.Run(test.interpreter+" "+test.mark, func(t *testing.T) {
			path, err := exec.LookPath(test.interpreter)
			if err != nil {
				t.Skip(err)
			}
			dir := t.TempDir()
			for name, text := range map[string]string{
				"program": example(t, test.language, test.mark), "train-one-epoch": "#!/bin/sh\n", "control": "1 3",
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			library, err := filepath.Abs("../tfexp_job")
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(path, "program")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), EnvEpochs+"=2", EnvCheckpointDir+"="+dir,
				EnvControl+"="+filepath.Join(dir, "control"), "PYTHONPATH="+library)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got, err := Parse(bytes.NewReader(out), Last)
			if err != nil || len(got.Warnings) > 0 || got.Updates != 2 || len(got.Epochs) != 2 || got.Progress.Epoch != 2 ||
				test.times != (got.Save >= 0) {
				t.Errorf("%+v, %v, from\n%s", got, err, out)
			}
		})
	}
}
