package slurmconf

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The fields after the name of a job, by the layout of the output: one line for each group, or all fields in one line.
// userName, userLines and userWords are for old versions and for texts that are cut off.
var (
	identityLines = regexp.MustCompile(`(?m)^[ \t]*UserId=[^=\n]*\(\d+\) GroupId=[^=\n]*\(\d+\)(?: MCS_label=\S*)?[ \t]*\n` +
		`[ \t]*Priority=\d+ Nice=-?\d+ Account=\S* QOS=\S*(?: WCKey=\S*)?[ \t]*\n[ \t]*JobState=`)
	identityWords = regexp.MustCompile(`[ \n]UserId=[^=\n]*\(\d+\) GroupId=[^=\n]*\(\d+\)(?: MCS_label=\S*)? ` +
		`Priority=\d+ Nice=-?\d+ Account=\S* QOS=\S*(?: WCKey=\S*)? JobState=`)
	userName  = regexp.MustCompile(`^\s*UserId=([^=\n]*\(\d+\)) GroupId=`)
	userLines = regexp.MustCompile(`(?m)^[ \t]*UserId=\S`)
	userWords = regexp.MustCompile(`[ \n]UserId=[^=\n]*\(\d+\) GroupId=[^=\n]*\(\d+\)`)
)

// repeated are fields that scontrol prints for each node of a job.
var repeated = []string{"Nodes", "CPU_IDs", "Mem", "GRES", "GRES_IDX"}

// complete reports whether the lines read so far contain a whole job, and not only a part of its name.
func complete(lines []string) bool {
	text := strings.Join(lines, "\n")
	_, name, named := strings.Cut(text, " JobName=")
	return !named || strings.Contains(name, "JobState=") && strings.Contains(name, "SubmitTime=") &&
		(userLines.MatchString(name) || userWords.MatchString(name))
}

// imitated returns the error for a job whose free text may contain other fields.
func imitated(job, field string) error {
	return fmt.Errorf("the job %s: its name, a comment or a path has %s=, so its fields cannot be told apart: print "+
		"the queue with  squeue -a -r -o %q", job, field, QueueFields)
}

// record reads the lines of scontrol about one job into fields. The name of a job can have line breaks and words like
// NAME=VALUE. The fields after the name begin with UserId, which occurs once.
func record(lines []string, into map[string]string) error {
	before, _, named := strings.Cut(lines[0], " JobName=")
	if !named {
		return readFields(lines, into)
	}
	fieldsOf(before, into)
	if slices.ContainsFunc(lines[1:], func(l string) bool { return strings.HasPrefix(l, "JobId=") }) {
		return imitated(into["JobId"], "JobId")
	}
	text := strings.Join(lines, "\n")
	own, words := identityLines.FindAllStringIndex(text, -1), identityWords.FindAllStringIndex(text, -1)
	if len(own) == 1 { // a match within free text after these fields does not count
		words = slices.DeleteFunc(words, func(at []int) bool {
			line := text[strings.LastIndexByte(text[:at[0]+1], '\n')+1:]
			name, _, _ := strings.Cut(strings.TrimSpace(line), "=")
			return at[0] > own[0][0] && slices.Contains(freeFields, name)
		})
	}
	all := append(own, words...)
	if len(all) == 0 {
		if all = userLines.FindAllStringIndex(text, -1); len(all) == 0 {
			all = userWords.FindAllStringIndex(text, -1)
		}
	}
	switch len(all) {
	case 0:
		return readFields(lines, into)
	case 1:
	default:
		return imitated(into["JobId"], "UserId")
	}
	at := all[0][0]
	into["JobName"] = strings.TrimSpace(strings.TrimPrefix(text[len(before):at], " JobName="))
	if user := userName.FindStringSubmatch(text[at:]); user != nil { // the name of a user can have spaces
		into["UserId"] = user[1]
	}
	if len(words) == 1 || at > 0 && text[at-1] != '\n' { // all fields are in one line
		return readWords(strings.ReplaceAll(text[at:], "\n", " "), into)
	}
	return readFields(strings.Split(text[at:], "\n"), into)
}

// readFields reads fields from lines. A line that is not indented like the first one belongs to the free text before
// it.
func readFields(lines []string, into map[string]string) error {
	indented := strings.HasPrefix(lines[0], " ")
	for _, l := range lines {
		if indented && !strings.HasPrefix(l, " ") {
			continue
		}
		one := map[string]string{}
		fieldsOf(l, one)
		for _, name := range slices.Sorted(maps.Keys(one)) {
			value := one[name]
			switch other, there := into[name]; {
			case !there:
				into[name] = value
			case other != value && !slices.Contains(repeated, name) && !strings.HasPrefix(other, value+" "):
				return imitated(into["JobId"], name)
			}
		}
	}
	return nil
}

// readWords reads fields from one line. Reading ends at the first free text. Only resources of the job are read after
// the last path.
func readWords(text string, into map[string]string) error {
	fieldsOf(text, into)
	_, last, _ := strings.Cut(text[max(strings.LastIndex(text, " StdOut="), 0):], " StdOut=")
	for word := range strings.FieldsSeq(last) {
		name, value, _ := strings.Cut(word, "=")
		if !strings.HasPrefix(name, "TresPer") && name != "MemPerTres" {
			continue
		}
		if _, there := into[name]; there {
			return imitated(into["JobId"], name)
		}
		into[name] = value
	}
	return nil
}
