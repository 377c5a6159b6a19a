package clusters

import (
	"encoding/csv"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// FuzzSameTable reads a table twice: as it is, and with its columns in another order, in another encoding, with another
// separator, quotes, spaces and ends of lines. Both have the same jobs.
func FuzzSameTable(f *testing.F) {
	for i, text := range []string{
		"job,submit,start,end,cpus,gpus,limit,mem,queue,user\n1,0,5,65,4,1,60,4G,a,ada\n2,10,15,75,8,0,1:00:00,512M,b,bob\n",
		"job,submit,start,end,cpus\nx,2026-01-01 00:00:00,2026-01-01 00:00:05,2026-01-01 01:00:00,2\ny,13/02/2026 10:00,14/02/2026,15/02/2026,150%\n",
		"submit,run,gpus\n1767225600000,1h30m,\"0,1,2\"\n1767225700000,PT1H,cpu=4;gres/gpu=2\n",
		"submit,run\n20260901100000,5\n20260901101500,6\n", "submit,run,user\n0,5,\"a \"\"b\"\" c\"\n1,Unknown,-\n2,,\n",
	} {
		for n := range uint64(4) {
			f.Add(text, n+uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || len(rows) < 2 || len(rows[0]) < 2 || strings.ContainsAny(text, "\r\x00\ufeff\ufffd;\t|#") || !plain(rows) {
			return
		}
		draws := rand.New(rand.NewPCG(seed, 1))
		first, same := readTable(rows[0], text, ""), ""
		order := draws.Perm(len(rows[0]))
		separator := []string{",", ";", "\t", "|"}[draws.IntN(4)]
		if slices.ContainsFunc(rows, func(row []string) bool { return strings.Contains(strings.Join(row, ""), ",") }) {
			separator = "," // with another separator, a comma may be a decimal comma
		}
		var b strings.Builder
		for _, row := range rows {
			for i, from := range order {
				field := row[from]
				switch quote := draws.IntN(3); {
				case strings.ContainsAny(field, ",\"\n"), quote == 0, field == "" && len(row) == 1:
					field = `"` + strings.ReplaceAll(field, `"`, `""`) + `"`
				case quote == 1:
					field = " " + field + " "
				}
				if i > 0 {
					b.WriteString(separator)
				}
				b.WriteString(field)
			}
			b.WriteString([]string{"\n", "\r\n", "\n\n"}[draws.IntN(3)])
		}
		other := b.String()
		switch draws.IntN(3) {
		case 0:
			other = "\ufeff" + other
		case 1:
			other, err = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(other)
			if err != nil {
				return
			}
		}
		if same = readTable(rows[0], other, separator); same != first {
			t.Errorf("%q is\n%s\nand %q is\n%s", text, first, other, same)
		}
	})
}

// plain reports whether the rows have the same meaning in another order and with spaces: names of columns are different, and no
// field has space at its ends or more than one line.
func plain(rows [][]string) bool {
	for i, row := range rows {
		for k, field := range row {
			if field != strings.TrimSpace(field) || strings.Contains(field, "\n") || strings.HasPrefix(field, `"`) ||
				i == 0 && (field == "" || slices.Contains(row[:k], field)) {
				return false
			}
		}
	}
	return true
}

// readTable returns the jobs of a table whose columns are named as the properties.
func readTable(head []string, text, separator string) string {
	properties := map[string]string{"submit": "arrival", "run": "run_time", "start": "start", "end": "end", "cpus": "threads", "gpus": "gpus",
		"limit": "requested_time", "mem": "memory", "queue": "class", "user": "user", "job": "job", "nodes": "nodes"}
	var columns []schema.Setting
	for _, name := range slices.Sorted(slices.Values(head)) {
		if properties[name] != "" {
			columns = append(columns, schema.Setting{Name: properties[name], Value: name})
		}
	}
	args := map[string]any{"columns": columns}
	if separator != "" {
		args["separator"] = separator
	}
	tr, err := formats.Find("table").Read("f", strings.NewReader(text), formats.Options{Args: args})
	if err != nil {
		return "an error"
	}
	var b strings.Builder
	for i := range tr.Jobs {
		fmt.Fprintf(&b, "%+v", tr.Jobs[i])
		if tr.RunTimes != nil {
			fmt.Fprintf(&b, " %d", tr.RunTimes[i])
		}
		_, _ = io.WriteString(&b, "\n")
	}
	return b.String()
}
