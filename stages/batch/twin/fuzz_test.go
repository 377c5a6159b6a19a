package twin

import (
	"bytes"
	"testing"

	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// Whatever sacct has printed, it is read or refused, and no job arrives or ends before the first.
func FuzzAccounting(f *testing.F) {
	for _, text := range []string{"JobID|Submit|Start|End|State|AllocCPUS|Timelimit\n1|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:10|COMPLETED|2|00:10:00\n",
		"JobID|Submit|Start|End|State\n1_[1-3]|Unknown|None|2026-01-01T00:00:00|PENDING\n", "JobID|Cluster|Submit\n1|a|0\n1|b|0\n", "|||\n", "",
		`{"jobs": [{"job_id": 1, "user": "a", "partition": "p", "state": {"current": "FAILED"}, "required": {"CPUs": 2, "memory_per_cpu": {"set": true, "number": 3}}, "tres": {},` +
			`"time": {"submission": 1, "start": 5, "end": 9, "elapsed": 4, "limit": {"infinite": true}}}], "errors": []}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, lenient := range []bool{false, true} {
			trace, err := readAccounting("x", bytes.NewReader(raw), formats.Options{Lenient: lenient})
			if err != nil {
				continue
			}
			for i := range trace.Jobs {
				if trace.Jobs[i].Arrival < 0 {
					t.Errorf("a job arrives at %v", trace.Jobs[i].Arrival)
				}
			}
		}
	})
}
