package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
)

// fewSeconds returns the number of experiments that run. The others run only if TFEXP_PAPERS is set.
func fewSeconds() int { return need.Cases(5, 6) }

// The first printed sentence of each shipped simulated experiment equals the expected sentence.
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
		_, text, _ := strings.Cut(out.String(), "\n") // without the question
		sentence, _, _ := strings.Cut(text, "\n")
		inGallery(t, list, images, fields[0], sentence)
		holds(t, fields[0], filepath.Join("results", list[slices.IndexFunc(list, func(x *exhibit) bool { return x.File == fields[0] })].name()),
			sentence)
		same := true
		for words := range strings.SplitSeq(fields[2], "; ") {
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

// inGallery checks that docs/gallery.md has the answer and the picture of an experiment.
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

// These are the claims of an answer: the best policy by a metric, in all settings or in one, and a change against a
// baseline.
var (
	claimsBest   = regexp.MustCompile(`(\S+)(?:, the baseline,)? has the (?:lowest|highest|fewest|most) ([^,(.]+?)(?:, or ties for it,)? (?:at|in) (?:all|both)`)
	claimsSingle = regexp.MustCompile(`(\S+)(?:, the baseline,)? has the (?:lowest|highest|fewest|most) ([^,(.]+?)(?: |, )\d`)
	claimsChange = regexp.MustCompile(`(cuts|raises) ([^,(.]+?) by ([\d.]+)%`)
	claimsRange  = regexp.MustCompile(`\(([−+][\d.]+)%(?: to ([−+][\d.]+)%)? against (\S+?)[;) ]`)
	twoSentences = regexp.MustCompile(`[a-z)%]\. [A-Z]`)
)

// mostWords is the largest number of words that a report shows before the reader opens anything.
const mostWords = 900

// holds compares an answer with comparisons.csv. No row may show that another policy is better than the best of the
// answer. Each change and range must be in the table, for the right policy. The answer has at most two sentences, and
// the report is short.
func holds(t *testing.T, file, dir, sentence string) {
	t.Helper()
	if n := len(twoSentences.FindAllString(sentence, -1)); n > 1 {
		t.Errorf("%s: %d sentences: %s", file, n+1, sentence)
	}
	page, err := os.ReadFile(filepath.Join(dir, record.ReportFile))
	if err != nil {
		t.Fatal(err)
	}
	words := resultstest.ShownWords(string(page))
	t.Logf("%s: %d words are shown", file, words)
	if words > mostWords {
		t.Errorf("%s: the report shows %d words, want at most %d", file, words, mostWords)
	}
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := analysis.Comparisons(e)
	if err != nil {
		t.Fatal(err)
	}
	named := func(title string) string {
		for _, m := range measure.AllMetrics() {
			if m.Title == title {
				return m.Name
			}
		}
		return ""
	}
	// A policy or variant is named by its policy, its label, or one of its axes.
	is := func(name, label, policy string) bool {
		return name == policy || name == label || strings.Contains(" "+label+" ", " "+name+" ")
	}
	best := append(claimsBest.FindAllStringSubmatch(sentence, -1), claimsSingle.FindAllStringSubmatch(sentence, -1)...)
	for _, m := range best {
		for _, r := range rows {
			if r.By != "" || r.Metric != named(m[2]) {
				continue
			}
			worse := is(m[1], r.Candidate, r.CandidatePolicy) && r.Verdict == record.Worse ||
				is(m[1], r.Baseline, r.BaselinePolicy) && r.Verdict == record.Better
			if worse && is(m[1], r.Candidate, r.CandidatePolicy) != is(m[1], r.Baseline, r.BaselinePolicy) {
				t.Errorf("%s: %s is called the best, and comparisons.csv has %s against %s as %s", file, m[1], r.Candidate, r.Baseline,
					r.Verdict)
			}
		}
	}
	// stated reports whether a row has the change in percent, with all printed digits.
	stated := func(text, metric, against string, falls bool) bool {
		number := strings.TrimLeft(text, "−+")
		_, decimals, _ := strings.Cut(number, ".")
		want, err := strconv.ParseFloat(number, 64)
		if err != nil {
			t.Fatal(err)
		}
		half := 0.5001 * math.Pow(10, -float64(len(decimals)))
		return slices.ContainsFunc(rows, func(r record.ComparisonRow) bool {
			return r.By == "" && (metric == "" || r.Metric == metric) && (against == "" || is(against, r.Baseline, r.BaselinePolicy)) &&
				r.Ratio < 1 == falls && math.Abs(100*math.Abs(r.Ratio-1)-want) <= half
		})
	}
	for _, m := range claimsChange.FindAllStringSubmatch(sentence, -1) {
		if !stated(m[3], named(m[2]), "", m[1] == "cuts") {
			t.Errorf("%s: comparisons.csv has no change of %s by %s%%: %s", file, m[2], m[3], sentence)
		}
	}
	for _, m := range claimsRange.FindAllStringSubmatch(sentence, -1) {
		for _, text := range m[1:3] {
			if text != "" && !stated(text, "", m[3], strings.HasPrefix(text, "−")) {
				t.Errorf("%s: comparisons.csv has no change of %s%% against %s: %s", file, text, m[3], sentence)
			}
		}
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
