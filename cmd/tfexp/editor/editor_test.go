package editor

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/santhosh-tekuri/jsonschema/v6"

	_ "github.com/tfexp/tfexp/experiments" // the choices of policies
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/pipeline/decode"
)

const file = `# An experiment
experiment "e" { replicates = 3 }
variable "slice" { default = "1s" }
locals { sizes = [1, 2] }
job "long" {
  builtin "mlp" { hidden = [256, 128] }
  epochs = 5
  ◊1
}
workload "w" {
  submit {
    job = job.◊2
    count = local.sizes[0] + max(◊3)
  }
}
hardware "here" {
  engine = "◊4"
  threads = host.t◊5
}
policy "fcfs" { order = ◊6 }
policy "rr" {
  order = "round_robin"
  quantum = var.◊7
}
job "short" { builtin "◊8" {} }
compare "mean_jct" { baseline = ◊9 }
exp◊a
// pol◊b
`

// at returns the text without marks, and the byte position of a mark.
func at(t *testing.T, mark string) ([]byte, int) {
	t.Helper()
	before, _, found := strings.Cut(file, mark)
	if !found {
		t.Fatalf("no mark %s", mark)
	}
	strip := func(text string) string {
		for _, digit := range "123456789ab" {
			text = strings.ReplaceAll(text, "◊"+string(digit), "")
		}
		return text
	}
	return []byte(strip(file)), len(strip(before))
}

func TestComplete(t *testing.T) {
	for _, test := range []struct {
		mark, has, hasNot string
	}{
		{"◊1", "threads command checkpoint", "epochs quantum submit"},
		{"◊2", "long short", "fcfs"},
		{"◊3", "host local var min job", "submit"},
		{"◊4", "process simulated docker", "engine"},
		{"◊5", "threads", "memory"},
		{"◊6", `"fcfs" "sjf"`, "quantum"},
		{"◊7", "slice", "sizes"},
		{"◊8", "mlp softmax cnn", "long"},
		{"◊9", "policy.fcfs policy.rr", "submit"},
		{"◊a", "", "job experiment"}, // only one experiment block is allowed
		{"◊b", "", "policy"},
	} {
		src, place := at(t, test.mark)
		var labels []string
		for _, c := range Complete(decode.Language(), src, place) {
			labels = append(labels, c.Label)
			if text := string(src[c.At.Start:c.At.End]); !strings.HasPrefix(strings.ToLower(c.Label), text) {
				t.Errorf("%s: %q replaces %q", test.mark, c.Label, text)
			}
		}
		for want := range strings.FieldsSeq(test.has) {
			if !slices.Contains(labels, want) {
				t.Errorf("%s: %q is missing in %q", test.mark, want, labels)
			}
		}
		for no := range strings.FieldsSeq(test.hasNot) {
			if slices.Contains(labels, no) {
				t.Errorf("%s: has %q", test.mark, no)
			}
		}
	}
}

func TestHoverAndDefine(t *testing.T) {
	src := []byte(strings.ReplaceAll(file, "job.◊2", "job.long"))
	src = []byte(strings.NewReplacer("◊1", "", "◊3", "1", "◊4", "process", "◊5", "hreads", "◊6", `"fcfs"`, "◊7", "slice",
		"◊8", "cnn", "◊9", "policy.fcfs", "exp◊a", "", "◊b", "").Replace(string(src)))
	for _, test := range []struct{ before, word, doc string }{
		{"", "replicates", "The number of runs of each cell"},
		{"job = ", "job", ""},
		{"job = job.", "long", `job "long" {`},
		{"sizes[0] + ", "max", "largest of the numbers"},
		{"threads = host.", "threads", "integer"},
		{"order = ", "round_robin", ""},
		{"", "submit", "block"},
		{"builtin \"", "cnn", ""},
		{"quantum = var.", "slice", `variable "slice"`},
	} {
		place := strings.Index(string(src), test.before+test.word) + len(test.before) + 1
		doc, word, ok := Hover(decode.Language(), src, place)
		if ok != (test.doc != "") && test.word != "cnn" && test.word != "round_robin" {
			t.Errorf("%s: %t", test.word, ok)
		}
		if ok && string(src[word.Start:word.End]) != test.word {
			t.Errorf("%s: the word is %q", test.word, src[word.Start:word.End])
		}
		if !strings.Contains(doc, test.doc) {
			t.Errorf("%s: %q", test.word, doc)
		}
	}
	for _, test := range []struct{ before, want string }{
		{"job = job.lo", `job "`}, {"quantum = var.sl", `variable "`}, {"count = local.si", `locals { `},
	} {
		place := strings.Index(string(src), test.before) + len(test.before)
		d, ok := Define(src, place)
		if !ok || !strings.HasSuffix(string(src[:d.At.Start]), test.want) {
			t.Errorf("%s: %+v", test.before, d)
		}
	}
	if d, ok := Define(src, strings.Index(string(src), "epochs")); ok {
		t.Errorf("an argument is defined at %+v", d)
	}
}

// The editor server answers for each byte of each shipped experiment, and of its incomplete beginnings.
func TestEveryPlaceOfShippedExperiments(t *testing.T) {
	files, err := filepath.Glob("../../../experiments/*.hcl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for place := 0; place <= len(src); place += 1 + len(src)/need.Cases(4, 12) {
			Complete(decode.Language(), src, place)
			Complete(decode.Language(), src[:place], place)
			Hover(decode.Language(), src, place)
			Define(src, place)
		}
	}
}

func schemaOf(t *testing.T) *jsonschema.Schema {
	t.Helper()
	raw, err := json.Marshal(JSONSchema(decode.Language()))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tfexp.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("tfexp.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestJSONSchema(t *testing.T) {
	s := schemaOf(t)
	good, err := os.ReadFile("../../../pipeline/decode/testdata/good/json.hcl.json")
	if err != nil {
		t.Fatal(err)
	}
	text := string(good)
	for _, test := range []struct{ old, new, want string }{
		{"", "", ""},
		{`"replicates": 3`, `"replicates": 0`, "minimum"},
		{`"replicates": 3`, `"replicate": 3`, "replicate"},
		{`"order": "fcfs"`, `"order": "fcsf"`, "order"},
		{`"order": "fcfs"`, `"order": "${var.quantum}"`, ""},
		{`"job": "${job.short}", "count": 2`, `"job": 5`, "job"},
		{`"epochs": 4`, `"epochs": "four"`, "epochs"},
		{`"250ms"`, `"${var.quantum}"`, ""},
		{`"engine": "process"`, `"engine": "proces"`, "engine"},
		{`"short": {`, `"a b": {`, "a b"},
		{`"softmax"`, `"softmx"`, "softmx"},
		{`"mean_jct"`, `"mean_jtc"`, "mean_jtc"},
		{`"mean_jct"`, `"mean_jct_s"`, ""},
	} {
		var v any
		if err := json.Unmarshal([]byte(strings.Replace(text, test.old, test.new, 1)), &v); err != nil {
			t.Fatal(test.new, err)
		}
		err := s.Validate(v)
		if (err == nil) != (test.want == "") {
			t.Errorf("%s: %v", test.new, err)
		} else if err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v lacks %q", test.new, err, test.want)
		}
	}
}

// The schema for JSON accepts each shipped experiment, converted to JSON with expressions as templates. So it accepts
// the same files as the decoder.
func TestJSONSchemaOfShippedExperiments(t *testing.T) {
	s := schemaOf(t)
	files, err := filepath.Glob("../../../experiments/*.hcl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if err := s.Validate(inJSON(src, f.Body.(*hclsyntax.Body))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// inJSON converts a body to JSON syntax: literals stay, other values become templates.
func inJSON(src []byte, b *hclsyntax.Body) map[string]any {
	out := map[string]any{}
	for name, a := range b.Attributes {
		out[name] = "${" + string(a.Expr.Range().SliceBytes(src)) + "}"
		if v, diags := a.Expr.Value(nil); !diags.HasErrors() && v.Type().FriendlyName() == "string" {
			out[name] = v.AsString()
		}
	}
	for _, inner := range b.Blocks {
		var content any = inJSON(src, inner.Body)
		for _, label := range slices.Backward(inner.Labels) {
			content = map[string]any{label: content}
		}
		list, _ := out[inner.Type].([]any)
		out[inner.Type] = append(list, content)
	}
	return out
}
