package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fewSeconds is how many of them run in seconds; the others run where TFEXP_PAPERS is set.
const fewSeconds = 6

// The first printed sentence of each shipped simulated experiment is the one written by hand.
func TestHeadlines(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs whole experiments")
	}
	raw, err := os.ReadFile("testdata/headlines.txt")
	if err != nil {
		t.Fatal(err)
	}
	folder, err := filepath.Abs("../../experiments")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	said, of := 0, 0
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if of++; of > fewSeconds && os.Getenv("TFEXP_PAPERS") == "" {
			break
		}
		fields := strings.Split(line, " | ")
		var out, errs bytes.Buffer
		if status := Main([]string{"run", "--quiet", filepath.Join(folder, fields[0]+".hcl")}, &out, &errs); status != 0 {
			t.Fatalf("%s: status %d, %s", fields[0], status, errs.String())
		}
		_, text, _ := strings.Cut(out.String(), "\n") // below the question
		sentence, _, _ := strings.Cut(text, "\n")
		same := true
		for _, words := range strings.Split(fields[2], "; ") {
			if !strings.Contains(sentence, words) {
				t.Errorf("%s: no %q in\n%s", fields[0], words, sentence)
				same = false
			}
		}
		if same {
			said++
		}
	}
	t.Logf("%d of %d say what was written by hand", said, min(of, fewSeconds))
}
