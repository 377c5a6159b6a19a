package decode_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/pipeline/decode"
)

// Large files, and files with many mistakes, are read or refused in time linear in their size. With quadratic time or
// with recursion, each of these files took minutes, gigabytes or the whole stack.
func TestLargeSources(t *testing.T) {
	const n = 3000
	lines := func(format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\n", i)
		}
		return b.String()
	}
	loop := "[for a in [" + strings.Repeat("1,", 30_000) + "]: [for b in [" + strings.Repeat("1,", 30_000) + "]: a + b]]"
	for _, c := range []struct {
		name, source string
		vars         []string
		want         string // the summary of the first error
		near         string // the suggestion
	}{
		{name: "references to nothing", source: "locals {\n" + lines("  given%[1]d = local.givem%[1]d") + "}\n",
			want: "Unknown reference", near: "local.given0"},
		{name: "indexes to nothing", source: "locals {\n" + lines(`  given%[1]d = local["giveM%[1]d"]`) + "}\n",
			want: "Unknown reference", near: "local.given0"},
		{name: "jobs that are not there", source: lines("job \"some%d\" {\n command = [\"true\"]\n epochs = 1\n}") +
			"workload \"w\" {\n" + lines(" submit { job = job.sone%d }") + "}\n", want: "Unknown reference", near: "job.some0"},
		{name: "a long cycle", source: "locals {\n" + lines("  l%d = local.k%[1]d") + lines("  k%d = local.l%[1]d") + "}\n", want: "Cycle"},
		{name: "keys twice", source: "locals {\n  a = {" + strings.ReplaceAll(lines("k%[1]d = 1, k%[1]d = 2,"), "\n", " ") + "}\n}\n",
			want: "Duplicate key"},
		{name: "a loop from outside", source: "variable \"v\" { default = [] }\n", vars: []string{"v=" + loop}, want: "Value too large"},
		{name: "brackets from outside", source: "variable \"v\" { default = [] }\n", vars: []string{"v=" + strings.Repeat("[", 60_000)},
			want: "Too large to read"},
		{name: "a number", source: "locals {\n  a = tostring(1e99999999)\n}\n", want: "Too large to read"},
		{name: "a number that is made", source: "locals {\n" + lines("  a%d = 0") + "  b = 1e900 * 1e900\n}\n", want: "Value too large"},
		{name: "a padded text", source: "locals {\n  a = format(\"%9999999s%9999999s\", \"a\", \"a\")\n}\n", want: "Error in function call"},
		{name: "a long list", source: "locals {\n  a = [" + strings.Repeat("1,", 2_000_000) + "1]\n}\n", want: "Too large to read"},
		{name: "as a comment", source: "#" + strings.Repeat("-", 160_000) + "\n", want: "Too large to read"},
		{name: "large values", source: "locals {\n" + lines("  a%d = [for i in range(1000) : [for j in range(200) : j]]") + "}\n",
			want: "Value too large"},
		{name: "large texts", source: "locals {\n  a = \"" + strings.Repeat("x", 70_000) + "\"\n" + lines("  a%d = \"${local.a}\"") + "}\n",
			want: "Value too large"},
		{name: "a divided text", source: "locals {\n  a = split(\",\", \"" + strings.Repeat("1,", 260_000) + "\")\n}\n", want: "Too large to read"},
		{name: "a divided long text", source: "locals {\n  a = \"" + strings.Repeat("1,", 60_000) + "\"\n" +
			"  b = split(\",\", \"" + strings.Repeat("${local.a}", 5) + "\")\n}\n", want: "Error in function call"},
		{name: "a file", source: strings.Repeat("# a comment\n", 400_000), want: "Too large to read"},
	} {
		_, diags := decode.Source("large.hcl", []byte("experiment \"e\" {}\n"+c.source), decode.Options{Vars: c.vars})
		i := 0
		for i < len(diags) && (diags[i].Severity != experiments.SeverityError || diags[i].Summary == "Nothing to run") {
			i++
		}
		if i == len(diags) || diags[i].Summary != c.want || diags[i].Suggestion != c.near {
			t.Errorf("%s: %+v", c.name, diags[:min(i+1, len(diags))])
			continue
		}
		if length := len(diags[i].Detail); length > 1000 {
			t.Errorf("%s: a detail of %d bytes", c.name, length)
		}
	}
}

// Standard input has the same size limit as files.
func TestReadAllOfTooMuch(t *testing.T) {
	src, err := eval.ReadAll("standard input", strings.NewReader(strings.Repeat("x", 4<<20)))
	if err != nil || len(src) != 4<<20 {
		t.Errorf("4 MiB: %d bytes, %v", len(src), err)
	}
	if _, err := eval.ReadAll("standard input", strings.NewReader(strings.Repeat("x", 4<<20+1))); err == nil ||
		err.Error() != "standard input has more than 4 MiB" {
		t.Errorf("one byte more: %v", err)
	}
}
