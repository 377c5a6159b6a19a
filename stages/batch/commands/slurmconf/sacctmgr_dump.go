package slurmconf

import (
	"regexp"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload/fields"
)

// dumpHead matches the beginning of a line of the file that sacctmgr dump writes: the kind and the name of a thing.
var dumpHead = regexp.MustCompile(`^\s*(Machine|Cluster|Parent|Account|Project|User)\s*-\s*('[^']*'|"[^"]*"|[^:\s]+)\s*(?::(.*))?$`)

// dumpOption matches an option that follows a name. Values may be quoted.
var dumpOption = regexp.MustCompile(`([A-Za-z]+)\s*=\s*('[^']*'|"[^"]*"|[^:]*)(?::|$)`)

// dumped reports whether a line begins the file that sacctmgr dump writes.
func dumped(text string) bool {
	return dumpHead.MatchString(text) || strings.HasPrefix(text, "# To edit this file start with a cluster line")
}

// dumpColumns are the columns of sacctmgr show assoc that have the options of the dump.
var dumpColumns = map[string]string{"Fairshare": "Share", "GrpSubmitJobs": "GrpSubmit", "GrpMemory": "GrpMem",
	"MaxTRESPerJob": "MaxTRES", "MaxTRESMinsPerJob": "MaxTRESMins", "MaxCPUsPerJob": "MaxCPUs",
	"MaxNodesPerJob": "MaxNodes", "MaxCPUMinsPerJob": "MaxCPUMins", "MaxSubmitJobs": "MaxSubmit",
	"MaxWallDurationPerJob": "MaxWall", "DefaultQOS": "Def QOS", "MinPrioThreshold": "MinPrioThresh"}

// dumpLine reads a line of the file that sacctmgr dump writes, as a row of sacctmgr show assoc.
func (t *sacctmgrTable) dumpLine(text string) {
	text = strings.TrimSpace(text)
	if text == "" || text[0] == '#' {
		return
	}
	m := dumpHead.FindStringSubmatch(text)
	if m == nil {
		t.problem(t.at, "this is no line of sacctmgr dump, such as  Account - 'physics':Fairshare=10")
		return
	}
	kind, name, options := m[1], strings.Trim(m[2], `'"`), m[3]
	head, row := []string{"Cluster", "Account", "User", "Par Name"}, []string{t.dump.cluster, t.dump.parent, "", ""}
	switch kind {
	case "Cluster", "Machine":
		t.dump.cluster, t.dump.parent = name, "root"
		row[0], row[1] = name, "root"
	case "Parent":
		t.dump.parent = name
		return
	case "Account", "Project":
		row[1], row[3] = name, t.dump.parent
	case "User":
		row[2] = name
	}
	rest := dumpOption.ReplaceAllStringFunc(options, func(one string) string {
		m := dumpOption.FindStringSubmatch(one)
		known := fields.Of("sacctmgr dump").Fold(m[1])
		if known == "" {
			return one
		}
		if column := dumpColumns[known]; column != "" {
			known = column
		}
		if !slices.Contains(head, known) {
			head, row = append(head, known), append(row, strings.Trim(m[2], `'"`))
		}
		return ""
	})
	if rest = strings.Trim(rest, ": "); rest != "" {
		name, _, _ := strings.Cut(rest, "=")
		t.problem(t.at, "sacctmgr dump has no option %s: remove it, or print the associations with  sacctmgr -P show "+
			"assoc", shorten(name))
		return
	}
	own := *t
	own.kind, own.head = "assoc", head
	own.assoc(row, nil)
	t.cluster = own.cluster
}
