package prose

import (
	"fmt"
	"math"
	"slices"

	"github.com/tfexp/tfexp/results/record"
)

// Adaptation says what an adaptation block came to.
type Adaptation struct {
	Name    string
	Table   Table
	Answers []string
}

// bestConstant is the kind of the controller that others have to beat.
const bestConstant = "best_constant"

// Adaptations puts the rankings of controllers that deepen networks into words,
// a block each.
func Adaptations(rows []record.RankingRow) []Adaptation {
	var out []Adaptation
	for _, name := range column(rows, func(r record.RankingRow) string { return r.Adaptation }) {
		var own []record.RankingRow
		for _, r := range rows {
			if r.Adaptation == name {
				own = append(own, r)
			}
		}
		out = append(out, adaptation(name, own))
	}
	return out
}

// column lists the different values of a column, in their order.
func column(rows []record.RankingRow, of func(record.RankingRow) string) []string {
	var out []string
	for _, r := range rows {
		if v := of(r); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

func adaptation(name string, rows []record.RankingRow) Adaptation {
	a := Adaptation{Name: name, Table: Table{Left: 1, Header: []string{"controller"}}}
	scenarios := column(rows, func(r record.RankingRow) string { return r.Scenario })
	controllers := column(rows, func(r record.RankingRow) string { return r.Controller })
	for _, s := range scenarios {
		a.Table.Header = append(a.Table.Header, s+": rank", "accuracy", "regret")
	}
	a.Table.Header = append(a.Table.Header, "mean regret", "runs")
	regret := map[string]float64{}
	for _, c := range controllers {
		line := []string{c}
		sum, runs, n := 0.0, 0.0, 0
		for _, r := range rows {
			if r.Controller != c {
				continue
			}
			line = append(line, fmt.Sprintf("%g", r.Rank), fmt.Sprintf("%.4f", r.Accuracy), regretText(r))
			sum, runs, n = sum+r.Regret, runs+r.Runs, n+1
		}
		regret[c] = sum / float64(n)
		line = append(line, fmt.Sprintf("%.4f", regret[c]), fmt.Sprintf("%.3g", runs/float64(n)))
		a.Table.Rows = append(a.Table.Rows, line)
	}
	a.Answers = constants(rows, controllers, regret)
	return a
}

// regretText is the mean regret with its interval: "0.0013 (0.0000 to 0.0040)".
func regretText(r record.RankingRow) string {
	text := fmt.Sprintf("%.4f", r.Regret)
	if !math.IsNaN(r.RegretLow) && !math.IsNaN(r.RegretHigh) {
		text += fmt.Sprintf(" (%.4f to %.4f)", r.RegretLow, r.RegretHigh)
	}
	return text
}

// constants compares each agent with the best constant answers: the one that is
// best over all scenarios, which nobody can know before, and the one that is best
// over the others.
func constants(rows []record.RankingRow, controllers []string, regret map[string]float64) []string {
	byKind := func(kind string) string {
		i := slices.IndexFunc(rows, func(r record.RankingRow) bool { return r.Kind == kind })
		if i < 0 {
			return ""
		}
		return rows[i].Controller
	}
	best, elsewhere := byKind(bestConstant), byKind("best_elsewhere")
	var out []string
	for _, c := range controllers {
		i := slices.IndexFunc(rows, func(r record.RankingRow) bool { return r.Controller == c })
		if rows[i].Kind != "agent" {
			continue
		}
		if best != "" {
			if worse := scenariosWhere(rows, c, best); len(worse) > 0 {
				out = append(out, fmt.Sprintf("The best constant answer (%s) is as good as the agent %s, or better, in %s: mean regret "+
					"over all scenarios %.4f against %.4f of the agent.", rows[slices.IndexFunc(rows,
					func(r record.RankingRow) bool { return r.Controller == best })].Sequence, c, and(worse), regret[best], regret[c]))
			} else {
				out = append(out, fmt.Sprintf("The agent %s beats the best constant answer in every scenario: mean regret %.4f "+
					"against %.4f.", c, regret[c], regret[best]))
			}
		}
		if elsewhere != "" && !rows[i].Knew {
			verdict := "beats"
			if regret[c] >= regret[elsewhere] {
				verdict = "does not beat"
			}
			out = append(out, fmt.Sprintf("In scenarios that it has never seen, the agent %s %s the constant answer that is best in "+
				"the other scenarios: mean regret %.4f against %.4f.", c, verdict, regret[c], regret[elsewhere]))
		}
	}
	return out
}

// scenariosWhere lists those in which a controller has no less regret than
// another one.
func scenariosWhere(rows []record.RankingRow, controller, other string) []string {
	var out []string
	for _, r := range rows {
		if r.Controller != controller {
			continue
		}
		for _, o := range rows {
			if o.Controller == other && o.Scenario == r.Scenario && r.Regret >= o.Regret-1e-9 {
				out = append(out, r.Scenario)
			}
		}
	}
	return out
}

// and joins names: "a, b and c".
func and(names []string) string {
	text := ""
	for i, n := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			text += " and "
		default:
			text += ", "
		}
		text += n
	}
	return text
}
