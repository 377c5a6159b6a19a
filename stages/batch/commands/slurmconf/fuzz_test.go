package slurmconf

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// plainLine matches a line of a configuration without quotes, comments and the like.
var plainLine = regexp.MustCompile(`^[A-Za-z]+=[^\s"\\#=]+( [A-Za-z]+=[^\s"\\#=]+)*$`)

// rewritten writes a configuration in another way that means the same.
func rewritten(text string, draws *rand.Rand) string {
	lines := strings.Split(text, "\n")
	swap := func(line string) bool { // a parameter of the controller that no other line has
		name, _, _ := strings.Cut(line, "=")
		others := 0
		for _, l := range lines {
			if other, _, _ := strings.Cut(strings.TrimSpace(l), "="); strings.EqualFold(strings.TrimRight(other, " +-*/"), name) {
				others++
			}
		}
		return plainLine.MatchString(line) && !strings.Contains(line, " ") && scopes[strings.ToLower(name)] == nil && others == 1 &&
			!strings.EqualFold(name, "ClusterName")
	}
	var able []int
	for i, line := range lines {
		if swap(line) {
			able = append(able, i)
		}
	}
	for i := range able {
		k := draws.IntN(i + 1)
		lines[able[i]], lines[able[k]] = lines[able[k]], lines[able[i]]
	}
	for i, line := range lines {
		if !plainLine.MatchString(line) {
			continue
		}
		var b strings.Builder
		for n, word := range strings.Fields(line) {
			name, value, _ := strings.Cut(word, "=")
			switch {
			case n > 0 && draws.IntN(4) == 0:
				b.WriteString(" \\\n  ")
			case n > 0:
				b.WriteString(strings.Repeat(" ", 1+draws.IntN(2)))
			}
			switch draws.IntN(3) {
			case 0:
				name = strings.ToUpper(name)
			case 1:
				name = strings.ToLower(name)
			}
			if draws.IntN(3) == 0 {
				value = `"` + value + `"`
			}
			b.WriteString(name + []string{"=", " =", "= ", "\t=\t"}[draws.IntN(4)] + value)
		}
		lines[i] = b.String() + []string{"", " ", "  # more = 1", "\r"}[draws.IntN(4)]
	}
	return strings.Join(lines, []string{"\n", "\n\n", "\n# a comment\n"}[draws.IntN(3)])
}

// A configuration means the same, however it is written.
func FuzzSlurmConf(f *testing.F) {
	for i, text := range []string{strings.ReplaceAll(conf, ",\\\n", ","), devices, plainConf + "NodeName=a[1-4] CPUs=4 State=DOWN\nDownNodes=a1\nPartitionName=main Nodes=ALL\n",
		"ClusterName=x\nSelectType=select/cons_tres\nNodeName=DEFAULT CPUs=4 Gres=gpu:a100:2\nNodeName=n[1-3]\nNodeName=m1 Feature=ib,big Weight=3\n" +
			"NodeSet=s Feature=ib\nPartitionName=DEFAULT MaxTime=1:00\nPartitionName=p Nodes=s Default=YES\nPartitionName=q Nodes=ALL MaxTime=INFINITE\n" +
			"SchedulerParameters+=bf_window=60\nSchedulerParameters+=bf_interval=5\nPriorityType=priority/multifactor\nPriorityMaxAge=1-0\n"} {
		for n := range uint64(4) {
			f.Add(text, n+uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if strings.Contains(strings.ToLower(text), "include") || strings.Contains(text, `\`) || len(text) > 4000 {
			return
		}
		first, ok := readFuzzed(t, text)
		other := rewritten(text, rand.New(rand.NewPCG(seed, 1)))
		if second, same := readFuzzed(t, other); second != first || same != ok {
			t.Errorf("%q is\n%s\nand %q is\n%s", text, first, other, second)
		}
	})
}

// readFuzzed returns the experiment of a configuration without notes, and whether there is one.
func readFuzzed(t *testing.T, text string) (string, bool) {
	path := filepath.Join(t.TempDir(), "slurm.conf")
	if err := folder.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	tw, err := ReadTwin(path, nil)
	if err != nil {
		return "", false
	}
	tw.Unmodeled = nil
	source, err := tw.Experiment("x", filepath.Dir(path))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return string(source), true
}

// columnsMoved writes a table with its columns in another order, and with an end of line of another system. ok is false
// where a row has another number of fields than the first, or two columns have one name.
func columnsMoved(text string, draws *rand.Rand) (_ string, ok bool) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" }) // no rows
	if len(lines) == 0 {
		return "", false
	}
	names := strings.Split(lines[0], "|")
	order := draws.Perm(len(names))
	if strings.ContainsAny(text, "\r\x00\ufeff") || len(names) < 2 || strings.TrimSpace(names[len(names)-1]) == "" {
		return "", false
	}
	for i, name := range names {
		if name == "" || name != strings.TrimSpace(name) || slices.Contains(names[i+1:], name) {
			return "", false
		}
	}
	for i, line := range lines {
		fields := strings.Split(line, "|")
		if len(fields) != len(names) || strings.TrimSpace(fields[0]) != fields[0] || strings.TrimSpace(line) != line {
			return "", false
		}
		moved := make([]string, len(fields))
		for k, from := range order {
			moved[k] = fields[from]
		}
		if lines[i] = strings.Join(moved, "|"); strings.TrimSpace(lines[i]) != lines[i] {
			return "", false
		}
	}
	return strings.Join(lines, []string{"\n", "\r\n", "|\n", "\n\n"}[draws.IntN(4)]) + "\n", true
}

// A log of sacct means the same, in whatever order its columns are.
func FuzzAccounting(f *testing.F) {
	for i, text := range []string{jobs, "JobID|User|Submit|Start|End|AllocCPUS|ReqTRES|ElapsedRaw|Cluster\n" +
		"1|ada|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:00|4|cpu=4,mem=8G,gres/gpu:a100=2|50|c\n" +
		"1|ada|2026-01-01T00:00:00|2026-01-01T00:02:10|2026-01-01T00:03:00|4|cpu=4,mem=8G|50|c\n1.batch|ada|2026-01-01T00:00:00|||4|||c\n"} {
		for n := range uint64(4) {
			f.Add(text, n+uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		other, ok := columnsMoved(text, rand.New(rand.NewPCG(seed, 1)))
		if !ok {
			return
		}
		read := func(text string) string {
			tr, err := formats.Find("accounting").Read("f", strings.NewReader(text), formats.Options{})
			if err != nil {
				return "an error"
			}
			var b strings.Builder
			for i := range tr.Jobs {
				j := &tr.Jobs[i]
				j.Name, _, _ = strings.Cut(j.Name, "-before-") // a line
				fmt.Fprintf(&b, "%+v %+v %d %d\n", own(*j), *j.Submission(), tr.Waits[i], tr.RunTimes[i])
			}
			return b.String()
		}
		if a, b := read(text), read(other); a != b {
			t.Errorf("%q is\n%s\nand %q is\n%s", text, a, other, b)
		}
	})
}

// own is a job without the values that it shares with others.
func own(j scheduler.Job) scheduler.Job {
	j.Special = nil
	return j
}

// A queue means the same, in whatever order squeue has its columns, and scontrol its fields, on one line or on several.
func FuzzQueue(f *testing.F) {
	for i, text := range []string{shown, listed,
		"JobId=5 ArrayJobId=5 ArrayTaskId=1-9:4%2\n   UserId=a(1)\n   JobState=PENDING Reason=Priority Dependency=afterok:3(unfulfilled)\n" +
			"   SubmitTime=2026-01-01T00:00:00\n   NumCPUs=2 TRES=cpu=2,mem=4G,gres/gpu:a100=1\n\n"} {
		for n := range uint64(4) {
			f.Add(text, n+uint64(i))
		}
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		draws := rand.New(rand.NewPCG(seed, 1))
		other, ok := columnsMoved(text, draws)
		if other = strings.ReplaceAll(other, "|\n", "\n"); !ok || !strings.HasPrefix(other, "JOBID|") {
			if other, ok = fieldsMoved(text, draws); !ok {
				return
			}
		}
		read := func(text string) string {
			q, _, err := ReadQueue("q", strings.NewReader(text))
			if err != nil {
				return "an error"
			}
			var b strings.Builder
			for i := range q.Jobs {
				fmt.Fprintf(&b, "%+v %+v %d\n", own(q.Jobs[i].Job), *q.Jobs[i].Submission(), q.Jobs[i].Start)
			}
			return fmt.Sprint(b.String(), q.At, q.Without, q.Limits, q.Unmet)
		}
		if a, b := read(text), read(other); a != b {
			t.Errorf("%q is\n%s\nand %q is\n%s", text, a, other, b)
		}
	})
}

// plainFields matches the fields of scontrol, none of them free text, behind the number of the job.
var plainFields = regexp.MustCompile(`^JobId=\S+( [A-Z][A-Za-z]+=\S+)*$`)

// fieldsMoved writes the jobs of scontrol with their fields in another order, on one line or on several.
func fieldsMoved(text string, draws *rand.Rand) (string, bool) {
	var b strings.Builder
	for record := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		fields := strings.Fields(record)
		if !plainFields.MatchString(strings.Join(fields, " ")) || strings.Count(record, "JobId=") != 1+strings.Count(record, "ArrayJobId=") {
			return "", false
		}
		seen := map[string]bool{}
		for _, one := range fields {
			name, _, _ := strings.Cut(one, "=")
			if seen[name] || slices.Contains(freeFields, name) {
				return "", false
			}
			seen[name] = true
		}
		rest := fields[1:]
		draws.Shuffle(len(rest), func(i, k int) { rest[i], rest[k] = rest[k], rest[i] })
		b.WriteString(fields[0])
		for _, one := range rest {
			b.WriteString([]string{" ", "  ", "\n   "}[draws.IntN(3)] + one)
		}
		b.WriteString("\n\n")
	}
	return b.String(), true
}
