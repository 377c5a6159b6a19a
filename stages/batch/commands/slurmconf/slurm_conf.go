// Package slurmconf writes the twin of a cluster: an experiment that works by the rules of a Slurm controller, from its
// configuration (slurm.conf), its accounting (sacct) and its accounts (sacctmgr). The rules themselves are in
// package scheduler/batch, which any experiment can use.
package slurmconf

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/stages/batch"
)

// ConfProblem describes a problem in a line of a file, with advice.
type ConfProblem struct {
	File string
	Line int
	Text string
}

func (p *ConfProblem) Error() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

// settingsLine is a line of a configuration: settings of one thing.
type settingsLine []setting

// get returns the value of a name, whatever its case; empty for none.
func (l settingsLine) get(name string) string {
	for _, s := range l {
		if strings.EqualFold(s.name, name) {
			return s.value
		}
	}
	return ""
}

// at returns the setting of a name, which the line must have.
func (l settingsLine) at(name string) setting {
	return l[slices.IndexFunc(l, func(s setting) bool { return strings.EqualFold(s.name, name) })]
}

// SlurmConf is a slurm.conf, with the files that it includes.
type SlurmConf struct {
	path                     string
	settings                 settingsLine
	nodes, partitions        []settingsLine
	partitionAt              map[string]int // index in partitions, by name
	nodeSets, downNodes      []settingsLine
	gres                     []gresLine // of gres.conf
	nodeDefault, partDefault settingsLine
	// Problems are mistakes; the configuration is not used when there are any.
	Problems []error
	// Unmodeled are the settings that the twin does not model, with their possible effects.
	Unmodeled []string
	foreign   bool // whether the file is no slurm.conf, or full of mistakes: the rest of it is not read
	said      map[string]bool
	repeats   map[string]*repeat
	reading   []string // files: each is included by the one before
}

// ReadSlurmConf reads a slurm.conf.
func ReadSlurmConf(path string) (*SlurmConf, error) {
	c := &SlurmConf{path: path, partitionAt: map[string]int{}, said: map[string]bool{}, repeats: map[string]*repeat{}}
	if err := c.read(path, c.add); err != nil {
		return nil, err
	}
	return c, nil
}

// mostProblems is the number of mistakes after which the rest of a file is not read. A large file that is no slurm.conf
// has a mistake in each line, and all of them would need several times its size in memory.
const mostProblems = 1000

func (c *SlurmConf) problem(s setting, format string, args ...any) {
	c.Problems = append(c.Problems, &ConfProblem{s.file, s.line, fmt.Sprintf(format, args...)})
	c.foreign = c.foreign || len(c.Problems) >= mostProblems
}

// add parses a line of slurm.conf, and stores its settings.
func (c *SlurmConf) add(at setting, text string) {
	if strings.HasPrefix(text, "Configuration data as of ") {
		c.problem(at, "this is the output of  scontrol show config, which has no nodes: give the file slurm.conf")
		c.foreign = true
	}
	if c.foreign {
		return
	}
	for _, head := range []string{"JobID|", "Cluster|", "Name|"} {
		if strings.HasPrefix(text, head) {
			c.problem(at, "this is a table of sacct or sacctmgr")
			return
		}
	}
	var l settingsLine
	c.assignments(at, text, func(s setting, operator string) {
		if kind := strings.ToLower(s.name); len(l) == 0 && scopes[kind] == nil && elsewhere[kind] == "" {
			c.set(s, operator)
			return
		}
		l = c.put(l, s, operator)
	})
	if len(l) == 0 {
		return
	}
	kind, name := strings.ToLower(l[0].name), l[0].value
	if file := elsewhere[kind]; file != "" {
		c.problem(at, "this line is of %s: remove it", file)
		return
	}
	standard := strings.EqualFold(name, "DEFAULT")
	what := map[string]string{"nodename": "a node", "partitionname": "a partition", "nodeset": "a node set",
		"downnodes": "a line of DownNodes", "frontendname": "a front end", "poweraction": "a power action"}[kind]
	owner := l[0].name + "=" + name + " "
	if kind == "partitionname" {
		owner = "PartitionName=" + name + " "
	}
	c.judge(scopes[kind], l[1:], what, owner)
	switch kind {
	case "nodename":
		if standard {
			c.nodeDefault = l[1:].over(c.nodeDefault)
			return
		}
		c.nodes = append(c.nodes, l.over(c.nodeDefault))
	case "partitionname":
		if standard {
			c.partDefault = l[1:].over(c.partDefault)
			return
		}
		if i, ok := c.partitionAt[name]; ok {
			c.unmodeled(l[0], fmt.Sprintf("PartitionName=%s replaces line %d, as in Slurm", name, c.partitions[i][0].line))
			c.partitions[i] = l.over(c.partDefault)
			return
		}
		c.partitionAt[name] = len(c.partitions)
		c.partitions = append(c.partitions, l.over(c.partDefault))
	case "nodeset":
		c.nodeSets = append(c.nodeSets, l)
	case "downnodes":
		c.downNodes = append(c.downNodes, l)
	case "frontendname":
		c.unmodeled(l[0], fmt.Sprintf("FrontendName=%s: jobs start without a front end", name))
	}
	if len(c.nodes)+len(c.partitions)+len(c.nodeSets)+len(c.downNodes) > mostLines {
		c.problem(at, "the file has more than %d lines of nodes and partitions, and Slurm has no more nodes", mostLines)
		c.foreign = true
	}
}

// mostLines is the largest number of lines of nodes and partitions.
const mostLines = 1 << 16

// elsewhere are the files of lines that begin with a parameter, where the file is not slurm.conf.
var elsewhere = map[string]string{"switchname": "topology.conf", "blockname": "topology.conf",
	"ringname": "topology.conf", "blocksizes": "topology.conf", "name": "gres.conf", "autodetect": "gres.conf"}

// over returns a line with the settings that it lacks of another.
func (l settingsLine) over(defaults settingsLine) settingsLine {
	all := slices.Clone(l)
	for _, d := range defaults {
		if !slices.ContainsFunc(l, func(s setting) bool { return strings.EqualFold(s.name, d.name) }) {
			all = append(all, d)
		}
	}
	return all
}

// lists are the parameters whose repeated values form a list.
var lists = []string{"SlurmctldHost", "Epilog", "Prolog", "EpilogSlurmctld", "PrologSlurmctld"}

// set takes a parameter of the controller.
func (c *SlurmConf) set(s setting, operator string) {
	if operator == "" && slices.ContainsFunc(lists, func(name string) bool { return strings.EqualFold(name, s.name) }) {
		c.settings = append(c.settings, s)
		return
	}
	c.settings = c.put(c.settings, s, operator)
}

func (c *SlurmConf) find(name string) *setting {
	for i := range c.settings {
		if strings.EqualFold(c.settings[i].name, name) {
			return &c.settings[i]
		}
	}
	return nil
}

// get returns a setting of the controller, or its default.
func (c *SlurmConf) get(name, standard string) string {
	if s := c.find(name); s != nil {
		return s.value
	}
	return standard
}

// unmodeled notes a setting that the twin does not model, once.
func (c *SlurmConf) unmodeled(s setting, text string) {
	if key := strings.ToLower(s.name) + text; !c.said[key] {
		c.said[key] = true
		c.Unmodeled = append(c.Unmodeled, fmt.Sprintf("%s:%d: %s", filepath.Base(s.file), s.line, text))
	}
}

// repeat is a setting that many users, accounts or partitions have: where it is listed first, and how many others have
// it.
type repeat struct {
	at, others int
	text       string
}

// unmodeledOf notes a setting that several users, accounts, partitions or nodes may have: the first of a kind in full,
// and how many others follow.
func (c *SlurmConf) unmodeledOf(s setting, text, kind, effect string) {
	key := kind + effect
	r := c.repeats[key]
	if r == nil {
		r = &repeat{at: len(c.Unmodeled), text: fmt.Sprintf("%s:%d: %s", filepath.Base(s.file), s.line, text)}
		c.repeats[key] = r
		c.Unmodeled = append(c.Unmodeled, r.text+": "+effect)
		return
	}
	r.others++
	c.Unmodeled[r.at] = fmt.Sprintf("%s, and %d more like it: %s", r.text, r.others, effect)
}

// whole reads a number of a line, in the forms that Slurm takes: 16, 0x10, 020 and 16k.
func (c *SlurmConf) whole(l settingsLine, name string, standard int) int {
	text := l.get(name)
	if text == "" || unlimited(text) {
		return standard
	}
	number, factor := text, 1
	if last := len(text) - 1; text[last] == 'k' || text[last] == 'K' {
		number, factor = text[:last], 1024
	}
	n, err := strconv.ParseInt(number, 0, 32)
	if err != nil || n < 0 || strings.Contains(number, "_") {
		c.problem(l.at(name), "%s=%s is no whole number from 0", name, text)
		return standard
	}
	return int(n) * factor
}

// unlimited reports whether a value means that there is no limit.
func unlimited(text string) bool {
	return strings.EqualFold(text, "UNLIMITED") || strings.EqualFold(text, "INFINITE")
}

// yes reads a switch of a line, in the words that Slurm takes.
func (c *SlurmConf) yes(l settingsLine, name string) bool {
	switch text := l.get(name); strings.ToLower(text) {
	case "yes", "up", "true", "1":
		return true
	case "", "no", "down", "false", "0":
	default:
		c.problem(l.at(name), "%s=%s is neither YES nor NO", name, text)
	}
	return false
}

// span reads a time: minutes, minutes:seconds, hours:minutes:seconds, days-hours and so on; 0 for no limit.
func span(text string) (time.Duration, error) {
	if text == "" || unlimited(text) || text == "-1" {
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
func (c *SlurmConf) time(l settingsLine, name string) time.Duration {
	d, err := span(l.get(name))
	if err != nil {
		c.problem(l.at(name), "%s: %v", name, err)
	}
	return d
}

// hosts expands the names of nodes of a line.
func (c *SlurmConf) hosts(s setting, text string) []string {
	list, err := batch.Hosts(strings.Join(words(text), ","))
	if err != nil {
		c.problem(s, "%v", err)
	}
	return list
}
