package slurmconf

import (
	_ "embed"
	"fmt"
	"path/filepath"
	"strings"
)

//go:embed parameters.txt
var parameterList string

// scope has the parameters of one file, or of one kind of line.
type scope struct {
	effects map[string]string // what a parameter that is not modeled would change, by name in lower case; empty for other parameters
	idle    map[string]bool   // parameters that do not change when jobs start
	names   []string
}

// scopes has the parameters of Slurm, by the name of a file, or by the first parameter of a line.
var scopes = func() map[string]*scope {
	all := map[string]*scope{}
	var s *scope
	for l := range strings.Lines(parameterList) {
		l = strings.TrimSpace(l)
		kind, rest, _ := strings.Cut(l, " ")
		switch {
		case strings.HasPrefix(l, "["):
			s = &scope{effects: map[string]string{}, idle: map[string]bool{}}
			all[strings.ToLower(strings.Trim(l, "[]"))] = s
		case kind == "other":
			name, effect, _ := strings.Cut(rest, ": ")
			s.effects[strings.ToLower(name)], s.names = effect, append(s.names, name)
		case kind == "read" || kind == "idle":
			for name := range strings.FieldsSeq(rest) {
				s.effects[strings.ToLower(name)], s.names = "", append(s.names, name)
				s.idle[strings.ToLower(name)] = kind == "idle"
			}
		}
	}
	return all
}()

// idle reports whether a parameter of slurm.conf does not change when jobs start.
func idle(name string) bool { return scopes["slurm.conf"].idle[strings.ToLower(name)] }

// known reports whether any file or line has a parameter of a name.
func known(name string) bool {
	name = strings.ToLower(name)
	for _, s := range scopes {
		if _, ok := s.effects[name]; ok {
			return true
		}
	}
	return scopes[name] != nil
}

// judge reports settings of a line that Slurm does not have, and notes settings that are not modeled. what names the
// described thing, as "a node". owner is the beginning of the line in notes, as "NodeName=n1 ".
func (c *SlurmConf) judge(s *scope, settings settingsLine, what, owner string) {
	for _, one := range settings {
		effect, ok := s.effects[strings.ToLower(one.name)]
		switch {
		case !ok:
			c.problem(one, "%s has no parameter %s.%s", what, shorten(one.name), nearestName(one.name, s.names))
		case effect != "" && !none(one.value):
			c.unmodeledOf(one, fmt.Sprintf("%s%s=%s", owner, one.name, one.value), what+one.name, effect)
		}
	}
}

// otherConf returns the kind of a configuration file that is not slurm.conf, such as gres.conf; empty for other files.
func otherConf(path, head string) string {
	base := strings.ToLower(filepath.Base(path))
	for _, name := range []string{"cgroup.conf", "gres.conf", "topology.conf", "topology.yaml"} { // gres.conf also as node7-gres.conf
		if strings.HasSuffix(base, name) {
			return name
		}
	}
	if strings.HasPrefix(head, "- topology:") {
		return "topology.yaml"
	}
	first, _, ok := strings.Cut(head, "=")
	if name := elsewhere[strings.ToLower(strings.TrimSpace(first))]; ok && !strings.Contains(head, "|") {
		return name
	}
	return ""
}

// readOther reads a file other than slurm.conf. It takes the devices from gres.conf; other files are only checked for
// mistakes.
func (c *SlurmConf) readOther(path, name string) error {
	if name == "topology.yaml" {
		return c.readTopology(path)
	}
	return c.read(path, func(at setting, text string) {
		var l settingsLine
		c.assignments(at, text, func(s setting, operator string) { l = c.put(l, s, operator) })
		if len(l) == 0 {
			return
		}
		before := len(c.Problems)
		rest := l
		if name == "gres.conf" && strings.EqualFold(l[0].name, "NodeName") {
			rest = l[1:]
		}
		c.judge(scopes[name], rest, name, "")
		if name == "gres.conf" && len(c.Problems) == before {
			c.addGres(l)
		}
	})
}
