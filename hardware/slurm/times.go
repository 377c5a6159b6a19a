package slurm

import (
	"fmt"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler/workload/logs"
)

// Unlimited is the time left of a job that has no time limit.
const Unlimited = time.Duration(1<<63 - 1)

// ParseTime reads a duration as Slurm writes it: "59", "4:57", "1:02:03", "1-02:03:04" or "UNLIMITED". ok is false for
// any other text.
func ParseTime(text string) (d time.Duration, ok bool) {
	text = strings.TrimSpace(text)
	switch strings.ToUpper(text) {
	case "UNLIMITED", "NOT_SET", "INFINITE":
		return Unlimited, true
	}
	d, err := logs.ParseSpan(text, time.Second)
	return d, err == nil
}

// FormatTimeLimit formats a duration as a time limit of Slurm, in minutes, rounded up.
func FormatTimeLimit(d time.Duration) string {
	minutes := max(1, int((d+time.Minute-1)/time.Minute))
	return fmt.Sprintf("%d-%02d:%02d:00", minutes/1440, minutes/60%24, minutes%60)
}
