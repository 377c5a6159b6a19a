package editor

import (
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline/decode"
)

// marked returns a text without its mark, and the position of the mark.
func marked(t *testing.T, text string) ([]byte, int) {
	t.Helper()
	before, after, ok := strings.Cut(text, "◊")
	if !ok {
		t.Fatalf("no mark in %s", text)
	}
	return []byte(before + after), len(before)
}

// Completions depend on the brackets, comments and lines before the position.
func TestCompleteAtPlaces(t *testing.T) {
	for _, test := range []struct{ text, has, hasNot string }{
		// Completions inside an object are its keys; after the object they are not.
		{`job "a" { threads = { ◊ } }`, "request inter intra max", ""},
		{`job "a" { threads = { request = 1, in◊ } }`, "inter intra", "request"},
		{`job "a" { threads = { request = 1 } ◊ }`, "max host", "request inter"},
		{"job \"a\" {\n threads = {\n request = 1\n ◊\n}\n}", "inter", "epochs"},
		{"job \"a\" {\n threads = {\n request = 1\n}\n ◊\n}", "epochs", "inter threads"},
		{"job \"a\" {\n threads = max(\n1,\n2)\n ◊\n}", "epochs", "threads"},
		{"job \"a\" {\n epochs = max(\n1,\n◊)\n}", "host min", "threads"},
		{"job \"a\" {\n command = [\n\"x\",\n]\n ◊\n}", "epochs", "command"},
		{`job "a" { threads = { request = "◊" } }`, "", "a request"},
		{`hardware "h" { engine = { a = "◊" } }`, "", "process"},
		{`hardware "h" { engine = { a = 1 } ◊ }`, `"process"`, "a"},
		// A block in one line ends at the end of the line.
		{"job \"a\" { epochs = 5 }\n ◊", "policy workload", "epochs threads"},
		{"policy \"p\" {\n order = \"fcfs\" # why\n ◊\n}", "quantum", "order"},
		{"policy \"p\" {\n order = # why\n ◊\n}", "quantum", "order"},
		{"}\n}\njo◊", "job", ""}, // one bracket too many
		// There are no completions in a comment, but there are after it.
		{"# po◊\n", "", "policy"},
		{"# note\n◊", "policy", ""},
		{"/* po◊licy */", "", "policy"},
		{"/* note */ po◊", "policy", ""},
		{"job \"a\" {\n // a note\n ◊\n}", "epochs threads", ""},
		// Some blocks may occur only once, others several times.
		{"job \"a\" {\n checkpoint {\n}\n ◊\n}", "role alternative", "checkpoint"},
		{"experiment \"e\" {}\njob \"a\" {}\n◊", "job policy", "experiment"},
		// Booleans, references, allowed values, and names after a dot.
		{`job "a" { malleable = ◊ }`, "true false", ""}, {`job "a" { malleable = t◊ }`, "true", "false"},
		{"policy \"p\" {}\nworkload \"w\" {}\ncompare \"mean_jct\" { baseline = ◊ }", "policy.p workload.w", "max host"},
		{"job \"a\" {}\nworkload \"w\" { submit { job = ◊ } }", "job.a", "max workload.w"},
		{"job \"a\" {}\nworkload \"w\" { submit { count = ◊ } }", "max job workload host", `job.a true`},
		{"job \"a\" {}\nlocals { b = job.◊ }", "a", "max"}, {"job \"a\" {}\nlocals { b = job.a.◊ }", "", "a max"},
		{"locals { b = [1][0].◊ }", "", "max host locals"}, {"locals { b = host.◊ }", "threads memory", "max"},
		{"locals { b = local.◊ }", "b", "max"}, {"locals { ◊ }", "", "policy max"}, {"locals { b = ◊ }", "max", ""},
		// The labels that a block allows, only inside quotes.
		{`adaptation "a" { controller "◊" {} }`, "constant random", ""},
		{`adaptation "a" { controller ◊ {} }`, "", "constant"},
		{`tune "t" { constraint "◊" {} }`, "accuracy", ""}, {`policy "◊" {}`, "", "fcfs"}, {`nothing "◊" {}`, "", "policy"},
		{`nothing { ◊ }`, "", "policy job"}, {`job "a" { builtin "mlp" { ◊ } }`, "hidden", "filters"},
		{`job "a" { nothing = "◊" }`, "", "process"}, {`job "a" { nothing = ◊ }`, "max", ""},
	} {
		src, at := marked(t, test.text)
		var labels []string
		for _, c := range Complete(decode.Language(), src, at) {
			labels = append(labels, c.Label)
			if c.At.End != at || !strings.HasPrefix(c.Label, string(src[c.At.Start:at])) {
				t.Errorf("%s: %q replaces %q", test.text, c.Label, src[c.At.Start:c.At.End])
			}
		}
		for want := range strings.FieldsSeq(test.has) {
			if !slices.Contains(labels, want) {
				t.Errorf("%s: %q is missing in %q", test.text, want, labels)
			}
		}
		for no := range strings.FieldsSeq(test.hasNot) {
			if slices.Contains(labels, no) {
				t.Errorf("%s: has %q", test.text, no)
			}
		}
	}
}

// The inserted text is valid HCL, with the cursor where the writer continues.
func TestInserted(t *testing.T) {
	for _, test := range []struct{ text, label, insert, detail string }{
		{`job "a" { ◊ }`, "epochs", "epochs = $0", "integer"},
		{`job "a" { ◊ }`, "checkpoint", "checkpoint {\n  $0\n}", "block"},
		{`job "a" { ◊ }`, "builtin", "builtin \"$0\" {\n}", "block"},
		{`workload "w" { submit { ◊ } }`, "job", "job = $0", "reference to a job, required"},
		{`locals { a = ◊ }`, "max", "max($0)", "max(1, 2)"},
		{`locals { a = ◊ }`, "host", "host.", "names that begin with host"},
		{`job "a" { threads = { ◊ } }`, "request", "request = $0", "integer"},
		{`hardware "h" { engine = ◊ }`, `"process"`, `"process"`, "engine"},
	} {
		src, at := marked(t, test.text)
		all := Complete(decode.Language(), src, at)
		i := slices.IndexFunc(all, func(c Completion) bool { return c.Label == test.label })
		if i < 0 || all[i].Insert != test.insert || all[i].Detail != test.detail {
			t.Errorf("%s: %s is %+v", test.text, test.label, all[max(i, 0)])
		}
	}
}

// A hover text is about the whole word at the position. A word without a meaning has none.
func TestHoverAtPlaces(t *testing.T) {
	defs := "policy \"x\" {}\njob \"x\" { epochs = 7 }\n"
	for _, test := range []struct{ text, word, doc string }{
		{`hardware "h" { engine = "pro◊cess" }`, "process", "**engine process**: runs jobs for real"},
		{`hardware "h" { engine = "proc◊es" }`, "", ""}, {`hardware "h" { nothing = "proc◊es" }`, "", ""},
		{`hardware "h" { engine = "process" } # eng◊ine`, "", ""},
		{`adaptation "a" { controller "ran◊dom" {} }`, "random", `**controller "random"**`},
		{`adaptation "a" { controller "rand◊" {} }`, "", ""},
		{`nothing "ran◊dom" {}`, "", ""},
		{`po◊licy "p" {}`, "policy", "**policy**: block"},
		{`locals { a = ma◊x(1) }`, "max", "`max("},
		{`locals { a = local.ma◊x }`, "", ""},
		{`locals { a = host.th◊reads }`, "threads", "**host.threads**: integer"},
		{`locals { a = threads◊ }`, "", ""}, {`locals { a = local.thr◊eads }`, "", ""}, {`locals { a = ◊ 1 }`, "", ""},
		{defs + "locals { b = job.◊x }", "x", "job \"x\" { epochs = 7 }"},
		{defs + "locals { b = policy.x◊ }", "x", "policy \"x\" {}"},
		{defs + "locals { b = policy.◊x", "x", "policy \"x\" {}"}, {defs + "locals { b = job.x.◊x }", "", ""},
		{`exp◊eriment`, "experiment", "**experiment**: block"}, {`nothing { epo◊chs = 1 }`, "", ""},
	} {
		src, at := marked(t, test.text)
		doc, word, ok := Hover(decode.Language(), src, at)
		if ok != (test.doc != "") || !strings.Contains(doc, test.doc) || string(src[word.Start:word.End]) != test.word {
			t.Errorf("%s: %t, %q: %q", test.text, ok, src[word.Start:word.End], doc)
		}
	}
}

func TestDefineAtPlaces(t *testing.T) {
	defs := "policy \"x\" {}\njob \"x\" {}\nmatrix { b = [2] }\nlocals {\n  z = 1\n  b = 3\n}\nvariable \"b\" {}\n"
	for _, test := range []struct{ text, line string }{
		{defs + "locals { c = job.x◊ }", `job "x" {}`}, {defs + "locals { c = policy.◊x }", `policy "x" {}`},
		{defs + "locals { c = each.b◊ }", "matrix { b = [2] }"}, {defs + "locals { c = local.b◊", "b = 3"},
		{defs + "locals { c = local.z◊ }", "z = 1"}, {defs + "locals { c = var.b◊ }", `variable "b" {}`},
		{defs + "locals { c = job.y◊ }", ""},
		{defs + "locals { c = nothing.x◊ }", ""},
		{defs + "# job.x◊\n", ""},
		{defs + "locals { c = x◊ }", ""},
	} {
		src, at := marked(t, test.text)
		d, ok := Define(src, at)
		if ok != (test.line != "") || ok && lineOf(src, d.At.Start) != test.line {
			t.Errorf("%s: %t, %+v", test.text[len(defs):], ok, d)
		}
	}
	var names []string
	src := []byte(defs)
	all := Definitions(src)
	for _, d := range all {
		names = append(names, d.Kind+"."+d.Name)
		if text := string(src[d.At.Start:d.At.End]); text != d.Name {
			t.Errorf("%s is at %q", d.Name, text)
		}
	}
	if want := []string{"policy.x", "job.x", "each.b", "local.z", "local.b", "var.b"}; !slices.Equal(names, want) {
		t.Errorf("defined are %q, want %q", names, want)
	}
}

func TestArgumentDoc(t *testing.T) {
	for _, test := range []struct {
		arg  schema.Arg
		want string
	}{
		{schema.Arg{Name: "a", Doc: "What it is."}, "What it is."},
		{schema.Arg{Name: "a", Doc: "What it is.", Allowed: []string{"x", "y"}, Required: true, Default: `"x"`},
			"What it is. One of `x`, `y`.\n\nRequired."},
		{schema.Arg{Name: "a", Doc: "What it is.", Default: "5", Example: "7"},
			"What it is.\n\nDefault: `5`.\n\n```hcl\na = 7\n```"},
		{schema.Arg{Name: "a", Doc: "What it is.", Default: "5", DefaultDoc: "that of b"},
			"What it is.\n\nDefault: that of b."},
	} {
		if got := argumentDoc(&test.arg); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
	if got := blockDoc(&schema.Block{Doc: "A block.", Example: "b {}"}); got != "A block.\n\n```hcl\nb {}\n```" {
		t.Errorf("%q", got)
	}
	if got := blockDoc(&schema.Block{Doc: "A block."}); got != "A block." {
		t.Errorf("%q", got)
	}
}

// The schema describes each kind of body once. It distinguishes labels only if the label determines the arguments.
func TestJSONSchemaOfBodies(t *testing.T) {
	arg := func(name string) schema.Arg { return schema.Arg{Name: name, Type: schema.Integer} }
	free := arg("free")
	d := definitions{known: map[*schema.Block]string{}, all: object{}}
	shared := &schema.Block{Name: "shared", Args: []schema.Arg{{Name: "need", Type: schema.Bool, Required: true}}}
	file := &schema.Block{Blocks: []*schema.Block{
		{Name: "plain", Required: true, Args: []schema.Arg{arg("a")}, Blocks: []*schema.Block{shared}},
		{Name: "open", Free: &free, Blocks: []*schema.Block{shared}},
		{Name: "named", Label: "name", Args: []schema.Arg{arg("b")}},
		{Name: "choice", Label: "kind", Labels: []string{"one", "two"}, Args: []schema.Arg{arg("c")}},
		{Name: "kinds", Label: "kind", ByLabel: []schema.Labelled{
			{Label: "x", Args: []schema.Arg{arg("ofx")}}, {Label: "y", Args: []schema.Arg{arg("ofy")}}}},
	}}
	body := d.body(file, "", "")
	if got := body["required"].([]string); !slices.Equal(got, []string{"plain"}) {
		t.Errorf("required are %q", got)
	}
	var paths []string
	for path := range d.all {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	want := []string{"choice", "kinds.x", "kinds.y", "named", "open", "plain", "plain.shared"}
	if !slices.Equal(paths, want) {
		t.Errorf("the bodies are %q, want %q", paths, want)
	}
	in := func(path, name string) bool {
		_, ok := d.all[path].(object)["properties"].(object)[name]
		return ok
	}
	for path, name := range map[string]string{
		"choice": "c", "kinds.x": "ofx", "kinds.y": "ofy", "named": "b", "plain": "a",
	} {
		if !in(path, name) {
			t.Errorf("%s lacks %s", path, name)
		}
	}
	if in("kinds.x", "ofy") {
		t.Error("the arguments of another label are allowed")
	}
	if d.all["plain"].(object)["required"] != nil || d.all["plain.shared"].(object)["required"] == nil {
		t.Errorf("what is required: %v, %v", d.all["plain"], d.all["plain.shared"])
	}
	const more = "additionalProperties"
	if d.all["plain"].(object)[more] != false || d.all["open"].(object)[more] == false {
		t.Error("free arguments stand where none may, or do not where they may")
	}
}
