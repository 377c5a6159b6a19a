//go:build linux

package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/watch"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

var (
	damages     = flag.Int("damages", 40, "how many damages TestDamagedResults tries; 0 means all of them")
	damagesOf   = flag.String("damages-of", "", "a regular expression: which files TestDamagedResults damages")
	damagesBy   = flag.String("damages-by", "", "a regular expression: the commands that TestDamagedResults runs")
	damagesList = flag.Bool("damages-list", false, "list what is said of each damage, and what takes longer than a second")
)

// undamaged is an experiment whose results have all kinds of files.
const undamaged = `
experiment "e" {
  replicates = 1
}
job "say" {
  command = ["sh", "-c", "for i in 1 2; do echo \"{\\\"tfexp\\\":{\\\"epoch\\\":$i,\\\"loss\\\":0.$i,\\\"seconds\\\":0.01}}\"; done"]
  epochs  = 2
}
workload "w" {
  submit {
    job   = job.say
    count = 2
  }
}
hardware "h" {
  engine  = "process"
  threads = 1
}
policy "a" { order = "fcfs" }
policy "b" { order = "sjf" }
compare "mean_jct" { baseline = policy.a }
plot "jct" {}
`

// hugeBytes is the length of a sparse file that no reader may read into memory as a whole.
const hugeBytes = 2 << 30

// A damage is a change of a file of results, by accident or by another user.
type damage struct {
	name string
	do   func(path string, raw []byte, random *rand.Rand) error
}

// edit is a damage that rewrites a file with another text.
func edit(name string, f func(raw []byte, random *rand.Rand) []byte) damage {
	return damage{name, func(path string, raw []byte, random *rand.Rand) error {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return os.WriteFile(path, f(raw, random), 0o644)
	}}
}

// numbers is a damage that replaces each number by a text.
func numbers(name, text string) damage {
	number := regexp.MustCompile(`([,:]\s*)-?\d+(\.\d+)?`)
	return edit(name, func(raw []byte, _ *rand.Rand) []byte { return number.ReplaceAll(raw, []byte("${1}"+text)) })
}

// instead is a damage that replaces a file or folder by something else.
func instead(name string, put func(path string) error) damage {
	return damage{name, func(path string, _ []byte, _ *rand.Rand) error {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
		return put(path)
	}}
}

func replaced(old, text string) func([]byte, *rand.Rand) []byte {
	return func(raw []byte, _ *rand.Rand) []byte {
		return bytes.ReplaceAll(raw, []byte(old), []byte(text))
	}
}

var allDamages = []damage{
	edit("empty", func([]byte, *rand.Rand) []byte { return nil }),
	edit("half", func(raw []byte, _ *rand.Rand) []byte { return raw[:len(raw)/2] }),
	edit("cut", func(raw []byte, _ *rand.Rand) []byte { return raw[:max(0, len(raw)-3)] }),
	edit("binary", func(_ []byte, random *rand.Rand) []byte { return randomBytes(random, 20_000) }),
	edit("garbled", func(raw []byte, random *rand.Rand) []byte {
		raw = slices.Clone(raw)
		for range max(4, len(raw)/60) {
			if len(raw) > 0 {
				raw[random.IntN(len(raw))] = byte(random.IntN(256))
			}
		}
		return raw
	}),
	edit("middle", func(raw []byte, random *rand.Rand) []byte {
		raw = slices.Clone(raw)
		copy(raw[len(raw)/3:], randomBytes(random, 5000))
		return raw
	}),
	edit("nul", replaced(",", "\x00,")),
	edit("deep", func([]byte, *rand.Rand) []byte { return bytes.Repeat([]byte("["), 1<<20) }),
	edit("repeated", func(raw []byte, _ *rand.Rand) []byte {
		lines := bytes.SplitAfter(raw, []byte("\n"))
		return append(slices.Clone(raw), bytes.Repeat(lines[max(0, len(lines)-2)], 2000)...)
	}),
	numbers("nan", "NaN"), numbers("inf", "1e999"), numbers("e308", "1e308"), numbers("negative", "-1"), numbers("zero", "0"),
	numbers("two billion", "2000000000"), numbers("nine quintillion", "9000000000000000000"), numbers("text", `"x"`),
	numbers("null", "null"),
	edit("ragged", func(raw []byte, _ *rand.Rand) []byte {
		lines := bytes.Split(raw, []byte("\n"))
		for i := 1; i < len(lines); i += 2 {
			lines[i] = lines[i][:max(0, bytes.LastIndexByte(lines[i], ','))]
		}
		return bytes.Join(lines, []byte("\n"))
	}),
	edit("without head", func(raw []byte, _ *rand.Rand) []byte { _, rest, _ := bytes.Cut(raw, []byte("\n")); return rest }),
	edit("same heads", func(raw []byte, _ *rand.Rand) []byte {
		head, rest, _ := bytes.Cut(raw, []byte("\n"))
		columns := bytes.Split(head, []byte(","))
		columns[len(columns)-1] = columns[0]
		return slices.Concat(bytes.Join(columns, []byte(",")), []byte("\n"), rest)
	}),
	edit("null alone", func([]byte, *rand.Rand) []byte { return []byte("null\n") }),
	edit("list", func([]byte, *rand.Rand) []byte { return []byte("[null, null]\n") }),
	edit("object", func([]byte, *rand.Rand) []byte { return []byte("{}\n") }),
	edit("escapes", replaced("say-1", "s\x1b[31m\u202e-1")),
	edit("escapes in JSON", replaced("say-1", `s\u001b[31m\u202e\u0000-1`)),
	edit("names with escapes", replaced("w-h-b-r1", `w-h\u001b[2J\n-b`)),
	edit("names outside", replaced("w-h-b-r1", `../../../../secret`)),
	edit("pictures outside", replaced(`"name": "jct"`, `"name": "../../../secret"`)),
	edit("long names", replaced("say-1", strings.Repeat("long", 2000))),
	edit("script", func([]byte, *rand.Rand) []byte {
		return []byte(`<svg xmlns="http://www.w3.org/2000/svg"><!--><img src=x onerror="document.title='P'">--></svg>`)
	}),
	instead("absent", func(string) error { return nil }),
	instead("link to a secret", func(path string) error { return os.Symlink("../../secret", path) }),
	instead("endless", func(path string) error { return os.Symlink("/dev/zero", path) }),
	instead("circle", func(path string) error { return os.Symlink(filepath.Base(path), path) }),
	instead("dangling", func(path string) error { return os.Symlink("/nowhere/x", path) }),
	instead("pipe", func(path string) error { return syscall.Mkfifo(path, 0o644) }),
	instead("folder", func(path string) error { return os.Mkdir(path, 0o755) }),
	instead("file", func(path string) error { return os.WriteFile(path, []byte("x"), 0o644) }),
	{"huge", func(path string, _ []byte, _ *rand.Rand) error { return os.Truncate(path, hugeBytes) }},
}

func randomBytes(random *rand.Rand, n int) []byte {
	raw := make([]byte, n)
	for i := range raw {
		raw[i] = byte(random.IntN(256))
	}
	return raw
}

// These files and folders of an experiment are damaged. Files in absent do not exist, but could be added.
var (
	damaged = strings.Fields(`plan.json run.json journal.jsonl jobs.csv metrics.csv estimates.csv comparisons.csv
	samples.csv timings.csv profiling.csv fidelity.csv fidelity_jobs.csv accuracy.csv cells/w-h-b-r1/jobs.csv
	cells/w-h-b-r1/events.jsonl cells/w-h-b-r1/decisions.jsonl cells/w-h-b-r1/occupancy.csv cells/w-h-b-r1/cell.json
	cells/w-h-b-r1/key.txt cells/w-h-b-r1/progress.csv cells/w-h-b-r1/logs/say-1.log cells/w-h-b-r1/simulated/jobs.csv
	cells/w-h-b-r1/simulated/cell.json cells/w-h-b-r1/simulated/events.jsonl plots/pictures.json plots/jct.svg
	plots/jct.png profile/say.json profile/say-sample-1.log cache.db experiment.hcl report.html plots cells
	cells/w-h-b-r1 cells/w-h-b-r1/logs profile lock`)
	absent = strings.Fields(`processes.json containers.json`)
)

// The commands that read results.
var readers = [][]string{
	{"status", "R"}, {"status", "R", "--json"}, {"logs", "R"}, {"logs", "R", "w-h-b-r1", "say-1"},
	{"logs", "R", "w-h-b-r1", "say-1", "--follow"}, {"top", "R"}, {"explain", "R", "w-h-b-r1"},
	{"explain", "R", "w-h-b-r1", "--job", "say-1"}, {"estimate", "R"}, {"estimate", "--from-log", "FILE"},
	{"estimate", "--curve", "FILE"}, {"compare", "UNDAMAGED", "R"}, {"compare", "R", "UNDAMAGED", "--by", "class"},
	{"plot", "R"}, {"plot", "R", "--format", "pdf", "-o", "W/figures"}, {"report", "R"},
	{"export", "statistics", "--dir", "R"}, {"export", "table", "summary", "--dir", "R"},
	{"export", "table", "jobs", "--dir", "R", "--format", "csv"}, {"export", "table", "jobs", "--dir", "R", "--format", "json"},
	{"export", "table", "metrics", "--dir", "R", "--format", "jsonl"},
	{"export", "table", "metrics", "--dir", "R", "--format", "latex"},
	{"export", "table", "estimates", "--dir", "R", "--format", "markdown"},
	{"export", "table", "jobs", "--dir", "R", "--format", "parquet"},
	{"import", "runs", "R", "--out", "W/imported"}, {"init", "W/n.hcl", "--force", "--from", "FILE"},
	{"resume", "R", "--quiet"}, {"plan", "--out", "W/results", "W/e.hcl"},
	{"run", "--quiet", "--out", "W/results", "W/e.hcl"}, {"validate", "FILE"}, {"serve", "R"}, {"check", "R"},
}

// Results are not trusted. Whatever the damage to a file, each command must end soon, use little memory, and return an
// exit status with its own message. It must not show anything from outside the folder.
func TestDamagedResults(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real jobs")
	}
	top := t.TempDir()
	if err := os.MkdirAll(filepath.Join(top, "undamaged"), 0o755); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(top, "undamaged", "e.hcl")
	for name, text := range map[string]string{source: undamaged, filepath.Join(top, "secret"): "SECRET"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	was := plot.Usual
	plot.Usual = append(slices.Clone(was), canvas.PNG)
	t.Cleanup(func() { plot.Usual = was })
	outputOf(t, "run", "--quiet", "--out", filepath.Join(top, "undamaged", "results"), source)

	for _, c := range readers { // the files of their usage exist
		if c[0] == "logs" || c[0] == "explain" {
			c = slices.Clone(c)
			c[1] = filepath.Join(top, "undamaged", "results", "e")
			outputOf(t, c...)
		}
	}

	type trial struct {
		file string
		damage
		command []string
	}
	var trials []trial
	files, commands := regexp.MustCompile(*damagesOf), regexp.MustCompile(*damagesBy)
	for _, file := range slices.Concat(damaged, absent) {
		_, err := os.Lstat(filepath.Join(top, "undamaged", "results", "e", file))
		if there := err == nil; there == slices.Contains(absent, file) {
			t.Fatalf("%s is there: %t", file, there) // otherwise the test would check nothing
		}
		for _, d := range allDamages {
			for _, c := range readers {
				if d.name == "huge" && strings.HasSuffix(file, "logs/say-1.log") && slices.Contains(c, "say-1") && c[0] == "logs" {
					continue // this command prints the whole file, however long
				}
				if d.name == "huge" && c[0] == "check" {
					continue // this command reads the whole file to compute its sum
				}
				if files.MatchString(file+" "+d.name) && commands.MatchString(strings.Join(c, " ")) {
					trials = append(trials, trial{file, d, c})
				}
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 0))
	if *damages > 0 {
		random.Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
		trials = trials[:min(*damages, len(trials))]
	}
	said := map[string]bool{}
	for i, x := range trials {
		work := filepath.Join(top, "w")
		if i == 0 || x.file != trials[i-1].file || x.name != trials[i-1].name || writes(trials[i-1].command) {
			if err := os.RemoveAll(work); err != nil {
				t.Fatal(err)
			}
			if err := os.CopyFS(work, os.DirFS(filepath.Join(top, "undamaged"))); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(work, "results", "e", x.file)
			raw, _ := os.ReadFile(path)
			if err := x.do(path, raw, random); err != nil {
				continue // this damage cannot be applied to this file
			}
			if now, err := os.Lstat(path); err == nil && now.Mode().IsRegular() && now.Size() < hugeBytes {
				if after, _ := os.ReadFile(path); bytes.Equal(raw, after) && len(raw) > 0 {
					continue // this damage does not change the file
				}
			}
		}
		var args []string
		for _, a := range x.command {
			a = strings.ReplaceAll(a, "UNDAMAGED", filepath.Join(top, "undamaged", "results", "e"))
			if a == "R" || a == "FILE" {
				a = "W/results/e" + map[string]string{"FILE": "/" + x.file}[a]
			}
			args = append(args, strings.Replace(a, "W/", work+"/", 1))
		}
		name := fmt.Sprintf("%s %s, tfexp %s", x.file, x.name, strings.Join(x.command, " "))
		start, began := time.Now(), busy()
		wrong, heard := tried(work, args)
		if took := time.Since(start); *damagesList && took > time.Second {
			t.Logf("%s: it took %s, and computed for %s", name, took, busy()-began)
		}
		for _, w := range wrong {
			t.Errorf("%s: %s", name, w)
		}
		heard = regexp.MustCompile(`\d+`).ReplaceAllString(heard, "N")
		if key := x.command[0] + heard[:min(len(heard), 80)]; *damagesList && !said[key] {
			said[key] = true
			t.Logf("%s: %s", name, heard[:min(len(heard), 500)])
		}
	}
}

// writes reports whether a command changes the folder of results.
func writes(command []string) bool {
	return slices.Contains([]string{"plot", "report", "resume", "run"}, command[0])
}

var controls = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e]")

// tried runs a command, and returns the errors in its behavior, exit status or messages. heard is the command's output.
func tried(work string, args []string) (wrong []string, heard string) {
	debug.FreeOSMemory()
	before := resident("VmRSS")
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // resets the peak
	ended := make(chan struct{})
	began := busy()
	var code int
	var out, errs string
	go func() {
		defer close(ended)
		if args[0] == "serve" {
			out, errs = served(args[1])
			return
		}
		code, out, errs = inProcess(args...)
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		return []string{"it hangs"}, ""
	}
	if took := busy() - began; took > 10*time.Second {
		wrong = append(wrong, fmt.Sprintf("it computed for %s", took))
	}
	if more := resident("VmHWM") - before; more > 1<<20 {
		wrong = append(wrong, fmt.Sprintf("it took %d MiB", more>>10))
	}
	// The report may be a device without an end.
	report, _ := folder.ReadFile(filepath.Join(work, "results", "e"), "report.html")
	for what, text := range map[string]string{"its output": out, "its errors": errs, "the report": string(report)} {
		if strings.Contains(text, "SECRET") {
			wrong = append(wrong, what+" has what is outside the folder")
		}
	}
	if controls.MatchString(errs) || slices.Contains([]string{"status", "logs", "top", "explain", "compare", "check"}, args[0]) &&
		controls.MatchString(out) {
		wrong = append(wrong, "control characters are printed")
	}
	for _, word := range []string{"goroutine", "runtime error", "Go struct", "Go value", "invalid memory", "strconv."} {
		if strings.Contains(errs, word) {
			wrong = append(wrong, "it speaks of Go: "+errs[:min(len(errs), 500)])
			break
		}
	}
	if code < command.ExitOK || code > command.ExitInUse || code != command.ExitOK && errs == "" && args[0] != "check" {
		wrong = append(wrong, fmt.Sprintf("exit status %d: %s", code, errs))
	}
	return wrong, fmt.Sprintf("%d %s", code, errs)
}

// served gets the content of a folder's page.
func served(dir string) (out, errs string) {
	results := watch.NewFolder(dir)
	page := watch.WebHandler(results, watch.WebOptions{})
	for _, path := range []string{"/api/experiments", "/api/experiments/e", "/api/experiments/e/cell?cell=w-h-b-r1",
		"/api/experiments/e/log?cell=w-h-b-r1&job=say-1", "/results/e/report.html", "/results/e/plots/jct.svg",
		"/results/e/jobs.csv", "/metrics"} {
		request := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
		if strings.HasPrefix(path, "/results") {
			request.Header.Set("Range", "bytes=0-1000000") // files are served unchanged
		}
		answer := httptest.NewRecorder()
		page.ServeHTTP(answer, request)
		out += answer.Body.String()
		if answer.Code >= http.StatusInternalServerError {
			errs += fmt.Sprintf("%s: %d %s\n", path, answer.Code, answer.Body)
		}
	}
	return out, errs
}

// busy returns the CPU time of this process.
func busy() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// resident returns a memory figure of this process, in KiB.
func resident(field string) int {
	raw, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(raw), field+":")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(fields[0])
	return n
}
