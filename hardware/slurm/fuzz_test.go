//go:build unix

package slurm

import (
	"testing"
	"time"
)

// Whatever Slurm's commands print, lists are bounded, and ranges are read as they are written.
func FuzzAnswers(f *testing.F) {
	for _, text := range []string{"12|RUNNING|1:00:00|1700000000|n[1-3,07],login|None\n", "n[0-99999999]", "n[0-9][0-99999][0-99999]",
		"0-2,5", "PartitionName=main Default=YES MaxTime=UNLIMITED TotalNodes=3\n", "7|PENDING|INVALID|NONE||Priority", "n[", "n]1[",
		"1|R|9223372036-0:0:0|9223372036854775807|x|y", "n[9223372036854775807-9223372036854775807]"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		hosts, err := ExpandHosts(text)
		if err == nil && len(hosts) > mostListed {
			t.Errorf("%d hosts", len(hosts))
		}
		numbers, err := ExpandNumbers(text)
		if err == nil && len(numbers) > mostListed {
			t.Errorf("%d numbers", len(numbers))
		}
		_, _ = readStates(text, time.Unix(1700000000, 0))
		ParseFields(text)
		ParseTime(text)
		if n, err := jobNumber(text); err == nil && (n == "" || n[0] == '-') {
			t.Errorf("the number %q", n)
		}
	})
}
