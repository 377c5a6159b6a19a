package clusters

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// Amounts of sacct may be in lists of resources, with binary units, or unknown; jobs without cores never started.
func TestAmountsOfSacct(t *testing.T) {
	const times = "JobID|Submit|Start|End"
	const row = "1|2026-01-01T00:00:00|2026-01-01T00:01:00|2026-01-01T00:02:00"
	for _, c := range []struct{ columns, fields, want string }{
		{"ReqTRES", "cpu=2,gres/gpu=1,mem=4G,node=1", "2 1 4096 []"},
		{"ReqTRES", "1=2,2=4096,4=1", "2 0 4096 []"},
		{"AllocTRES|ReqTRES", "cpu=4,mem=8G|cpu=2,mem=4G", "4 0 8192 []"},
		{"AllocCPUS|NNodes|ReqMem", "1K|1K|4000Mn", "1024 0 4096000 []"},
		{"AllocCPUS|ReqMem", "2|?", "2 0 0 []"},
		{"AllocCPUS|ReqTRES", "2|cpu=2,gres/shard=4", "2 0 0 [jobs that ask for parts of GPUs, as shard or mps (1), get no GPU]"},
		{"AllocCPUS|ReqMem", "many|4G", "error"},
	} {
		trace, err := formats.Find("sacct").Read("x", strings.NewReader(times+"|"+c.columns+"\n"+row+"|"+c.fields+"\n"), formats.Options{})
		got := "error"
		if err == nil && len(trace.Jobs) == 1 {
			j := &trace.Jobs[0]
			got = fmt.Sprint(j.Threads, " ", j.GPUs, " ", j.Memory>>20, " ", trace.Assumed)
		}
		if got != c.want {
			t.Errorf("%s %s: %s, want %s (%v)", c.columns, c.fields, got, c.want, err)
		}
	}
	trace, err := formats.Find("sacct").Read("x", strings.NewReader(times+"|AllocCPUS|State\n"+row+"|2|COMPLETED\n"+
		"2|2026-01-01T00:00:00|2026-01-01T00:02:00|2026-01-01T00:02:00|0|CANCELLED by 5\n"), formats.Options{})
	if said := strings.Join(trace.Assumed, "\n"); err != nil || len(trace.Jobs) != 1 || !strings.Contains(said, "jobs that never started (1)") {
		t.Errorf("%d jobs, %q, %v", len(trace.Jobs), said, err)
	}
}
