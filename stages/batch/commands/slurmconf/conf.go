// Package slurmconf writes the twin of a cluster: an experiment that works by the rules of a Slurm controller, from its
// configuration (slurm.conf), its accounting (sacct) and its accounts (sacctmgr). The rules themselves are in
// package scheduler/batch, which any experiment can use.
package slurmconf

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/batch"

	"github.com/tfexp/tfexp/results/folder"
)

// Problem describes a problem in a line of a file, with advice.
type Problem struct {
	File string
	Line int
	Text string
}

func (p *Problem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

// setting is a name with a value and its position.
type setting struct {
	name, value string
	file        string
	line        int
}

// line is a line of a configuration: settings of one thing.
type line []setting

// get returns the value of a name, whatever its case; empty for none.
func (l line) get(name string) string {
	for _, s := range l {
		if strings.EqualFold(s.name, name) {
			return s.value
		}
	}
	return ""
}

// Conf is a slurm.conf, with the files that it includes.
type Conf struct {
	path                     string
	settings                 line
	nodes, partitions        []line
	nodeSets                 []line
	nodeDefault, partDefault line
	// Problems are mistakes; the configuration is not used when there are any.
	Problems []error
	// Unmodeled are the settings that the twin does not model, with their possible effects.
	Unmodeled []string
	said      map[string]bool
	repeats   map[string]*repeat
	reading   []string // files: each is included by the one before
}

// ReadConf reads a slurm.conf.
func ReadConf(path string) (*Conf, error) {
	c := &Conf{path: path, said: map[string]bool{}, repeats: map[string]*repeat{}}
	if err := c.read(path); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Conf) problem(s setting, format string, args ...any) {
	c.Problems = append(c.Problems, &Problem{s.file, s.line, fmt.Sprintf(format, args...)})
}

func (c *Conf) read(path string) error {
	text, first := "", 0
	c.reading = append(c.reading, path)
	defer func() { c.reading = c.reading[:len(c.reading)-1] }()
	return eachLine(path, func(n int, one string) {
		if i := comment(one); i >= 0 {
			one = one[:i]
		}
		if first == 0 {
			first = n
		}
		if whole, more := strings.CutSuffix(strings.TrimRight(one, " \t\r"), `\`); more {
			text += whole
			return
		}
		text += one
		here := setting{file: path, line: first}
		words := fields(text)
		text, first = "", 0
		if len(words) == 0 {
			return
		}
		if strings.EqualFold(words[0], "include") && len(words) == 2 {
			other := words[1]
			if !filepath.IsAbs(other) {
				other = filepath.Join(filepath.Dir(path), other)
			}
			if slices.Contains(c.reading, other) {
				c.problem(here, "the file %s is included while it is read: remove the line", other)
			} else if err := c.read(other); err != nil {
				c.problem(here, "the included file cannot be read (%v): copy it as well, or remove the line", err)
			}
			return
		}
		c.add(here, words)
	})
}

// eachLine calls a function for each line of a file, with its number.
func eachLine(path string, do func(n int, text string)) error {
	f, err := folder.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewScanner(workload.Unmarked(f))
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		if strings.ContainsRune(in.Text(), 0) {
			return &Problem{path, n, "this is no text file: save it as UTF-8"}
		}
		do(n, in.Text())
	}
	if in.Err() != nil {
		return fmt.Errorf("read %s: %w", path, in.Err())
	}
	return nil
}

// fields are the words of a line. A word may have quotes around spaces, which are removed.
func fields(text string) []string {
	quoted := false
	words := strings.FieldsFunc(text, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return !quoted && unicode.IsSpace(r)
	})
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], `"`, "")
	}
	return words
}

// comment returns where a comment begins; -1 for none. An escaped # begins none.
func comment(text string) int {
	for i := range len(text) {
		if text[i] == '#' && (i == 0 || text[i-1] != '\\') {
			return i
		}
	}
	return -1
}

// shorten cuts a text that is too long for a message.
func shorten(word string) string {
	if len(word) > 60 {
		return word[:57] + "..."
	}
	return word
}

// add takes a line.
func (c *Conf) add(here setting, words []string) {
	var l line
	for _, w := range words {
		name, value, ok := strings.Cut(w, "=")
		if strings.HasPrefix(w, "JobID|") || strings.HasPrefix(w, "Cluster|") || strings.HasPrefix(w, "Name|") {
			c.problem(here, "this is a table of sacct or sacctmgr: name slurm.conf first, then the tables")
			return
		}
		if !ok {
			c.problem(here, "%q is not NAME=VALUE", shorten(w))
			continue
		}
		l = append(l, setting{name, value, here.file, here.line})
	}
	if len(l) == 0 {
		return
	}
	with := func(defaults line) line { return append(l, defaults...) }
	switch strings.ToLower(l[0].name) {
	case "nodename":
		if strings.EqualFold(l[0].value, "DEFAULT") {
			c.nodeDefault = append(l[1:], c.nodeDefault...)
			return
		}
		for _, s := range l[1:] {
			if !slices.ContainsFunc(nodeParameters, func(name string) bool { return strings.EqualFold(name, s.name) }) {
				c.problem(s, "a node has no parameter %s.%s", s.name, near(s.name, nodeParameters))
			}
		}
		c.nodes = append(c.nodes, with(c.nodeDefault))
	case "partitionname":
		if strings.EqualFold(l[0].value, "DEFAULT") {
			c.partDefault = append(l[1:], c.partDefault...)
			return
		}
		for _, p := range c.partitions {
			if p[0].value == l[0].value {
				c.problem(l[0], "the partition %q stands in line %d as well: which of both counts? Remove one", l[0].value, p[0].line)
			}
		}
		c.partitions = append(c.partitions, with(c.partDefault))
	case "nodeset":
		c.nodeSets = append(c.nodeSets, l)
	case "downnodes":
		c.unmodeled(l[0], fmt.Sprintf("DownNodes=%s: these nodes are taken to be up, except at the times of "+
			"sacctmgr show event", l[0].value))
	case "frontendname":
		c.unmodeled(l[0], fmt.Sprintf("FrontendName=%s: jobs start without a front end", l[0].value))
	default:
		for _, s := range l {
			earlier := c.find(s.name)
			if earlier != nil && earlier.value != s.value && !strings.EqualFold(s.name, "SlurmctldHost") {
				c.problem(s, "%s is %s here and %s in line %d: remove one", s.name, s.value, earlier.value, earlier.line)
			}
			c.settings = append(c.settings, s)
		}
	}
}

func (c *Conf) find(name string) *setting {
	for i := range c.settings {
		if strings.EqualFold(c.settings[i].name, name) {
			return &c.settings[i]
		}
	}
	return nil
}

// get returns a setting of the controller, or its default.
func (c *Conf) get(name, standard string) string {
	if s := c.find(name); s != nil {
		return s.value
	}
	return standard
}

// unmodeled notes a setting that the twin does not model, once.
func (c *Conf) unmodeled(s setting, text string) {
	if key := strings.ToLower(s.name) + text; !c.said[key] {
		c.said[key] = true
		c.Unmodeled = append(c.Unmodeled, fmt.Sprintf("%s:%d: %s", filepath.Base(s.file), s.line, text))
	}
}

// repeat is a setting that many users, accounts or classes have: where it is listed first, and how many others have it.
type repeat struct {
	at, others int
	text       string
}

// unmodeledOf notes a setting of a user, an account or a class: the first of a name in full, and how many others follow.
func (c *Conf) unmodeledOf(s setting, name, value string, owner *block, effect string) {
	key := name + " " + owner.Kind + effect
	r := c.repeats[key]
	if r == nil {
		c.repeats[key] = &repeat{at: len(c.Unmodeled),
			text: fmt.Sprintf("%s:%d: %s=%s of %s %s", filepath.Base(s.file), s.line, name, value, owner.Kind, owner.Label)}
		c.Unmodeled = append(c.Unmodeled, c.repeats[key].text+": "+effect)
		return
	}
	r.others++
	c.Unmodeled[r.at] = fmt.Sprintf("%s, and %d more like it: %s", r.text, r.others, effect)
}

// whole reads a number of a line.
func (c *Conf) whole(l line, name string, standard int) int {
	text := l.get(name)
	if text == "" || strings.EqualFold(text, "UNLIMITED") || strings.EqualFold(text, "INFINITE") {
		return standard
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		i := slices.IndexFunc(l, func(s setting) bool { return strings.EqualFold(s.name, name) })
		c.problem(l[i], "%s=%s is no whole number", name, text)
		return standard
	}
	return n
}

// span reads a time: minutes, minutes:seconds, hours:minutes:seconds, days-hours and so on; 0 for no limit.
func span(text string) (time.Duration, error) {
	if text == "" || strings.EqualFold(text, "UNLIMITED") || strings.EqualFold(text, "INFINITE") || text == "-1" {
		return 0, nil
	}
	days, rest, dashed := strings.Cut(text, "-")
	if !dashed {
		days, rest = "0", text
	}
	d, err := strconv.Atoi(days)
	if err != nil {
		return 0, fmt.Errorf("%q is no time such as 1-12:00:00", text)
	}
	total := time.Duration(d) * 24 * time.Hour
	parts := strings.Split(rest, ":")
	units := []time.Duration{time.Hour, time.Minute, time.Second}
	if !dashed && len(parts) < 3 {
		units = units[1:]
	}
	if len(parts) > len(units) {
		return 0, fmt.Errorf("%q is no time such as 1-12:00:00", text)
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%q is no time such as 1-12:00:00", text)
		}
		total += time.Duration(n) * units[i]
	}
	return total, nil
}

// time reads a time of a line.
func (c *Conf) time(l line, name string) time.Duration {
	d, err := span(l.get(name))
	if err != nil {
		i := slices.IndexFunc(l, func(s setting) bool { return strings.EqualFold(s.name, name) })
		c.problem(l[i], "%s: %v", name, err)
	}
	return d
}

// hosts expands the names of nodes of a line.
func (c *Conf) hosts(s setting, text string) []string {
	list, err := batch.Hosts(text)
	if err != nil {
		c.problem(s, "%v", err)
	}
	return list
}
