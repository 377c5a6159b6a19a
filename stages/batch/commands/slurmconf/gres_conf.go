package slurmconf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload/slurm"
)

// gresLine is a line of gres.conf: devices of one name and type.
type gresLine struct {
	slurm.Gres
	nodes []string // nil for all nodes
	at    setting
}

// of reports whether the line describes GPUs of a host.
func (g *gresLine) of(host string) bool {
	return g.Name == "gpu" && (g.nodes == nil || slices.Contains(g.nodes, host))
}

// sharing lists resources of which one device has several, so that their count differs from the number of device files.
var sharing = []string{"shard", "mps"}

// detectors are the values of AutoDetect.
var detectors = []string{"full", "nvml", "rsmi", "oneapi", "nrt", "nvidia", "off"}

// addGres takes a line of gres.conf.
func (c *SlurmConf) addGres(l settingsLine) {
	at, g := l[0], gresLine{at: l[0]}
	if d := l.get("AutoDetect"); d != "" && !slices.ContainsFunc(detectors, func(s string) bool {
		return strings.Contains(strings.ToLower(d), s)
	}) {
		c.problem(at, "AutoDetect=%s is no way to find devices: write one of %s", d, strings.Join(detectors, ", "))
	}
	switch {
	case strings.EqualFold(at.name, "NodeName"):
		g.nodes = c.hosts(at, at.value)
	case strings.EqualFold(at.name, "AutoDetect") && len(l) == 1:
		return
	case !strings.EqualFold(at.name, "Name"):
		c.problem(at, "%s stands first in a line of gres.conf: begin it with NodeName= or Name=", at.name)
		return
	case l.get("NodeName") != "":
		c.problem(at, "NodeName= does not stand first in its line: move it to the beginning")
		return
	case l.get("AutoDetect") != "":
		c.unmodeled(at, "AutoDetect has no effect in a line without NodeName=")
	}
	if g.Name = strings.ToLower(l.get("Name")); g.Name == "" {
		if l.get("AutoDetect") == "" {
			c.problem(at, "this line has no Name=: write Name=gpu, or remove it")
		}
		return
	}
	g.Type = strings.ToLower(l.get("Type"))
	files, several := l.get("File")+l.get("Files"), l.get("MultipleFiles")
	if files != "" && several != "" {
		c.problem(at, "File= and MultipleFiles= exclude each other: remove one")
		return
	}
	number := l.get("Count")
	if number != "" {
		list, err := slurm.ParseGres("x:" + number)
		if err != nil || len(list) != 1 || list[0].Type != "" {
			c.problem(at, "Count=%s is no number of devices, such as 4 or 10G", number)
			return
		}
		g.Count = list[0].Count
	}
	found := 0
	switch {
	case several != "":
		found = 1
	case files != "":
		found = len(c.hosts(at, files))
	}
	switch {
	case found > 0 && number != "" && found != g.Count && !slices.Contains(sharing, g.Name):
		c.problem(at, "Count=%s, and the line has %d device files: remove Count=, or correct it", number, found)
	case number == "":
		g.Count = max(found, 1)
	}
	c.gres = append(c.gres, g)
}

// hostsAlike is a set of hosts of one NodeName line that have the same GPUs.
type hostsAlike struct {
	hosts   []string
	devices []slurm.Gres
}

// byDevices divides the hosts of a NodeName line into sets with the same GPUs. Counts come from slurm.conf, and missing
// types from gres.conf.
func (m *clusterModel) byDevices(l settingsLine, hosts []string) (parts []*hostsAlike) {
	all, _ := slurm.ParseGres(l.get("Gres"))
	own := slices.DeleteFunc(all, func(g slurm.Gres) bool { return g.Name != "gpu" || g.Count == 0 })
	for _, host := range hosts {
		devices := own
		if len(m.gres) > 0 {
			devices = m.merged(l[0], host, own)
		}
		i := slices.IndexFunc(parts, func(p *hostsAlike) bool { return slices.Equal(p.devices, devices) })
		if i < 0 {
			i, parts = len(parts), append(parts, &hostsAlike{devices: devices})
		}
		parts[i].hosts = append(parts[i].hosts, host)
	}
	return parts
}

// merged returns the GPUs of a host. Their number comes from slurm.conf. A type that slurm.conf lacks comes from
// gres.conf, in the order of its lines.
func (m *clusterModel) merged(at setting, host string, own []slurm.Gres) (devices []slurm.Gres) {
	lines, left := m.gres, map[int]int{} // devices of gres.conf that are not assigned yet, by line
	typed := 0
	for i := range lines {
		if !lines[i].of(host) {
			continue
		}
		if left[i] = lines[i].Count; lines[i].Type != "" {
			typed++
		}
	}
	if typed > 0 && typed < len(left) {
		m.noteGres(lines, left, "some lines of the GPUs of a node have a type and others do not: Slurm refuses that")
	}
	add := func(g slurm.Gres) {
		if i := slices.IndexFunc(devices, func(o slurm.Gres) bool { return o.Type == g.Type }); i >= 0 {
			devices[i].Count += g.Count
		} else if g.Count > 0 {
			devices = append(devices, g)
		}
	}
	for _, g := range own {
		short := g.Count
		for i := range lines {
			if left[i] > 0 && short > 0 && (g.Type == "" || g.Type == lines[i].Type) {
				n := min(left[i], short)
				left[i] -= n
				short -= n
				one := g
				one.Type, one.Count = lines[i].Type, n
				add(one)
			}
		}
		if short > 0 && len(left) > 0 {
			m.unmodeledOf(at, fmt.Sprintf("slurm.conf gives the node %s %s, and gres.conf %d fewer", host, written(g), short),
				"gres.conf has fewer", "slurm.conf counts, though Slurm would drain such a node")
		}
		g.Count = short
		add(g)
	}
	m.noteGres(lines, left, "slurm.conf has fewer such GPUs in the node: it counts, as in Slurm")
	if typed > 0 && slices.ContainsFunc(own, func(g slurm.Gres) bool { return g.Type == "" }) {
		m.unmodeled(lines[0].at, "the types of GPUs are those of gres.conf where slurm.conf has none: newer versions of "+
			"Slurm have none then, and refuse jobs that ask for one")
	}
	return devices
}

// noteGres adds a note at the first line of gres.conf with devices that are not assigned.
func (m *clusterModel) noteGres(lines []gresLine, left map[int]int, text string) {
	for i := range lines {
		if left[i] > 0 {
			m.unmodeled(lines[i].at, text)
			return
		}
	}
}

// readTopology checks the names in a topology.yaml. The twin does not model the topology.
func (c *SlurmConf) readTopology(path string) error {
	s, torus := scopes["topology.yaml"], -1
	return eachLine(path, func(n int, text string) {
		if i := comment(text); i >= 0 {
			text = text[:i]
		}
		plain := strings.TrimLeft(text, " -\t")
		depth := len(text) - len(plain)
		name, value, ok := strings.Cut(plain, ":")
		name = strings.TrimSpace(name)
		if torus >= 0 && depth > torus || !ok || strings.Trim(name, " ") == "" {
			return // a list item, or a form of YAML that is not read
		}
		if torus = -1; name == "torus3d" {
			torus = depth
		}
		c.judge(s, settingsLine{{strings.Trim(name, `"'`), strings.TrimSpace(value), path, n}}, "topology.yaml", "")
	})
}
