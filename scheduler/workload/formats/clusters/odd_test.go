package clusters

import (
	"encoding/binary"
	"maps"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/tfexp/tfexp/experiments/schema"
)

// utf16Of writes a text as spreadsheets do that save "Unicode text".
func utf16Of(text string, order binary.AppendByteOrder) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// Logs from practice: each is read with a mapping, and an invalid row is counted with its reason.
func TestOddLogs(t *testing.T) {
	for _, c := range []struct {
		name, text string
		args       map[string]any
		want       []string
		skipped    string // the reasons, each with its line
	}{
		{"titles", "Jobs of the cluster, March\nexported by \"ann\" on Monday\n\nSubmitted,Took,CPUs\n5,10,2\n7,3,1\n", nil,
			[]string{"job-1 job at 5s for 10s, asked 0s, 2 threads", "job-2 job at 7s for 3s, asked 0s, 1 thread"}, ""},
		{"tabs, Windows, a mark", "\ufeffSubmitted\tTook\tCPUs\tNote\r\n5\t10\t2\t\"a\r\nb\"\r\n6\t1:30\t1\t\r\n",
			map[string]any{"separator": "\t"},
			[]string{"job-1 job at 5s for 10s, asked 0s, 2 threads", "job-2 job at 6s for 1m30s, asked 0s, 1 thread"}, ""},
		{"UTF-16", utf16Of("Submitted;Took;CPUs;Wer\r\n1;10;2;Jürgen 😀\r\n2;20;4;x\r\n", binary.LittleEndian),
			map[string]any{"separator": ";"},
			[]string{"job-1 job at 1s for 10s, asked 0s, 2 threads, of Jürgen 😀",
				"job-2 job at 2s for 20s, asked 0s, 4 threads, of x"}, ""},
		{"the other UTF-16", utf16Of("Submitted,Took,CPUs\n1,10,2\n", binary.BigEndian), nil,
			[]string{"job-1 job at 1s for 10s, asked 0s, 2 threads"}, ""},
		{"days", "Submitted,Took,CPUs\n2024-02-28T23:00:00,1-02:03:04,1\n2024-03-01T00:00:00,12:00,1\n", nil,
			[]string{"job-1 job at 0s for 26h3m4s, asked 0s, 1 thread", "job-2 job at 25h0m0s for 12m0s, asked 0s, 1 thread"}, ""},
		{"milliseconds since 1970", "Submitted,Took,CPUs\n1709251200000,1500,1\n1709251200250.5,20,1\n",
			map[string]any{"unit": time.Millisecond},
			[]string{"job-1 job at 0s for 1.5s, asked 0s, 1 thread", "job-2 job at 250.5ms for 20ms, asked 0s, 1 thread"}, ""},
		{"zones", "Submitted,Took,CPUs\n2024-03-31T01:59:59+01:00,1,1\n2024-03-31T03:00:00.250+0200,1,1\n2024-03-31T01:00:01Z,1,1\n" +
			"2024-03-31 01:00:02 CEST,1,1\n", nil,
			[]string{"job-1 job at 0s for 1s, asked 0s, 1 thread", "job-2 job at 1.25s for 1s, asked 0s, 1 thread",
				"job-3 job at 2s for 1s, asked 0s, 1 thread"},
			`5: Submitted: the zone of "2024-03-31 01:00:02 CEST" is not known: write it as an offset, like +01:00`},
		{"twelve hours", "Submitted,Took,CPUs\n2024-03-01 11:59:59 AM,1,1\n2024-03-01 12:00 pm,1,1\n2024/03/01 1:00:01 PM,1,1\n" +
			"3/1/2024 1:00 PM,1,1\n", nil,
			[]string{"job-1 job at 0s for 1s, asked 0s, 1 thread", "job-2 job at 1s for 1s, asked 0s, 1 thread",
				"job-3 job at 1h0m2s for 1s, asked 0s, 1 thread"},
			`5: Submitted: "3/1/2024 1:00 PM" may begin with the day or the month: say which with dates = "day_first" or "month_first"`},
		{"a day above 12", "Submitted,Took,CPUs\n03/04/2024 10:00,1,1\n03/13/2024 9:59:59 PM,2,1\nx,3,1\n13/03/2024,4,1\n3/5/2024,5,1\n", nil,
			[]string{"job-1 job at 0s for 1s, asked 0s, 1 thread", "job-2 job at 227h59m59s for 2s, asked 0s, 1 thread",
				"job-5 job at 14h0m0s for 5s, asked 0s, 1 thread"},
			`4: Submitted: "x" is neither a number nor a date like 2017-10-03 05:33:33; ` +
				`5: Submitted: "13/03/2024" does not begin with what other dates begin with`},
		{"no day above 12", "Submitted,Took,CPUs\n03-04-2024,1,1\nx,1,1\n04/04/2024 10:00,1,1\n", nil, nil,
			`2: Submitted: "03-04-2024" may begin with the day or the month: say which with dates = "day_first" or "month_first"; ` +
				`3: Submitted: "x" is neither a number nor a date like 2017-10-03 05:33:33; ` +
				`4: Submitted: "04/04/2024 10:00" may begin with the day or the month: say which with dates = "day_first" or "month_first"`},
		{"the day first", "Submitted,Took,CPUs\n03/04/2024,1,1\n04/04/2024 00:00:01,1,1\n04/13/2024,1,1\n", map[string]any{"dates": "day_first"},
			[]string{"job-1 job at 0s for 1s, asked 0s, 1 thread", "job-2 job at 24h0m1s for 1s, asked 0s, 1 thread"},
			`4: Submitted: "04/13/2024" does not begin with what other dates begin with`},
		{"the month first", "Submitted,Took,CPUs\n03/31/2024,1,1\n04/01/2024 00:00:01,1,1\n", map[string]any{"dates": "month_first"},
			[]string{"job-1 job at 0s for 1s, asked 0s, 1 thread", "job-2 job at 24h0m1s for 1s, asked 0s, 1 thread"}, ""},
		{"names of months", "Submitted,Took,CPUs\n12 Mar 2024 10:03,1,1\nMar 12 10:03:01 2024,2,1\nTue Mar 12 10:03:02 UTC 2024,3,1\n" +
			"\"Tue, 12 Mar 2024 11:03:03 +0100\",4,1\n\"March 12th, 2024 10:03:04 AM\",5,1\n12/Mar/2024:10:03:05 +0000,6,1\n" +
			"12-mar-2024 10:03:06.5,7,1\n12. Mär 2024 10:03,8,1\nMar 12 10:03:01,9,1\n12 Mar 2024 25:03,10,1\n", nil,
			[]string{"job-1 job at 0s for 1s, asked 0s, 1 thread", "job-2 job at 1s for 2s, asked 0s, 1 thread",
				"job-3 job at 2s for 3s, asked 0s, 1 thread", "job-4 job at 3s for 4s, asked 0s, 1 thread",
				"job-5 job at 4s for 5s, asked 0s, 1 thread", "job-6 job at 5s for 6s, asked 0s, 1 thread",
				"job-7 job at 6.5s for 7s, asked 0s, 1 thread"},
			`9: Submitted: "12. Mär 2024 10:03" is neither a number nor a date like 2017-10-03 05:33:33; ` +
				`10: Submitted: "Mar 12 10:03:01" is neither a number nor a date like 2017-10-03 05:33:33; ` +
				`11: Submitted: "12 Mar 2024 25:03" is neither a number nor a date like 2017-10-03 05:33:33`},
		{"other forms of dates", "Submitted,Took,CPUs\n2024-3-1 7:03,1,1\n20240301T070301Z,2,1\n\"2024-03-01 07:03:02,250\",3,1\n2024.03.01 07:03:03,4,1\n", nil,
			[]string{"job-1 job at 0s for 1s, asked 0s, 1 thread", "job-2 job at 1s for 2s, asked 0s, 1 thread",
				"job-3 job at 2.25s for 3s, asked 0s, 1 thread", "job-4 job at 3s for 4s, asked 0s, 1 thread"}, ""},
		{"GPUs by number", "Submitted,Took,CPUs,GPUs\n1,1,1,\"0,1,2\"\n2,1,1,\"[0, 3]\"\n3,1,1,0-3\n4,1,1,GPU-1a;GPU-2b;GPU-1a\n5,1,1,2\n" +
			"6,1,1,\"4,5\"\n7,1,1,3-1\n8,1,1,\"0,x\"\n9,1,1,ngpus=2\n", nil,
			[]string{"job-1 job at 1s for 1s, asked 0s, 1 thread, 3 GPUs", "job-2 job at 2s for 1s, asked 0s, 1 thread, 2 GPUs",
				"job-3 job at 3s for 1s, asked 0s, 1 thread, 4 GPUs", "job-4 job at 4s for 1s, asked 0s, 1 thread, 2 GPUs",
				"job-5 job at 5s for 1s, asked 0s, 1 thread, 2 GPUs", "job-6 job at 6s for 1s, asked 0s, 1 thread, 2 GPUs",
				"job-9 job at 9s for 1s, asked 0s, 1 thread, 2 GPUs"},
			`8: GPUs "3-1" is not a number; 9: GPUs "0,x" is not a number`},
		{"percent and thousands", "Submitted;Took;CPUs\n1;1.234,5;600%\n2;1;1'024\n3;1;150 %\n4;1,234;1\n",
			map[string]any{"separator": ";"},
			[]string{"job-1 job at 1s for 20m34.5s, asked 0s, 6 threads", "job-2 job at 2s for 1s, asked 0s, 1024 threads",
				"job-3 job at 3s for 1s, asked 0s, 2 threads"}, `5: Took: "1,234" is not a time`},
		{"ends", "Submitted,Took,CPUs,,\n1,2,3,,\n2,2,3\n3,2,3,,,,\n4,2\n5,2,3,4\nSubmitted,Took,CPUs,,\nTotal: 6 jobs\n", nil,
			[]string{"job-1 job at 1s for 2s, asked 0s, 3 threads", "job-2 job at 2s for 2s, asked 0s, 3 threads",
				"job-3 job at 3s for 2s, asked 0s, 3 threads"},
			`5: the row has 2 fields instead of 3; 6: the row has 4 fields instead of 3; ` +
				`7: Submitted: "Submitted" is neither a number nor a date like 2017-10-03 05:33:33; ` +
				`8: the row has 1 fields instead of 3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := map[string]any{"columns": columnsOf("arrival", "Submitted", "run_time", "Took", "threads", "CPUs")}
			if strings.Contains(c.name, "UTF-16") && c.args != nil {
				args["columns"] = append(args["columns"].([]schema.Setting), columnsOf("user", "Wer")...)
			}
			if strings.Contains(c.name, "GPUs") {
				args["columns"] = append(args["columns"].([]schema.Setting), columnsOf("gpus", "GPUs")...)
			}
			maps.Copy(args, c.args)
			got, trace := readJobs(t, "table", c.text, args)
			check(t, got, c.want...)
			var reasons []string
			for _, err := range trace.Skipped {
				reasons = append(reasons, strings.TrimPrefix(err.Error(), "log:"))
			}
			if got := strings.Join(reasons, "; "); got != c.skipped {
				t.Errorf("skipped\n%s\nwant\n%s", got, c.skipped)
			}
		})
	}
}
