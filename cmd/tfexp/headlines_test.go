package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/results/record"
)

// fewSeconds returns how many of them run; the others run where TFEXP_PAPERS is set.
func fewSeconds() int { return need.Cases(5, 6) }

// The first printed sentence of each shipped simulated experiment is the one written by hand.
func TestHeadlines(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs whole experiments")
	}
	raw, err := os.ReadFile("testdata/headlines.txt")
	if err != nil {
		t.Fatal(err)
	}
	folder := absolute(t, "../../experiments")
	list, images := exhibits(t), absolute(t, galleryImages)
	t.Chdir(t.TempDir())
	said, of := 0, 0
	for line := range strings.Lines(string(raw)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if of++; of > fewSeconds() && os.Getenv("TFEXP_PAPERS") == "" {
			break
		}
		fields := strings.Split(line, " | ")
		var out, errs bytes.Buffer
		if status := Main([]string{"run", "--quiet", filepath.Join(folder, fields[0]+".hcl")}, &out, &errs); status != 0 {
			t.Fatalf("%s: status %d, %s", fields[0], status, errs.String())
		}
		_, text, _ := strings.Cut(out.String(), "\n") // below the question
		sentence, _, _ := strings.Cut(text, "\n")
		inGallery(t, list, images, fields[0], sentence)
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
	t.Logf("%d of %d say what was written by hand", said, min(of, fewSeconds()))
}

// inGallery holds that docs/gallery.md has the answer of an experiment that was run, and its picture.
func inGallery(t *testing.T, list []*exhibit, images, file, sentence string) {
	t.Helper()
	i := slices.IndexFunc(list, func(x *exhibit) bool { return x.File == file })
	if i < 0 {
		t.Errorf("%s is not in the gallery", file)
		return
	}
	x := list[i]
	drawn, err := os.ReadFile(filepath.Join("results", x.name(), record.PlotsDir, x.Picture+".svg"))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(images, filepath.FromSlash(x.image())))
	if err != nil {
		t.Fatal(err)
	}
	if x.Answer != sentence || !bytes.Equal(drawn, kept) {
		t.Errorf("docs/gallery.md lacks the answer or the picture of %s (make gallery GALLERY=%s): %s", file, x.name(),
			sentence)
	}
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
