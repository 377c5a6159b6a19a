package slurmconf

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// day writes an instant as a date.
func day(at time.Duration) string { return time.Unix(0, int64(at)).UTC().Format(time.DateOnly) }

// The name of a job, or its comment, changes no other field, also with line breaks in it.
func TestImitatedFields(t *testing.T) {
	const other = "UserId=root(0) GroupId=root(0) MCS_label=N/A Priority=1 Nice=0 Account=a QOS=q JobState=PENDING"
	lines := strings.NewReplacer(" Priority", "\n   Priority", " JobState", "\n   JobState").Replace(other)
	for _, one := range []struct {
		name, comment string
		told          bool // both forms are understood
	}{
		{"a", "b", true}, {"a b", "", true}, {"x UserId=root(0) GroupId=root(0)", "", true}, {"a", "UserId=root(0) GroupId=root(0) NumCPUs=9", true},
		{"a NumCPUs=9 TimeLimit=x", "", true}, {"a\nNumCPUs=9", "", true}, {"a\n   NumCPUs=9 x", "", true}, {"a\n\nb", "c\n\nd", true},
		{"a", "b\nNumCPUs=9", true}, {"a", "b StdOut=/x TresPerNode=gres:gpu:9", true}, {"JobId=7", "JobId=8 JobName=c", true},
		{"a\n   UserId=root(0) GroupId=root(0)", "", true}, {"a\nUserId=root(0) GroupId=root(0) MCS_label=N/A Priority=1", "", true},
		{other, "", false}, {"a", other, false}, {"a\n   " + lines, "x", false}, {other, other, false}, {"a\n   " + other, "", false},
		{"a\nJobId=7 JobName=b", "", false}, {"a\n\nJobId=7 JobName=b\n   " + lines, "", false}, {"a", "b\n   NumCPUs=9", false},
	} {
		fields := []string{"UserId=ada smith(5) GroupId=domain users(1) MCS_label=N/A", "Priority=7 Nice=-3 Account=lab QOS=normal",
			"JobState=PENDING Reason=Priority Dependency=(null)", "TimeLimit=01:00:00", "SubmitTime=2026-01-01T10:00:00",
			"NumNodes=1 NumCPUs=2", "Command=/bin/true", "Comment=" + one.comment, "StdErr=/e", "StdOut=/o", "TresPerNode=gres:gpu:1"}
		for form, between := range map[string]string{"lines": "\n   ", "one line": " "} {
			end := map[string]string{"lines": "\n\n", "one line": "\n"}[form]
			text := "JobId=1 JobName=" + one.name + between + strings.Join(fields, between) + end
			q, notes, err := ReadQueue(form, strings.NewReader(text+"JobId=2 JobName=b"+between+strings.Join(fields[:6], between)+end))
			if err != nil || len(q.Jobs) == 0 || q.Jobs[len(q.Jobs)-1].Name != "2" {
				t.Errorf("%s, %q, %q: %v", form, one.name, one.comment, err)
				continue
			}
			j := &q.Jobs[0]
			if told := j.Name == "1"; told && (j.User != "ada smith" || j.Threads != 2 || j.GPUs != 1 || len(q.Jobs) != 2) ||
				!told && (one.told || len(q.Jobs) != 1 || !strings.Contains(fmt.Sprint(notes), form+":1: the job 1: its name, a comment or a path has ")) {
				t.Errorf("%s, %q, %q: %v, %d jobs, %d cores, %d GPUs, %q", form, one.name, one.comment, j.User, len(q.Jobs), j.Threads, j.GPUs, notes)
			}
		}
	}
}

// Dates that end with the year are read where one of the queue shows the order of day and month.
func TestOrderOfQueue(t *testing.T) {
	const head = "JOBID|USER|STATE|SUBMIT_TIME|CPUS\n"
	for text, want := range map[string]string{
		"1|ada|PENDING|09/01/26 10:00:00|2\n2|ada|PENDING|09/13/26 10:00:00|2\n":     "1 2026-09-01; 2 2026-09-13",
		"1|ada|PENDING|01/09/2026 10:00:00|2\n2|ada|PENDING|13/09/2026 10:00:00|2\n": "1 2026-09-01; 2 2026-09-13",
		"1|ada|PENDING|09/01/26 10:00:00|2\n": `q:2: SubmitTime: "09/01/26 10:00:00" may begin with the day or with the month: write dates like ` +
			"2017-10-03 05:33:33 (print the queue with SLURM_TIME_FORMAT=standard)",
		"1|ada|PENDING|13/09/26 10:00:00|2\n": `q:2: SubmitTime: "13/09/26 10:00:00" may begin with the day or with the month: write dates like ` +
			"2017-10-03 05:33:33 (print the queue with SLURM_TIME_FORMAT=standard)",
		"1|ada|PENDING|2609011000|2\n": `q:2: "2609011000" may be a date without separators or a number, and so may all other times of ` +
			"the file: print the queue with SLURM_TIME_FORMAT=standard",
		"1|ada|PENDING|10.30|2\n": `q:2: SubmitTime: "10.30" is neither a whole number of seconds nor a date (print the queue with ` +
			"SLURM_TIME_FORMAT=standard)",
		"1|ada|PENDING|1788254400|2\n2|ada|PENDING|1788254480|2\n": "1 2026-09-01; 2 2026-09-01",
	} {
		q, _, err := ReadQueue("q", strings.NewReader(head+text))
		var got []string
		for i := range q.Jobs {
			got = append(got, q.Jobs[i].Name+" "+day(q.Jobs[i].Arrival))
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
