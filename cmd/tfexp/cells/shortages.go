package cells

import (
	"fmt"
	"strings"

	"github.com/tfexp/tfexp/results/record"
)

// shortage is how much of a resource a job needed and how much was free, over consecutive decisions.
type shortage struct {
	record.LackRow
	need, free [2]int
}

// shortagesOf returns the shortages of one decision.
func shortagesOf(p record.PassedRow) []shortage {
	var list []shortage
	for _, x := range p.Lacks {
		need, free := int(x.Need), int(x.Free)
		list = append(list, shortage{LackRow: x, need: [2]int{need, need}, free: [2]int{free, free}})
	}
	return list
}

// mergeShortages adds the shortages of another decision to list. It reports whether both are about the same resources.
func mergeShortages(list, more []shortage) bool {
	if len(list) == 0 || len(list) != len(more) {
		return false
	}
	for i, x := range list {
		if y := more[i]; x.Resource != y.Resource || x.What != y.What || x.Where != y.Where {
			return false
		}
	}
	for i := range list {
		x, y := &list[i], more[i]
		x.need = [2]int{min(x.need[0], y.need[0]), max(x.need[1], y.need[1])}
		x.free = [2]int{min(x.free[0], y.free[0]), max(x.free[1], y.free[1])}
	}
	return true
}

// shortageText is "needs 4 cores on one node, 1–3 are free".
func shortageText(list []shortage) string {
	parts := make([]string, len(list))
	for i, x := range list {
		what := x.What
		if x.Where != "" {
			what += " " + x.Where
		}
		parts[i] = fmt.Sprintf("needs %s %s, %s are free", fromTo(x.need), what, fromTo(x.free))
		if x.Resource != "" {
			parts[i] = x.Resource + ": " + parts[i]
		}
	}
	return strings.Join(parts, "; ")
}
