package schema

import "testing"

func TestSentences(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{Plural(0, "job"), "0 jobs"}, {Plural(1, "job"), "1 job"}, {Plural(2, "job"), "2 jobs"},
		{OneOf(nil), ""}, {OneOf([]string{"a"}), `"a"`}, {OneOf([]string{"a", "b"}), `"a" or "b"`},
		{OneOf([]string{"a", "b", "c"}), `"a", "b" or "c"`}, {AllOf([]string{"a", "b", "c"}), `"a", "b" and "c"`},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
	for text, want := range map[string]bool{"": true, "größe 2": true, "a\nb": false, "\x1b[2J": false, "\xff": false} {
		if got := Printable(text); got != want {
			t.Errorf("%q is printable: %t", text, got)
		}
	}
}
