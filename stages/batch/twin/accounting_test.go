package twin

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/stages/batch"
)

const columns = "JobID|User|Partition|Submit|Start|End|TimelimitRaw|ReqCPUS|AllocCPUS|NNodes|ReqTRES|AllocTRES|State\n"

// rowOf returns a row of sacct with some of its fields changed: "State=FAILED;AllocCPUS=1K".
func rowOf(id int, changes string) string {
	fields := strings.Split(fmt.Sprintf("%d|ada|main|2026-01-01T00:00:00|2026-01-01T00:01:00|2026-01-01T00:02:00|10|2|2|1|cpu=2||COMPLETED", id), "|")
	for change := range strings.SplitSeq(changes, ";") {
		name, value, _ := strings.Cut(change, "=")
		for i, column := range strings.Split(strings.TrimSpace(columns), "|") {
			if column == name {
				fields[i] = value
			}
		}
	}
	return strings.Join(fields, "|") + "\n"
}

// Jobs that never started, or have not ended, are left out and counted; parts of heterogeneous jobs and of GPUs are noted.
func TestJobsLeftOut(t *testing.T) {
	for changes, want := range map[string]string{
		"":                        "2 []",
		"State=CANCELLED by 1001": "2 []",
		"State=RESIZING":          "2 []",
		"State=OUT_OF_ME+":        "error", // cut off
		"State=PENDING;Start=Unknown;End=Unknown;AllocCPUS=0":           "1 [jobs that never started (1) are left out]",
		"State=CANCELLED by 0;Start=None":                               "1 [jobs that never started (1) are left out]",
		"State=CANCELLED by 1001;Start=2026-01-01T00:02:00;AllocCPUS=0": "1 [jobs that never started (1) are left out]",
		"State=COMPLETED;Start=2026-01-01T00:02:00":                     "2 []",
		"State=RUNNING;End=Unknown":                                     "1 [jobs that have not ended (1) are left out, and use no nodes]",
		"State=SUSPENDED;End=Unknown":                                   "1 [jobs that have not ended (1) are left out, and use no nodes]",
		"State=DONE":                                                    "error",
		"JobID=12+1":                                                    "2 [parts of heterogeneous jobs (1) start independently]",
		"ReqTRES=cpu=2,gres/mps=50":                                     "2 [jobs that ask for parts of GPUs, as shard or mps (1), get no GPU]",
	} {
		trace, err := readAccounting("x", strings.NewReader(columns+rowOf(1, "")+rowOf(2, changes)), formats.Options{})
		got := fmt.Sprint(len(trace.Jobs), " ", trace.Assumed)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %s, want %s (%v)", changes, got, want, err)
		}
	}
}

// Numbers may have binary units, and more memory may be allocated than requested.
func TestAmounts(t *testing.T) {
	for changes, want := range map[string]string{
		"": "2 0 10m0s", "ReqCPUS=1K;AllocCPUS=1K;NNodes=2K": "1024 0 10m0s", "AllocCPUS=1.50K": "1536 0 10m0s", "AllocCPUS=many": "error", "AllocCPUS=1e3": "error",
		"TimelimitRaw=UNLIMITED": fmt.Sprint("2 0 ", batch.NoLimit), "TimelimitRaw=Partition_Limit": "2 0 5m0s",
		"ReqTRES=cpu=2,mem=4G": "2 4096 10m0s", "AllocTRES=cpu=2,mem=6G": "2 6144 10m0s", "ReqTRES=cpu=2,mem=4G;AllocTRES=cpu=2,mem=8G": "2 8192 10m0s",
	} {
		limits := formats.Options{Args: map[string]any{"default_limit": []schema.Setting{{Name: "main", Value: "5m"}}}}
		trace, err := readAccounting("x", strings.NewReader(columns+rowOf(1, changes)), limits)
		got := "error"
		if err == nil {
			j := &trace.Jobs[0]
			got = fmt.Sprint(j.Threads, " ", j.Memory>>20, " ", j.Submission().Limit)
		}
		if got != want {
			t.Errorf("%s: %s, want %s (%v)", changes, got, want, err)
		}
	}
}
