// Package tfexp holds the test of how the packages depend on each other.
package tfexp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/stages"
	_ "github.com/tfexp/tfexp/stages/all"
)

const module = "github.com/tfexp/tfexp/"

// readers are the packages that read experiment files: only they know HCL.
var readers = []string{
	"experiments/limits", "experiments/eval", "experiments/files", "experiments/controllers", "experiments/elastic",
	"experiments/machines", "experiments/parts",
	"experiments/matrix", "experiments/blocks",
	"experiments/decode", "experiments/editor",
}

// everywhere are leaf packages that every package may import: what describes
// arguments of the language, and what reads its units.
var everywhere = []string{"experiments/schema", "experiments/units"}

// machines are the packages of hardware that pipeline and stages may import: no engine.
var machines = []string{"hardware$", "hardware/engine$", "hardware/launch", "hardware/gpu", "hardware/progress",
	"hardware/market"}

// rules say which of the module's packages may import which: the first
// prefix of rules that fits a package lists what it may use, by prefix; a name
// that ends in $ is that package alone. Imports point one
// way: cmd → pipeline → stages → {scheduler, estimator, hardware, results}.
var rules = []struct {
	pkg string
	may []string
}{
	{"cmd/", []string{"cmd/", "pipeline", "stages", "experiments", "results", "hardware", "jobs/", "scheduler",
		"estimator"}},
	{"pipeline/store", []string{"results"}},
	{"pipeline/realise/bounded", nil},
	{"pipeline/realise/sampling", []string{"stages$", "experiments", "results/record", "hardware/simulated",
		"jobs/contract", "scheduler", "estimator"}},
	{"pipeline/realise/drawn", []string{"pipeline/realise/given", "experiments$", "hardware/simulated", "scheduler"}},
	{"pipeline/realise/realisetest", []string{"pipeline/realise$", "stages", "results/record", "experiments", "estimator", "hardware$",
		"hardware/engine"}},
	{"pipeline/realise", append([]string{
		"pipeline/store", "pipeline/realise/", "stages$", "stages/estimate", "experiments", "results", "hardware/simulated", "jobs/", "scheduler", "estimator",
	}, machines...)},
	{"pipeline/search", []string{"pipeline/realise$", "experiments", "results", "scheduler/control", "estimator"}},
	{"pipeline", append([]string{
		"pipeline/", "stages$", "experiments", "results",
	}, machines...)},
	{"stages/all", []string{"stages/"}},
	{"stages/rank", []string{"stages$", "stages/learn", "scheduler", "results"}},
	{"stages/deepen", []string{"stages$", "scheduler", "results", "stages/execute", "stages/learn", "jobs/contract"}},
	{"stages/fidelity", []string{"stages$", "estimator", "scheduler", "results", "stages/execute"}},
	{"stages/plot/deepening", []string{"stages/plot", "results"}},
	{"stages/plot/tuning", []string{"stages/plot", "results", "estimator/surrogate"}},
	{"stages/plot/estimates", []string{"stages/plot", "results"}},
	{"stages/plot/servers", []string{"stages/plot", "results", "hardware/market", "estimator"}},
	{"stages/plot/plottest", []string{"results/record"}},
	{"stages/plot", append([]string{"stages$", "stages/plot/", "scheduler", "estimator", "results", "jobs/contract"},
		machines...)},
	{"stages/execute/array", []string{"stages$", "results", "hardware/engine"}},
	{"stages/execute", append([]string{
		"stages$", "stages/execute/array", "scheduler", "estimator", "results", "jobs/contract", "hardware/simulated",
	}, machines...)},
	{"stages/", append([]string{"stages$", "scheduler", "estimator", "results", "jobs/contract"}, machines...)},
	{"stages", append([]string{"scheduler", "estimator", "results", "hardware/simulated", "jobs/contract"}, machines...)},
	{"experiments/schema", nil},
	{"experiments/units", nil},
	{"experiments/words", nil},
	{"experiments/language", []string{"scheduler", "estimator", "hardware/engine", "results", "stages$"}},
	{"experiments/limits", nil},
	{"experiments/eval", []string{
		"experiments$", "experiments/language", "experiments/limits", "experiments/words", "scheduler/workload",
	}},
	{"experiments/matrix", []string{
		"experiments$", "experiments/eval", "experiments/words", "results", "scheduler/control", "scheduler/workload",
	}},
	{"experiments/files", []string{"experiments$", "experiments/eval", "scheduler/workload"}},
	{"experiments/controllers", []string{
		"experiments$", "experiments/eval", "experiments/files", "experiments/matrix", "experiments/words", "results/record",
		"results/tuning", "scheduler", "estimator",
	}},
	{"experiments/elastic", []string{"experiments$", "experiments/eval", "experiments/files", "experiments/words",
		"scheduler/workload", "estimator"}},
	{"experiments/parts", []string{"experiments$", "experiments/eval", "experiments/files", "experiments/words",
		"scheduler", "estimator/clusterspeed"}},
	{"experiments/machines", []string{
		"experiments$", "experiments/eval", "experiments/files", "experiments/words", "scheduler", "estimator",
		"hardware/engine", "hardware/market",
	}},
		"experiments$", "experiments/language", "experiments/eval", "experiments/matrix", "experiments/words", "experiments/files", "experiments/controllers",
		"experiments/elastic", "experiments/machines", "experiments/parts", "scheduler", "estimator", "hardware/launch",
	}},
	{"experiments/check", []string{
		"experiments$", "experiments/language", "experiments/eval", "experiments/files", "experiments/words", "scheduler",
		"hardware/engine",
	}},
	{"experiments/program", []string{"experiments/eval", "experiments/words"}},
	{"experiments/replay", []string{"experiments$", "experiments/eval", "experiments/files", "experiments/words",
		"scheduler/workload"}},
	{"experiments/decode", []string{
		"experiments$", "experiments/eval", "experiments/matrix", "experiments/blocks", "experiments/check",
	}},
	{"experiments/editor", []string{"experiments/language", "experiments/limits"}},
	{"experiments", []string{
		"experiments/words", "scheduler", "estimator", "hardware/engine", "hardware/launch", "hardware/market", "results",
	}},
	{"results/folder", nil},
	{"results/tuning", []string{"results/record", "results/stats", "results/steering", "scheduler/control",
		"estimator/surrogate"}},
	{"results/tracking", []string{"results", "jobs/eventfile"}},
	{"results", []string{"scheduler", "results", "experiments/schema", "hardware/market"}},
	{"estimator/training", []string{"estimator/goodput"}},
	{"estimator", nil},
	{"hardware", []string{"scheduler", "hardware", "jobs/contract", "jobs/eventfile", "results/folder"}},
	{"scheduler/queue", nil},
	{"scheduler/matching", nil},
	{"scheduler/lp", nil},
	{"scheduler/shares", []string{"scheduler/lp"}},
	{"scheduler/workload/throughput", []string{"scheduler/workload$"}},
	{"scheduler/division", []string{"scheduler/lp"}},
	{"scheduler/cluster", nil},
	{"scheduler/job", []string{"scheduler/cluster"}},
	{"scheduler/trace", []string{"scheduler/cluster", "scheduler/job"}},
	{"scheduler/guard", []string{"scheduler/job", "scheduler/trace"}},
	{"scheduler/victims", []string{"scheduler/queue"}},
	{"scheduler/rejoin", []string{"scheduler/cluster", "scheduler/job"}},
	{"scheduler/placement", []string{"scheduler/cluster"}},
	{"scheduler/following", []string{"scheduler/trace"}},
	{"scheduler/steering", []string{"scheduler/job", "scheduler/trace"}},
	{"scheduler/rental", []string{"scheduler/cluster", "scheduler/queue", "scheduler/trace"}},
	{"scheduler/alternative", []string{"scheduler/cluster", "scheduler/job"}},
	{"scheduler/outlook", []string{"scheduler/job"}},
	{"scheduler/servers", []string{"scheduler/cluster", "scheduler/queue", "scheduler/trace"}},
	{"scheduler/proportion", nil},
	{"scheduler/ledger", []string{"scheduler$"}},
	{"scheduler/pages", []string{"scheduler/trace"}},
	{"scheduler/validate", []string{"scheduler$", "scheduler/pages"}}, // it checks traces with its own code
	{"scheduler/plan", []string{"scheduler$", "scheduler/queue"}},
	{"scheduler/policy/nodes", []string{"scheduler/policy$", "scheduler/placement"}},
	{"scheduler/replan", []string{"scheduler$", "scheduler/queue"}},
	{"scheduler/policy/pairs", []string{"scheduler$", "scheduler/policy$", "scheduler/queue", "scheduler/replan"}},
	{"scheduler/policy/users", []string{"scheduler$", "scheduler/policy$", "scheduler/queue"}},
	{"scheduler/policy/elastic", []string{"scheduler$", "scheduler/policy$", "scheduler/policy/rounds",
		"scheduler/division", "scheduler/queue"}},
	{"scheduler/policy/rounds", []string{"scheduler$", "scheduler/policy$", "scheduler/shares"}},
	{"scheduler/policy", []string{"scheduler$", "scheduler/plan", "scheduler/proportion", "scheduler/cluster", "scheduler/queue",
		"scheduler/matching", "scheduler/rental", "scheduler/profiling", "scheduler/replan",
		"scheduler/placement"}},
	{"scheduler/control", []string{"scheduler", "estimator"}},
	{"scheduler/schedulertest", []string{"scheduler", "hardware/simulated"}},
	{"scheduler/", []string{"scheduler"}},
	{"scheduler", []string{ // and no policy
		"scheduler/queue", "scheduler/cluster", "scheduler/job", "scheduler/trace", "scheduler/servers", "scheduler/outlook",
		"scheduler/rental", "scheduler/guard", "scheduler/steering", "scheduler/placement", "scheduler/following",
		"scheduler/rejoin", "scheduler/alternative", "scheduler/pages", "scheduler/victims",
	}},
	{"jobs/contract", nil},
	{"jobs/digits", nil},
	{"jobs/builtin/network", []string{"jobs/digits"}},
	{"jobs/builtin/paramserver", []string{"jobs/contract", "jobs/builtin/network"}},
	{"jobs/builtin", []string{"jobs/builtin/", "jobs/contract", "jobs/digits"}},
}

func TestImportsPointOneWay(t *testing.T) {
	checked := 0
	eachFile(t, func(path, pkg string, file *ast.File) {
		checked++
		for _, spec := range file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if strings.HasPrefix(imported, "github.com/hashicorp/hcl") && !slices.Contains(readers, pkg) {
				t.Errorf("%s imports hcl: only the packages that read experiment files may", path)
			}
			target, ours := strings.CutPrefix(imported, module)
			if ours && !allowed(pkg, target) {
				t.Errorf("%s imports %s, which points the wrong way", path, target)
			}
		}
	})
	if checked < 20 {
		t.Fatalf("only %d files were looked at", checked)
	}
}

func allowed(pkg, target string) bool {
	if slices.Contains(everywhere, target) && !slices.Contains(everywhere, pkg) {
		return true
	}
	for _, r := range rules {
		if !strings.HasPrefix(pkg, r.pkg) {
			continue
		}
		for _, m := range r.may {
			if exact, ok := strings.CutSuffix(m, "$"); ok && target == exact || !ok && strings.HasPrefix(target, m) {
				return true
			}
		}
		return false
	}
	return false
}

// views are the packages that show results to people. Data comes to them as
// data: they do not take apart sentences, labels and summaries.
var views = []string{"stages/report", "stages/plot", "results/prose", "cmd/tfexp"}

// takesApart are the uses of functions that take strings apart, which views may
// have, by file: on arguments, files and formats, never on what was made for
// people.
var takesApart = map[string]string{
	"cmd/tfexp/cli/args.go":                "command lines, and the flag library's errors",
	"cmd/tfexp/cells.go":                   "names of log files",
	"cmd/tfexp/convert/export.go":          "command lines",
	"cmd/tfexp/convert/import.go":          "command lines",
	"cmd/tfexp/init.go":                    "file names",
	"cmd/tfexp/languageserver/messages.go": "snippets of completions",
	"cmd/tfexp/languageserver/server.go":   "methods of the protocol, and file names",
	"cmd/tfexp/root.go":                    "command lines",
	"cmd/tfexp/show/failures.go":           "lines of logs",
	"cmd/tfexp/show/fold.go":               "lines that are too wide for a terminal",
	"cmd/tfexp/show/waits.go":              "reasons in decisions.jsonl, which differ in their numbers only",
	"results/prose/format.go":              "numbers that it has just written",
	"stages/plot/canvas/dark.go":           "SVG",
	"stages/plot/canvas/encode.go":         "SVG",
	"stages/plot/canvas/series.go":         "SVG",
	"stages/plot/canvas/style.go":          "numbers that it has just written",
	"stages/report/failures.go":            "lines of logs",
	"stages/report/pictures.go":            "SVG",
}

func TestViewsTakeNoTextApart(t *testing.T) {
	cuts := map[string]bool{}
	for _, name := range strings.Fields("Cut CutPrefix CutSuffix Split SplitN SplitAfter SplitAfterN SplitSeq Fields " +
		"FieldsFunc FieldsSeq " +
		"HasPrefix HasSuffix TrimPrefix TrimSuffix Contains Index IndexByte LastIndex") {
		cuts["strings."+name] = true
	}
	eachFile(t, func(path, pkg string, file *ast.File) {
		if !slices.ContainsFunc(views, func(v string) bool { return pkg == v || strings.HasPrefix(pkg, v+"/") }) ||
			takesApart[path] != "" {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if from, ok := s.X.(*ast.Ident); ok && (cuts[from.Name+"."+s.Sel.Name] || from.Name == "regexp") {
				t.Errorf("%s uses %s.%s: data must come with the text that it is part of", path, from.Name, s.Sel.Name)
			}
			return true
		})
	})
}

// words are texts that happen to be the name of an engine, and mean something else: the half of a real cell that is its
// simulation, and the block of recorded trials of a job.
var words = map[string]string{
	"experiments/blocks/job.go":           "recorded",
	"experiments/blocks/recorded.go":      "recorded",
	"experiments/language/tune.go":        "recorded",
	"pipeline/realise/describe/named.go":  "recorded",
	"pipeline/realise/program/program.go": "recorded",
	"results/record/layout.go":            "simulated",
	"results/record/tables.go":            "simulated",
	"stages/plot/estimates/fidelity.go":   "simulated",
}

// No package but an engine's own knows the name of an engine: the others ask the registry. Packages for tests may.
func TestOnlyTheRegistryKnowsEngines(t *testing.T) {
	names := engine.Names(nil)
	if len(names) < 3 {
		t.Fatalf("the engines are %q", names)
	}
	eachFile(t, func(path, pkg string, file *ast.File) {
		if own, ok := strings.CutPrefix(pkg, "hardware/"); ok && slices.Contains(names, strings.Split(own, "/")[0]) {
			return
		}
		if strings.HasSuffix(pkg, "test") {
			return
		}
		for _, text := range texts(file) {
			if slices.Contains(names, text) && words[path] != text {
				t.Errorf("%s holds the name of the engine %q: it should ask the registry (hardware/engine)", path, text)
			}
		}
	})
}

// labels are texts that happen to be the name of a stage, and are the label of a line in a key.
var labels = map[string]string{"pipeline/realise/describe/past.go": "estimate"}

// The pipeline orders stages by what they read and write: it knows none by name.
func TestThePipelineKnowsNoStage(t *testing.T) {
	if len(stages.Names()) < 5 {
		t.Fatalf("the stages are %q", stages.Names())
	}
	eachFile(t, func(path, pkg string, file *ast.File) {
		if pkg != "pipeline" && !strings.HasPrefix(pkg, "pipeline/") {
			return
		}
		for _, text := range texts(file) {
			if slices.Contains(stages.Names(), text) && labels[path] != text {
				t.Errorf("%s holds the name of the stage %q: it should ask the registry (stages)", path, text)
			}
		}
	})
}

// eachFile calls visit for each file of Go that is no test.
func eachFile(t *testing.T, visit func(path, pkg string, file *ast.File)) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || path != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		path = filepath.ToSlash(path)
		visit(path, strings.TrimSuffix(path, "/"+d.Name()), file)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// texts are the string literals of a file, but for its imports.
func texts(file *ast.File) []string {
	var found []string
	ast.Inspect(file, func(n ast.Node) bool {
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, _ := strconv.Unquote(lit.Value)
			found = append(found, text)
		}
		return true
	})
	return found
}

// mostLines is the number of lines of code, without blank lines, comments and tests, above which a package is to be
// split.
const mostLines = 2500

func TestPackagesAreSmall(t *testing.T) {
	lines := map[string]int{}
	eachFile(t, func(path, pkg string, _ *ast.File) {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
				lines[pkg]++
			}
		}
	})
	for _, pkg := range slices.Sorted(maps.Keys(lines)) {
		if lines[pkg] > mostLines {
			t.Errorf("%s has %d lines of code, want at most %d: split it", pkg, lines[pkg], mostLines)
		}
	}
}

// The table of packages in docs/architecture.md has all of them.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	raw, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, row := range strings.Split(string(raw), "\n") {
		for i, name := range strings.Split(row, "`") {
			if i%2 == 1 {
				names[name] = true
			}
		}
	}
	missing := map[string]bool{}
	eachFile(t, func(_, pkg string, _ *ast.File) {
		if _, below, ok := strings.Cut(pkg, "/"); !names[pkg] && !(ok && (names[below] || names[filepath.Base(pkg)])) {
			missing[pkg] = true
		}
	})
	for pkg := range missing {
		t.Errorf("docs/architecture.md does not name the package %s", pkg)
	}
}
