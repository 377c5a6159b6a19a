package editor

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/experiments"
)

// TestPositions: editors count UTF-16 code units. A character of two units counts as two positions.
func TestPositions(t *testing.T) {
	const text = "ab\n\u00e9\U0001f600c\n\nlast"
	l := newLines(text)
	for _, c := range []struct {
		at   int // byte
		want position
	}{
		{0, position{0, 0}}, {2, position{0, 2}}, {3, position{1, 0}}, {5, position{1, 1}}, {9, position{1, 3}},
		{10, position{1, 4}}, {11, position{2, 0}}, {12, position{3, 0}}, {16, position{3, 4}},
	} {
		if got := l.position(c.at); got != c.want {
			t.Errorf("byte %d is at %+v, want %+v", c.at, got, c.want)
		}
		if got := l.offset(c.want); got != c.at {
			t.Errorf("%+v is byte %d, want %d", c.want, got, c.at)
		}
	}
	// A position outside the text is moved to the nearest byte: the end of a line, or the beginning or end of the text.
	for at, want := range map[position]int{{0, 99}: 2, {3, 99}: 16, {-1, 5}: 0, {4, 0}: 16, {1, -1}: 3, {1, 2}: 9} {
		if got := l.offset(at); got != want {
			t.Errorf("%+v is byte %d, want %d", at, got, want)
		}
	}
}

// TestPublished: a diagnostic about this file is at its own position. A diagnostic about another file names that file,
// and is on the first line, like a diagnostic without a file.
func TestPublished(t *testing.T) {
	here := filepath.FromSlash("/x/a.hcl")
	at := func(file string, from, to int) experiments.Range {
		return experiments.Range{File: file, Start: experiments.Pos{Byte: from}, End: experiments.Pos{Byte: to}}
	}
	found := experiments.Diagnostics{
		{Severity: experiments.SeverityError, Summary: "Wrong", Detail: "It is.", Range: at(here, 3, 5)},
		{Severity: experiments.SeverityWarning, Summary: "Doubtful", Range: at(here, 4, 999), Suggestion: "right"},
		{Severity: experiments.SeverityError, Summary: "Elsewhere", Detail: "There.", Range: at("b.csv", 1, 2)},
		{Severity: experiments.SeverityError, Summary: "Nowhere"},
	}
	raw, err := json.MarshalIndent(published("file:///x/a.hcl", 7, "ab\ncdef", found), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		URI         string
		Version     int
		Diagnostics []struct {
			Range    span
			Severity int
			Message  string
		}
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	want := got
	want.URI, want.Version = "file:///x/a.hcl", 7
	want.Diagnostics = append(want.Diagnostics[:0:0], want.Diagnostics...)
	if len(want.Diagnostics) != len(found) {
		t.Fatalf("published are\n%s", raw)
	}
	for i, d := range []struct {
		span     span
		severity int
		message  string
	}{
		{span{position{1, 0}, position{1, 2}}, 1, "Wrong: It is."},
		{span{position{1, 1}, position{1, 4}}, 2, "Doubtful\nDid you mean right?"},
		{span{}, 1, "b.csv: Elsewhere: There."},
		{span{}, 1, "Nowhere"},
	} {
		want.Diagnostics[i].Range, want.Diagnostics[i].Severity, want.Diagnostics[i].Message = d.span, d.severity, d.message
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A completion with a tab stop is a snippet; a completion without is plain text.
func TestCompletions(t *testing.T) {
	raw, err := json.Marshal(completions([]Completion{
		{Label: "job", Insert: "job \"$0\" {}", Kind: Block},
		{Label: "seed", Insert: "seed = ", Kind: Argument},
	}, newLines("")))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Items []struct{ Kind, InsertTextFormat int }
	}
	if err := json.Unmarshal(raw, &got); err != nil || len(got.Items) != 2 {
		t.Fatalf("%s, %v", raw, err)
	}
	a, b := got.Items[0], got.Items[1]
	if a.InsertTextFormat != 2 || a.Kind != 7 || b.InsertTextFormat != 1 || b.Kind != 10 {
		t.Errorf("%+v", got.Items)
	}
}

func TestPathsOfURIs(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///x/a%20b.hcl": "/x/a b.hcl", "untitled:Untitled-1": "untitled:Untitled-1",
		"vscode-remote://host/x/a.hcl": "a.hcl",
	} {
		if got := filepath.ToSlash(pathOf(uri)); got != want {
			t.Errorf("%s is %s, want %s", uri, got, want)
		}
	}
}
