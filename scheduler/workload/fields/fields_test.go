package fields

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments/schema"
)

// docs/fields.md is generated from the list of fields.
func TestPage(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "fields.md")
	if os.Getenv("TFEXP_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if page() != string(want) {
		t.Error("docs/fields.md is not what the list says: make docs")
	}
}

// A field is used by a reader, ignored with a message, or unknown.
func TestUnused(t *testing.T) {
	for _, c := range []struct{ table, reader, fields, want string }{
		{"sacct", "accounting", "JobID|User|Account", ""},
		{"sacct", "sacct", "JobID|Account", "not used: Account"},
		{"sacct", "accounting", "JobID|NodeList|Licenses|MaxRSS", "not used: Licenses (jobs do not wait for licenses), NodeList, MaxRSS"},
		{"sacct", "accounting", "JobID|Acount", "Columns of `sacct --parsable2`: these do not include Acount. Did you mean Account?"},
		{"squeue", "when", "JOBID|ZZZ", "Columns of `squeue -o`: these do not include ZZZ. Leave"},
	} {
		said, err := Of(c.table).Unused(c.reader, strings.Split(c.fields, "|"))
		if err != nil {
			said = err.Error()
		}
		if said != c.want && (err == nil || !strings.HasPrefix(said, c.want)) {
			t.Errorf("%s: %q, want %q", c.fields, said, c.want)
		}
	}
}

// page returns a page of documentation about the treatment of each field.
func page() string {
	var b strings.Builder
	b.WriteString("# Fields of other programs' files\n\n" +
		"When tfexp reads a cluster's log or the output of Slurm, look up here what it does with each field.\n\n" +
		"    tfexp init replay --from jobs.csv    # prints the fields that it does not use\n\n" +
		"An unknown field in the output of Slurm is an error that names the line and the closest known field. In logs of other programs,\n" +
		"tfexp prints unknown fields and ignores them.\n\n" +
		"- *Used*: tfexp reads the field. Where several formats read a file, the page names the format.\n" +
		"- *Ignored*: the field does not change what tfexp reads. tfexp prints the ignored fields of a file.\n" +
		"- *Not modeled*: the field may change when jobs start. The table says what happens in a simulation.\n\n" +
		"A `table` (any CSV file) has the columns that `columns` and `where` name; `tfexp init` prints its other columns. " +
		"The formats `csv`,\n`requests` and `gavel` have a fixed number of fields: a line with more or fewer fields is an error.\n" +
		"[slurm_parameters.md](slurm_parameters.md) has the parameters of Slurm's configuration. `make docs` writes this page.\n")
	for _, t := range tables {
		fmt.Fprintf(&b, "\n## %s\n", t.Title)
		group := func(title string, in func(field) bool) {
			var names []string
			for _, f := range t.fields {
				if in(f) {
					names = append(names, "`"+f.name+"`")
				}
			}
			if len(names) > 0 {
				fmt.Fprintf(&b, "\n%s: %s.\n", title, strings.Join(names, ", "))
			}
		}
		title := "Used"
		if len(t.Readers) > 0 {
			title = "Used by `" + strings.Join(t.Readers, "` and `") + "`"
		}
		group(title, func(f field) bool { return f.used && f.reader == "" })
		for _, reader := range t.Readers {
			group("Used by `"+reader+"` alone", func(f field) bool { return f.used && f.reader == reader })
		}
		group("Ignored", func(f field) bool { return !f.used && f.effect == "" })
		var effects []string // of fields that are not modeled, each once
		names := map[string][]string{}
		for _, f := range t.fields {
			if f.effect != "" {
				effects = schema.AddOnce(effects, f.effect)
				names[f.effect] = append(names[f.effect], f.name)
			}
		}
		if len(effects) > 0 {
			b.WriteString("\n| not modeled | in a simulation |\n|---|---|\n")
		}
		for _, effect := range effects {
			fmt.Fprintf(&b, "| `%s` | %s |\n", strings.Join(names[effect], "`, `"), effect)
		}
	}
	return b.String()
}
