package datafile

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/stages/language"
)

// For a file that is not text, the error names its kind. It is detected before lines are read.
func TestWhatIsNoText(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte(strings.Repeat("1 2 3\n4 5 6\n", 200)))
	_ = z.Close()
	whole := packed.String()
	const lines = "a,b\n1,2\n"
	for _, x := range []struct{ name, content, want string }{
		{"a.csv", lines, ""},
		{"a.csv", "", ""},
		{"a.csv", "\xef\xbb\xbf" + lines, ""},
		{"a.csv.gz", whole, ""},
		{"a.tar", "PK\x03\x04\x00", ""}, // a reader of archives reports this
		{"a.csv", "PK\x03\x04" + lines, "packed with zip"},
		{"a.csv.gz", "PK\x03\x04" + lines, "its name ends like a gzip file"},
		{"a.csv", "\xfd7zXZ\x00" + lines, "damaged"},
		{"a.csv", "BZh9" + lines, "its compressed data are incomplete"},
		{"a.csv", "\x28\xb5\x2f\xfd" + lines, "damaged"},
		{"a.csv", whole, ""},
		{"a.csv", "\xff\xfea\x00,\x00b\x00", ""},
		{"a.csv", "\xfe\xff\x00a\x00,", ""},
		{"a.csv", "a,b\n1,\x00\n", "byte 7 is a NUL character"},
		{"a.csv.gz", whole[:len(whole)-12], "its compressed data are incomplete"},
		{"a.csv.gz", whole[:11] + "\xff\xff\xff\xff" + whole[15:], "damaged"},
	} {
		path := filepath.Join(t.TempDir(), x.name)
		if err := os.WriteFile(path, []byte(x.content), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := ReadFile(language.Input{Path: path, Shown: x.name}, func(r io.Reader) error {
			all, err := io.ReadAll(r)
			if bytes.IndexByte(all, 0) >= 0 && x.name == "a.csv" && x.want == "" {
				t.Errorf("%s of %q is read as %q", x.name, x.content, all)
			}
			return err
		})
		switch {
		case x.want == "" && err != nil:
			t.Errorf("%s of %q: %v", x.name, x.content[:min(len(x.content), 9)], err)
		case x.want != "" && (err == nil || !strings.Contains(err.Error(), x.want)):
			t.Errorf("%s of %q: %v, not %q", x.name, x.content[:min(len(x.content), 9)], err, x.want)
		}
	}
}
