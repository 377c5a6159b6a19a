package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/states"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/experiment"
)

var (
	galleryImages = filepath.Join("..", "..", "docs", "images")
	galleryRows   = filepath.Join("testdata", "gallery.csv")
)

// mostImages is the largest total size of the pictures in docs/images, in bytes.
const mostImages = 3 << 20

// exhibit is a row of testdata/gallery.csv. Section, File, Needs and Picture are written by hand; make gallery writes
// Answer and Took.
type exhibit struct {
	Section, File, Needs, Picture, Answer, Took string
	decoded                                     *experiment.Spec // see spec
}

func (x *exhibit) fields() []*string {
	return []*string{&x.Section, &x.File, &x.Needs, &x.Picture, &x.Answer, &x.Took}
}

func (x *exhibit) path() string {
	return filepath.Join("..", "..", "experiments", filepath.FromSlash(x.File)+".hcl")
}

func (x *exhibit) name() string { return filepath.Base(x.File) }

func (x *exhibit) image() string { return "gallery/" + x.name() + ".svg" }

// spec reads the experiment, once.
func (x *exhibit) spec(t *testing.T) *experiment.Spec {
	t.Helper()
	if x.decoded != nil {
		return x.decoded
	}
	spec, diags := decode.File(x.path(), decode.Options{Host: experiments.HostFacts{Threads: 2, Cores: 2,
		MemoryBytes: 1 << 33}})
	if len(diags) > 0 {
		t.Fatal(x.File, diags)
	}
	x.decoded = spec
	return spec
}

func realCells(spec *experiment.Spec) bool {
	cells := slices.Clone(spec.Cells)
	spec.EachProbe(func(c experiment.Cell) { cells = append(cells, c) })
	return slices.ContainsFunc(cells, func(c experiment.Cell) bool { return c.Hardware.Real() })
}

func exhibits(t *testing.T) []*exhibit {
	t.Helper()
	raw, err := os.ReadFile(galleryRows)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(raw)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var list []*exhibit
	for _, row := range rows[1:] {
		x := new(exhibit)
		for i, field := range x.fields() {
			*field = row[i]
		}
		list = append(list, x)
	}
	return list
}

var (
	quotedText = regexp.MustCompile(`"[^"\n]*\.[^"\n]*"`)
	inserted   = regexp.MustCompile(`\$\{[^}]*\}`)
)

// inputs returns the files that an experiment reads: its own file, and all files that quoted texts in it name.
func (x *exhibit) inputs(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(x.path())
	if err != nil {
		t.Fatal(err)
	}
	files := []string{x.path()}
	for _, quoted := range quotedText.FindAllString(string(text), -1) {
		named, _ := filepath.Glob(filepath.Join(filepath.Dir(x.path()), inserted.ReplaceAllString(strings.Trim(quoted, `"`), "*")))
		files = append(files, named...)
	}
	return files
}

// drawing returns the source files that determine how pictures of a kind are drawn.
func drawing(picture string) []string {
	kind, _, _ := strings.Cut(picture, "-")
	all, _ := filepath.Glob(filepath.Join("..", "..", "stages", "plot", "testdata", "*.svg"))
	of, _ := filepath.Glob(filepath.Join("..", "..", "stages", "*", "testdata", kind+"*.svg"))
	return append(all, of...)
}

// sumOf returns a hash of files. It ignores folders.
func sumOf(t *testing.T, files []string) string {
	t.Helper()
	slices.Sort(files)
	all := sha256.New()
	for _, file := range slices.Compact(files) {
		raw, err := os.ReadFile(file)
		if info, statErr := os.Stat(file); statErr == nil && info.IsDir() {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(all, "%s %x\n", filepath.ToSlash(file), sha256.Sum256(raw))
	}
	return fmt.Sprintf("%x", all.Sum(nil))
}

// pictureSums reads docs/images/SUMS: the hash of the files from which each picture was made.
func pictureSums(t *testing.T) map[string]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(galleryImages, "SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		if fields := strings.Fields(line); len(fields) == 2 && !strings.HasPrefix(line, "#") {
			sums[fields[1]] = fields[0]
		}
	}
	return sums
}

// currentSums returns the current hashes of the pictures' files.
func currentSums(t *testing.T, list []*exhibit) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	sums := map[string]string{"report.png": sumOf(t, []string{filepath.Join(root, "experiments", "fcfs_vs_rr.hcl"),
		filepath.Join(root, "stages", "report", "report.css"), filepath.Join(root, "stages", "report", "report.html.tmpl")})}
	for _, x := range list {
		files := x.inputs(t)
		if !realCells(x.spec(t)) { // pictures of real cells do not change without a new run
			files = append(files, drawing(x.Picture)...)
		}
		sums[x.image()] = sumOf(t, files)
	}
	return sums
}

// visit runs an experiment, and stores its answer and its picture.
func (x *exhibit) visit(t *testing.T) {
	t.Helper()
	out, began := filepath.Join("..", "..", "dist", "gallery", x.name()), time.Now()
	if err := os.RemoveAll(out); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program(t), "run", "--quiet", x.path(), "--out", out)
	if errs, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", x.File, err, errs)
	}
	x.Took = table.WithUnit(math.Ceil(time.Since(began).Seconds()), "s")
	if !realCells(x.spec(t)) { // CPU time is the same next to other programs
		cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		x.Took = table.WithUnit(math.Ceil(cpu.Seconds()), "s") + " of CPU time"
	}
	e, err := record.Open(filepath.Join(out, x.spec(t).Name))
	if err != nil {
		t.Fatal(err)
	}
	headline, err := states.Headline(e)
	if err != nil {
		t.Fatal(err)
	}
	x.Answer = headline.Sentence
	pictures, err := e.Pictures()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range pictures {
		if names = append(names, p.Name); p.Name == x.Picture && p.Skipped == "" {
			raw, err := os.ReadFile(filepath.Join(e.Dir, filepath.FromSlash(p.SVG)))
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(galleryImages, filepath.FromSlash(x.image())), string(raw))
			t.Logf("%s: %s", x.File, x.Took)
			return
		}
	}
	t.Fatalf("%s has no picture %q; it has %q", x.File, x.Picture, names)
}

const galleryPreface = `# Gallery

To choose an experiment to start from, compare these: each has its question, its answer, a picture, the command and its time on two cores.
` + "`make gallery`" + ` writes this page: it runs the simulated experiments whose files have changed. The answers of real
runs are of the machine that they ran on; ` + "`make gallery GALLERY=starter`" + ` runs one of them again.
`

// galleryPage returns the content of docs/gallery.md.
func galleryPage(t *testing.T, list []*exhibit) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(galleryPreface)
	section := ""
	for _, x := range list {
		if x.Section != section {
			section = x.Section
			fmt.Fprintf(&b, "\n## %s\n", section)
		}
		spec := x.spec(t)
		fmt.Fprintf(&b, "\n### %s\n\n", spec.Description)
		if x.Answer != "" {
			fmt.Fprintf(&b, "%s\n\n![%s](images/%s)\n\n", x.Answer, x.name(), x.image())
		} else {
			b.WriteString("Run this experiment to see its answer: the gallery has none.\n\n")
		}
		notes := []string{"simulated"}
		if realCells(spec) {
			notes[0] = "for real"
		}
		if x.Took != "" {
			notes = append(notes, x.Took)
		}
		if x.Needs != "" {
			notes = append(notes, "needs "+x.Needs)
		}
		fmt.Fprintf(&b, "`tfexp run experiments/%s.hcl` (%s)\n", x.File, strings.Join(notes, ", "))
	}
	return b.String()
}

// TestGallery fails if docs/gallery.md lacks a shipped experiment, or if a picture in docs/images is older than the
// experiment that it shows. With TFEXP_GALLERY (make gallery) it runs experiments and writes the page. The value "stale"
// selects simulated experiments with an old picture, "simulated" all simulated ones; other words are names of
// experiments. The name report.png selects the README's picture, which make images draws.
func TestGallery(t *testing.T) {
	if testing.Short() {
		t.Skip("it plans every shipped experiment")
	}
	list := exhibits(t)
	if want, got := shippedExperiments(t), fileNames(list); !slices.Equal(want, got) {
		t.Errorf("%s has not just the shipped experiments: it has\n%q, and these are\n%q", galleryRows, got, want)
	}
	page := filepath.Join("..", "..", "docs", "gallery.md")
	kept, current := pictureSums(t), currentSums(t, list)
	if asked := strings.Fields(os.Getenv("TFEXP_GALLERY")); len(asked) > 0 {
		began := time.Now()
		for _, x := range list {
			stale := x.Answer == "" || kept[x.image()] != current[x.image()]
			simulated := !realCells(x.spec(t)) && (slices.Contains(asked, "simulated") || stale && slices.Contains(asked, "stale"))
			if simulated || slices.Contains(asked, x.name()) {
				x.visit(t)
				kept[x.image()] = current[x.image()]
				keepGallery(t, list, kept)
				write(t, page, galleryPage(t, list))
			}
		}
		for _, image := range asked { // a picture that another target draws: "report.png"
			if sum, ok := current[image]; ok {
				kept[image] = sum
			}
		}
		keepGallery(t, list, kept)
		write(t, page, galleryPage(t, list))
		t.Logf("all in %s", time.Since(began).Round(time.Second))
		return
	}
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(raw) != galleryPage(t, list) {
		t.Error("docs/gallery.md is not what the experiments and testdata/gallery.csv say: make gallery")
	}
	for _, x := range list {
		if x.Answer == "" && !realCells(x.spec(t)) {
			t.Errorf("%s has no answer in docs/gallery.md: make gallery GALLERY=%s", x.File, x.name())
		}
		if x.Answer != "" && kept[x.image()] != current[x.image()] {
			t.Errorf("docs/images/%s is older than what it shows: make gallery GALLERY=%s", x.image(), x.name())
		}
	}
	if kept["report.png"] != current["report.png"] {
		t.Error("docs/images/report.png is older than what it shows: make images")
	}
	imagesKept(t, kept)
}

// imagesKept checks that each picture has a hash, and that all pictures together are small.
func imagesKept(t *testing.T, kept map[string]string) {
	t.Helper()
	size := int64(0)
	err := filepath.WalkDir(galleryImages, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "SUMS" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		size += info.Size()
		name, err := filepath.Rel(galleryImages, path)
		if kept[filepath.ToSlash(name)] == "" {
			t.Errorf("docs/images/SUMS does not have %s", name)
		}
		return err
	})
	if err != nil || size > mostImages {
		t.Errorf("docs/images has %d bytes, want at most %d (%v)", size, mostImages, err)
	}
}

// keepGallery writes testdata/gallery.csv and docs/images/SUMS.
func keepGallery(t *testing.T, list []*exhibit, sums map[string]string) {
	t.Helper()
	var rows bytes.Buffer
	w := csv.NewWriter(&rows)
	_ = w.Write([]string{"section", "file", "needs", "picture", "answer", "took"})
	images := []string{"report.png"}
	for _, x := range list {
		var row []string
		for _, field := range x.fields() {
			row = append(row, *field)
		}
		_ = w.Write(row)
		if x.Answer != "" {
			images = append(images, x.image())
		}
	}
	w.Flush()
	write(t, galleryRows, rows.String())
	slices.Sort(images)
	text := "# A hash of the files that each picture was made of: see TestGallery in cmd/tfexp.\n"
	for _, image := range images {
		text += sums[image] + "  " + image + "\n"
	}
	write(t, filepath.Join(galleryImages, "SUMS"), text)
}

// shippedExperiments returns the names of the experiments in the gallery, without their ending.
func shippedExperiments(t *testing.T) (names []string) {
	t.Helper()
	root := filepath.Join("..", "..", "experiments")
	unshown := []string{"templates", "testdata", "examples"} // examples show arguments and have no answer
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && slices.Contains(unshown, d.Name()) {
			return filepath.SkipDir
		}
		if name, ok := strings.CutSuffix(path, ".hcl"); ok && err == nil {
			name, err = filepath.Rel(root, name)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

func fileNames(list []*exhibit) (names []string) {
	for _, x := range list {
		names = append(names, x.File)
	}
	slices.Sort(names)
	return names
}
