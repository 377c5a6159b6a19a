package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
)

// The control file of a job has its budget. Its attempts end when the budget is used up.
func TestBudget(t *testing.T) {
	whole := 10 * time.Second
	path := filepath.Join(t.TempDir(), "control")
	for _, c := range []struct {
		job       Job
		n, before int
		used      time.Duration
		want      string
	}{
		{Job{Threads: 2}, 2, 1, 0, "1 2\n"},
		{Job{Threads: 1, Budget: &whole}, 1, 0, 0, `{"inter":1,"intra":1,"allotment":1,"budget":10,"time_left":10}` + "\n"},
		{Job{Threads: 1, Budget: &whole}, 2, 1, 2500 * time.Millisecond,
			`{"inter":1,"intra":2,"allotment":2,"change":"up","budget":10,"time_left":7.5}` + "\n"},
		{Job{Threads: 2, Budget: &whole}, 1, 2, 12 * time.Second,
			`{"inter":1,"intra":1,"allotment":1,"change":"down","budget":10,"time_left":0}` + "\n"},
		{Job{Threads: 2, GPUs: 3, Budget: &whole}, 2, 1, 0, `{"inter":1,"intra":2,"allotment":3,"budget":10,"time_left":10}` + "\n"},
		{Job{Threads: 2, Budget: &whole}, 2, 2, 0, `{"inter":1,"intra":2,"allotment":2,"budget":10,"time_left":10}` + "\n"},
	} {
		c.job.ControlPath = path
		at := time.Now().Add(-time.Second)
		text, err := c.job.Content(c.n, c.before, c.used, contract.Message{})
		if err == nil {
			err = c.job.ReplaceControl(text, at)
		}
		if err != nil {
			t.Fatal(err)
		}
		if st, err := os.Stat(path); err != nil || !st.ModTime().Equal(at) {
			t.Errorf("the file is not of the instant at which its content held, %v: %v, %v", at, st, err)
		}
		if got, err := os.ReadFile(path); string(got) != c.want {
			t.Errorf("%d cores after %d, %s used: %q (%v), want %q", c.n, c.before, c.used, got, err, c.want)
		}
	}
	for _, c := range []struct {
		limit  time.Duration
		budget *time.Duration
		before time.Duration
		want   time.Duration
		why    string
	}{
		{0, nil, time.Hour, 0, ""}, {time.Minute, nil, 0, time.Minute, "time limit of 1m0s"},
		{0, &whole, 0, 21 * time.Second, "after its budget of 10s"}, {15 * time.Second, &whole, 0, 15 * time.Second, "time limit"},
		{0, &whole, 8 * time.Second, 13 * time.Second, "still running 11s after its budget"},
		{0, &whole, time.Minute, 11 * time.Second, "budget"}, {21 * time.Second, &whole, 0, 21 * time.Second, "time limit of 21s"},
	} {
		j := Job{Limit: c.limit, Budget: c.budget}
		if got, why := j.Alarm(c.before); got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("limit %s after %s: ended at %s by %q, want %s by %q", c.limit, c.before, got, why, c.want, c.why)
		}
	}
}
