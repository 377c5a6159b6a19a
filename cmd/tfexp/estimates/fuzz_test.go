package estimates

import (
	"bytes"
	"testing"
)

// Any content of a training log or a table of timings is read or refused.
func FuzzLogs(f *testing.F) {
	for _, text := range []string{"step,time,loss\n1,0.5,2.1\n2,1.0,1.9\n", "threads,seconds\n1,10\n2,6\n",
		`{"tfexp":{"epoch":1,"loss":0.5,"seconds":1.5}}` + "\n", "epoch,seconds\n1,1e308\n2,1e308\n", "step,time\n1,2026-01-01T00:00:00Z\n",
		"\xef\xbb\xbfstep,time\r\n9223372036854775807,-1\r\n", ""} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, lenient := range []bool{false, true} {
			_, _, _ = ReadLog(bytes.NewReader(raw), "x", lenient)
		}
		_, _ = ReadTimings(bytes.NewReader(raw), "x")
	})
}
