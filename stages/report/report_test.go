package report

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/stages/containers"
	"github.com/tfexp/tfexp/stages/plot"
)

// write makes the experiment, its pictures and its report, and returns the page.
func write(t *testing.T, cfg resultstest.Config) (dir, page string) {
	t.Helper()
	dir = cfg.Write(t)
	if keep := os.Getenv("TFEXP_KEEP_REPORT"); keep != "" {
		t.Cleanup(func() {
			if err := os.CopyFS(filepath.Join(keep, t.Name()), os.DirFS(dir)); err != nil {
				t.Error(err)
			}
		})
	}
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plot.Draw(context.Background(), e, filepath.Join(dir, record.PlotsDir),
		plot.Options{Formats: []string{"svg"}}); err != nil {
		t.Fatal(err)
	}
	return dir, read(t, dir)
}

func read(t *testing.T, dir string) string {
	t.Helper()
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	path, err := Write(context.Background(), e, dir)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func has(t *testing.T, page string, wants ...string) {
	t.Helper()
	for _, w := range wants {
		if !strings.Contains(page, w) {
			t.Errorf("the page lacks %q", w)
		}
	}
}

func lacks(t *testing.T, page string, unwanted ...string) {
	t.Helper()
	for _, w := range unwanted {
		if strings.Contains(page, w) {
			t.Errorf("the page has %q", w)
		}
	}
}

func TestComplete(t *testing.T) {
	_, page := write(t, resultstest.Small())
	has(t, page,
		"How much less do they wait under round robin than under FCFS?",
		"is known between rr quantum=300ms and fcfs: −18% (−32% to +9.4%).",
		"other programs used 0.8 CPU cores while jobs ran",
		"<code>mixed-machine-fcfs-r2</code>, <code>mixed-machine-rr-quantum=300ms-r2</code>",
		"Schedule of fcfs, replicate 1", "Schedule of rr quantum=300ms, replicate 1",
		"tfexp run fcfs_vs_rr.hcl", "tfexp run experiment.hcl", "Seed 7, 5 replicates of each cell.", "seed = 7",
		"Example CPU",
		"More schedules in the folder plots/: 8.")
	lacks(t, strings.Replace(page, script, "", 1), "Partial results", "What failed", "http://127", "src=\"http",
		"href=\"http",
		"@import", "<script src", "NaN", "ZgotmplZ")
	if n := strings.Count(html.UnescapeString(page), `<img src="data:image/svg+xml;base64,`); n != 7 {
		t.Errorf("%d pictures, want 7", n)
	}
	if len(page) > 200<<10 {
		t.Errorf("the page has %d bytes", len(page))
	}
}

// TestWarnings holds that warnings which differ in their cell alone become one.
func TestWarnings(t *testing.T) {
	e := &record.Experiment{}
	for _, c := range []string{"a-r1", "a-r2", "a-r3", "a-r4", "a-r5", "a-r6", "a-r7", "a-r8"} {
		e.Run.Warnings = append(e.Run.Warnings, record.Warning{Code: "busy_machine", Cell: c, Text: "the machine was busy"})
	}
	e.Run.Warnings = append(e.Run.Warnings, record.Warning{Code: "cache", Text: "the cache was lost"})
	var v view
	if err := v.answers(e, nil); err != nil {
		t.Fatal(err)
	}
	if len(v.Warnings) != 2 || len(v.Warnings[0].Cells) != mostNames || v.Warnings[0].More != 2 ||
		len(v.Warnings[1].Cells) != 0 {
		t.Errorf("%+v", v.Warnings)
	}
}

func TestFidelity(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Twins = true
	_, page := write(t, cfg)
	has(t, page, ">Fidelity<", "Simulated from the estimates: makespan within ",
		">same order<", "Real and simulated schedule of fcfs, replicate 1")
	if strings.Count(page, `alt="Real and simulated schedule`) != 2 {
		t.Error("there is not one picture for each of two variants")
	}
	if _, page := write(t, resultstest.Small()); strings.Contains(page, "Fidelity") {
		t.Error("a page about simulated cells speaks of fidelity")
	}
}

func TestPartial(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Missing = 3
	_, page := write(t, cfg)
	has(t, page, "Partial results: 7 of 10 cells so far", "not written yet", "2 of 5",
		"Too few runs to say whether rr quantum=300ms or fcfs has the lower mean", "(it takes at least 3 runs).")
}

func TestFailed(t *testing.T) {
	cfg := resultstest.Small()
	cfg.FailJob = 1
	_, page := write(t, cfg)
	has(t, page, "What failed", "<strong>long-2</strong> in <code>mixed-machine-fcfs-r1</code>", "exit status 1",
		"the loss is not a number &lt;stop&gt;", "something failed in 10 of 10 cells", "5, 5 failed")
}

func TestNothingYet(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Missing = 10
	dir := cfg.Write(t)
	has(t, read(t, dir), "0 of 10 cells so far", "No cell is complete yet.", "tfexp plot draws them")
}

func TestLarge(t *testing.T) {
	cfg := resultstest.Small()
	cfg.Long, cfg.Short, cfg.Cores, cfg.Replicates = 20, 180, 16, 3
	_, page := write(t, cfg)
	has(t, page, "Schedule of fcfs, replicate 1")
	if len(page) > 1<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
}

// TestForeignFolder holds that a folder of results from somebody else brings no
// script into the page, and no file from elsewhere.
func TestForeignFolder(t *testing.T) {
	const evil = `<svg xmlns="http://www.w3.org/2000/svg"><!--><img src=x onerror="document.title=1"></svg>`
	dir, page := write(t, resultstest.Small())
	plots := filepath.Join(dir, record.PlotsDir)
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(page, "<svg") + strings.Count(page, "<script>"); n != 1 || strings.Count(page, script) != 1 {
		t.Errorf("%d pictures or scripts are part of the page, and not the page's alone", n)
	}
	style := regexp.MustCompile(`(?s)<style>(.*)</style>`).FindStringSubmatch(page)[1]
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(page)[1]
	for _, part := range []string{style, script} {
		sum := sha256.Sum256([]byte(part))
		want := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if !strings.HasPrefix(policy, "default-src &#39;none&#39;;") || !strings.Contains(html.UnescapeString(policy), want) {
			t.Errorf("policy %s does not name a part by its hash %s", policy, want)
		}
	}

	put(filepath.Join(plots, "evil.svg"), evil)
	put(filepath.Join(plots, record.PicturesFile), `[{"name": "evil", "kind": "metrics", "svg": "evil.svg"}]`)
	page = read(t, dir)
	if strings.Contains(page, "onerror") || !strings.Contains(html.UnescapeString(page),
		base64.StdEncoding.EncodeToString([]byte(evil))) {
		t.Error("the picture is not shown as an image alone")
	}

	put(filepath.Join(filepath.Dir(dir), "secret.txt"), "secret")
	put(filepath.Join(plots, "evil.svg"), strings.Repeat(" ", largestSVG+1))
	for _, list := range []string{
		`[{"name": "evil", "kind": "metrics", "svg": "evil.svg", "png": "../../secret.txt"}]`,
		`[{"name": "evil", "kind": "metrics", "svg": "../../secret.txt"}]`,
	} {
		put(filepath.Join(plots, record.PicturesFile), list)
		if _, err := Rewrite(t.Context(), dir); !errors.Is(err, folder.ErrOutside) {
			t.Errorf("%s: %v", list, err)
		}
	}
}

func TestShell(t *testing.T) {
	got := shell([]string{"tfexp", "run", "my file.hcl", "-var", "q=1s", "it's", ""})
	if want := `tfexp run 'my file.hcl' -var q=1s 'it'\''s' ''`; got != want {
		t.Errorf("shell = %s, want %s", got, want)
	}
}

// TestPicturesOfCellsAreCountedByKind: pictures of containers' usage are not
// schedules, and each kind has its own number in the page.
func TestPicturesOfCellsAreCountedByKind(t *testing.T) {
	dir := resultstest.Small().Write(t)
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	plots := filepath.Join(dir, record.PlotsDir)
	if err := os.MkdirAll(plots, 0o755); err != nil {
		t.Fatal(err)
	}
	var list []record.Picture
	for _, kind := range []string{plot.Gantt, containers.Kind} {
		for _, c := range e.Cells {
			name := kind + "-" + c.Cell
			list = append(list, record.Picture{Name: name, Kind: kind, Cell: c.Cell, Title: name, SVG: name + ".svg"})
			if err := os.WriteFile(filepath.Join(plots, name+".svg"), []byte("<svg></svg>"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	raw, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(plots, record.PicturesFile), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	var v view
	if err := v.pictures(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	// Of ten cells of each kind, the ones of the first replicates of two variants are shown.
	want := []string{"More schedules in the folder plots/: 8.",
		"More pictures of what containers used in the folder plots/: 8."}
	if !slices.Equal(v.More, want) || len(v.Pictures) != 4 {
		t.Errorf("%d pictures, %q, want %q", len(v.Pictures), v.More, want)
	}
}

// Schedules and the pictures that an experiment asks for are open.
func TestFold(t *testing.T) {
	var pictures []shownPicture
	for kind := range strings.FieldsSeq("gantt gantt jct series metrics") {
		pictures = append(pictures, shownPicture{Kind: kind})
	}
	fold(pictures, []record.Plot{{Kind: "series"}})
	var folded []int
	for i, p := range pictures {
		if p.Folded {
			folded = append(folded, i)
		}
	}
	if want := []int{2, 4}; !slices.Equal(folded, want) {
		t.Errorf("folded are %v, want %v", folded, want)
	}
}

// A report of two policies shows at most 600 words, and the replay of a log under many at most 900.
func TestReportsAreShort(t *testing.T) {
	two := resultstest.Small()
	two.Twins = true
	for _, c := range []struct {
		name string
		cfg  resultstest.Config
		most int
	}{{"two policies", two, 600}} {
		_, page := write(t, c.cfg)
		if n := resultstest.ShownWords(page); n > c.most || n < 50 {
			t.Errorf("%s: %d words, want at most %d", c.name, n, c.most)
		} else {
			t.Logf("%s: %d words", c.name, n)
		}
	}
}
