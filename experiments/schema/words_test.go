package schema

import (
	"strings"
	"testing"
)

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
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "abc", 3}, {"mlp", "mlp", 0}, {"mpl", "mlp", 1}, {"rudn", "round", 2},
		{"kitten", "sitting", 3}, {"ab", "ba", 1}, {"ca", "abc", 3}, {"größe", "grösße", 1},
	} {
		if got, back := distance(c.a, c.b), distance(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%q and %q: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
	for given, want := range map[string]string{
		"mpl": "mlp", "rudn_robin": "round_robin", "fsfc": "fcfs", "sfj": "sjf", "xyz": "", "ffi": "",
		"": "", "mlp": "", "nlp": "mlp", "MPL": "mlp", "c": "",
		"kroun": "", "rouxx": "round", "Rouxx": "round", "krounx": "round", "xround_robixx": "round_robin",
		"xxound_robixx": "", "rr": "round_robin", "RR": "round_robin", "r": "", "xfcfs": "fcfs", "xfcf": "",
	} {
		if got := Nearest(given, []string{"", "mlp", "cnn", "fcfs", "round", "sjf", "round_robin"}); got != want {
			t.Errorf("nearest to %q is %q, want %q", given, got, want)
		}
	}
	if got := Nearest("cat", []string{"bat", "rat", "car"}); got != "bat" {
		t.Errorf("of names that are equally near, %q comes first", got)
	}
	longest := strings.Repeat("l", longestName)
	if got := Nearest(longest, []string{longest + "x"}); got != longest+"x" {
		t.Errorf("a name of %d letters has no slip: %q", longestName, got)
	}
	if got := Nearest(longest+"l", []string{longest}); got != "" {
		t.Errorf("a text of %d letters is a slip of %q", longestName+1, got)
	}
	long := strings.Repeat("long", 100)
	if got := Nearest(long+"x", []string{long}); got != "" {
		t.Errorf("a text of 401 letters is a slip of %q", got)
	}
}

func TestFirstSentence(t *testing.T) {
	for doc, want := range map[string]string{
		"Total work, in epochs. At least 1.": "Total work, in epochs.",
		"Total work.":                        "Total work.",
		"Who is next:\n- `fcfs`: by arrival": "Who is next.",
		"At least 1.5 s.\n\nMore":            "At least 1.5 s.",
		"physical cores":                     "physical cores.",
	} {
		if got := FirstSentence(doc); got != want {
			t.Errorf("%q: %q, want %q", doc, got, want)
		}
	}
}
