package formats

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
)

// grouped matches numbers whose comma has only one meaning. It is a decimal sign if other than three digits follow
// (90,25), or grouped digits precede it (1.234,5). It groups digits if a decimal point follows (1,234.5).
var grouped = regexp.MustCompile(`^-?(\d+,(\d{1,2}|\d{4,})|\d{1,3}(\.\d{3})+,\d+|\d{1,3}(,\d{3})+\.\d+)$`)

// pointed returns a number that grouped matches with a decimal point. Other texts are returned unchanged.
func pointed(text string) string {
	comma := strings.LastIndexByte(text, ',')
	if comma < 0 || !grouped.MatchString(text) {
		return text
	}
	if strings.LastIndexByte(text, '.') > comma {
		return strings.ReplaceAll(text, ",", "")
	}
	return strings.ReplaceAll(text[:comma], ".", "") + "." + text[comma+1:]
}

// thousands matches whole numbers with grouped digits.
var thousands = regexp.MustCompile(`^\d{1,3}([, '\x{a0}\x{202f}]\d{3})+$`)

// count parses a number of things: 16, 1,024, or 150% for one and a half.
func count(text string) (float64, error) {
	if thousands.MatchString(text) {
		text = strings.Map(func(r rune) rune {
			if r < '0' || r > '9' {
				return -1
			}
			return r
		}, text)
	}
	part, percent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
	if percent {
		x /= 100
	}
	return x, err
}

// trackable has the names of facts in Slurm's lists of trackable resources ("cpu=4,mem=16G,node=1").
var trackable = map[string]string{FactThreads: "cpu", FactMemory: "mem", FactNodes: "node"}

// listed returns the value of a name in such a list.
func listed(list, name string) (value string, ok bool) {
	for item := range strings.SplitSeq(list, ",") {
		if key, value, _ := strings.Cut(item, "="); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}

// used matches lists of the GPUs that a job used: 0,1,2 or [0, 1] or 0-3 or GPU-1f2a,GPU-77b0.
var used = regexp.MustCompile(`^(\d{1,4}(-\d{1,4})?|(GPU|MIG)-[\w/-]+)([,; ]+(\d{1,4}(-\d{1,4})?|(GPU|MIG)-[\w/-]+))*$`)

// decimalComma matches texts that are lists of GPUs if a comma separates fields, but may also be decimal numbers.
var decimalComma = regexp.MustCompile(`^\d+,\d+$`)

// distinct returns the number of GPUs in such a list; ok is false for another text.
func distinct(text string) (n int, ok bool) {
	text = strings.TrimSpace(strings.Trim(text, "[](){}"))
	if !used.MatchString(text) {
		return 0, false
	}
	seen := map[string]bool{}
	for item := range strings.FieldsFuncSeq(text, func(r rune) bool { return strings.ContainsRune(",; ", r) }) {
		first, last, _ := strings.Cut(item, "-")
		from, err := strconv.Atoi(first)
		if err != nil {
			seen[item] = true
			continue
		}
		to := from
		if last != "" {
			to, _ = strconv.Atoi(last)
		}
		for i := from; i <= to; i++ {
			seen[strconv.Itoa(i)] = true
		}
	}
	return len(seen), len(seen) > 0
}

// indices matches the list of devices, or sockets, behind a number of GPUs: "gpu:a100:2(IDX:0,3)", "gpu:4(S:0-1)".
var indices = regexp.MustCompile(`\([^()]*\)`)

// resourceGPUs returns the number of GPUs in Slurm's list of trackable resources. In the form "gres:gpu:2", the
// number is for each of the job's nodes.
func resourceGPUs(list string, nodes int) (int, error) {
	typed, all := 0, -1
	list = indices.ReplaceAllString(list, "")
	for item := range strings.SplitSeq(list, ",") {
		name, value, ok := strings.Cut(item, "=")
		each := 1
		if !ok { // gres:gpu[:type]:2
			at := strings.LastIndexByte(item, ':')
			if at < 0 {
				continue
			}
			name, value, each = item[:at], item[at+1:], max(nodes, 1)
		}
		name = strings.TrimPrefix(strings.TrimPrefix(name, "gres/"), "gres:")
		if name == "gpus" || name == "ngpus" { // PBS and other systems write it so
			name = "gpu"
		}
		if name != "gpu" && !strings.HasPrefix(name, "gpu:") {
			continue
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 || n*each > workload.MaxThreads {
			return 0, fmt.Errorf("%q in %q is not a number of GPUs", value, list)
		}
		if name == "gpu" {
			all = n * each
		} else {
			typed += n * each
		}
	}
	return max(all, typed), nil
}

// step reads a row of sacct about a step of a job. It adds the step's memory to the job in the rows before.
func (t *table) step(name string, fields []string) error {
	used, err := t.used(fields)
	of, _, _ := strings.Cut(name, ".")
	if n := len(t.Jobs); n > 0 && t.Jobs[n-1].Name == of && err == nil { // otherwise the job was skipped
		t.UsedMemory(t.Jobs[n-1].Memory, used)
	}
	return err
}

// used returns the used memory of a row in bytes: the memory of the largest task × the number of tasks; 0 if
// unknown.
func (t *table) used(fields []string) (int64, error) {
	text, ok := t.text(fields, FactUsed)
	if !ok {
		return 0, nil
	}
	bytes, _, err := logs.ParseMemory(text, t.args.MemoryUnit)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", t.named[FactUsed], err)
	}
	if t.tasksI < 0 {
		return bytes, nil
	}
	if n, err := strconv.ParseInt(strings.TrimSpace(fields[t.tasksI]), 10, 64); err == nil && n > 0 {
		bytes *= min(n, (1<<62)/max(bytes, 1))
	}
	return bytes, nil
}
