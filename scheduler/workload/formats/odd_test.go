package formats

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/tfexp/tfexp/scheduler/workload"
)

// utf16Of writes a text as spreadsheets do that save "Unicode text".
func utf16Of(text string, order binary.AppendByteOrder) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// Logs as people have them: each is read with a mapping, and a row that is none is counted with its reason.
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
			`5: Submitted: "3/1/2024 1:00 PM" may begin with the day or the month: write dates like 2017-10-03 05:33:33`},
		{"percent and thousands", "Submitted;Took;CPUs\n1;1.234,5;600%\n2;1;1'024\n3;1;150 %\n4;1,234;1\n",
			map[string]any{"separator": ";"},
			[]string{"job-1 job at 1s for 20m34.5s, asked 0s, 6 threads", "job-2 job at 2s for 1s, asked 0s, 1024 threads",
				"job-3 job at 3s for 1s, asked 0s, 2 threads"}, `5: Took: "1,234" is not a time`},
		{"ends", "Submitted,Took,CPUs,,\n1,2,3,,\n2,2,3\n3,2,3,,,,\n4,2\n5,2,3,4\nSubmitted,Took,CPUs,,\nTotal: 6 jobs\n", nil,
			[]string{"job-1 job at 1s for 2s, asked 0s, 3 threads", "job-2 job at 2s for 2s, asked 0s, 3 threads",
				"job-3 job at 3s for 2s, asked 0s, 3 threads"},
			`5: the number of its fields is 2 instead of 3; 6: the number of its fields is 4 instead of 3; ` +
				`7: Submitted: "Submitted" is neither a number nor a date like 2017-10-03 05:33:33; ` +
				`8: the number of its fields is 1 instead of 3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := map[string]any{"columns": columnsOf("arrival", "Submitted", "run_time", "Took", "threads", "CPUs")}
			if strings.Contains(c.name, "UTF-16") && c.args != nil {
				args["columns"] = append(args["columns"].([]workload.Column), columnsOf("user", "Wer")...)
			}
			for name, v := range c.args {
				args[name] = v
			}
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
