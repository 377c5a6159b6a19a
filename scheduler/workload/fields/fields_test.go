package fields

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// docs/fields.md is generated from the list of fields.
func TestPage(t *testing.T) {
	path := filepath.Join("..", "..", "..", "docs", "fields.md")
	if os.Getenv("TFEXP_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(Page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if Page() != string(want) {
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
