package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// losers names who is worse off under the best candidate than under the baseline: other metrics that are compared,
// and groups of jobs. It ignores groups in many settings.
func (q *question) losers(e *record.Experiment) (string, error) {
	candidates := q.candidates()
	if len(candidates) == 0 {
		return "", nil
	}
	if q.entries[0].base {
		return q.priceOfBase(candidates), nil
	}
	best, text := candidates[0], ""
	var price []string
	for _, m := range q.others {
		if change := best.changeIn(m, record.Worse); change != "" {
			price = append(price, m.Title+" "+change)
		}
	}
	if len(price) > 0 {
		text = "; but " + table.Listed(price)
		if len(q.fields) > 1 {
			text += " under " + best.name
		}
	}
	times, _ := best.verdicts()
	if !q.metric.Grouped || len(q.fields) > mostSettings || times[record.Better] == 0 {
		return text, nil
	}
	groups, err := q.byGroups(e, best)
	return text + groups, err
}

// changeIn is the range of the changes in another metric where they have a verdict; "" where none has.
func (o *entry) changeIn(m measure.Metric, verdict string) string {
	var rows []*record.ComparisonRow
	for _, list := range o.other {
		for _, r := range list {
			if r.Metric == m.Name && r.Verdict == verdict {
				rows = append(rows, &r)
			}
		}
	}
	return changeOf(rows)
}

// priceOfBase names the entries that are better in other metrics, where the baseline is the best.
func (q *question) priceOfBase(candidates []entry) string {
	var price []string
	for _, m := range q.others {
		for _, o := range candidates {
			if change := o.changeIn(m, record.Better); change != "" {
				price = append(price, fmt.Sprintf("%s of %s is %s", m.Title, o.name, change))
				break
			}
		}
	}
	if len(price) == 0 {
		return ""
	}
	return "; but " + table.Listed(price)
}

// byGroups counts the groups of jobs in which an entry is better than the baseline, and names the group with the
// greatest loss. It uses the division of jobs that has this group.
func (q *question) byGroups(e *record.Experiment, best entry) (string, error) {
	text, most, mostly := "", 0.0, ""
	if len(q.fields) > 1 {
		mostly = " in most settings"
	}
	for _, g := range measure.Groupings() {
		var names []string
		better, worse := map[string]int{}, map[string]int{}
		worst, price := map[string]float64{}, map[string]string{}
		for i, f := range q.fields {
			at := slices.IndexFunc(f.Variants, q.isBase)
			if at < 0 || best.at[i] == nil {
				continue
			}
			c := q.Compare
			c.By, c.Block = g.Name, 0
			// The best was chosen among all candidates.
			unseen := len(f.Variants[at].groups(g.Name)) * (len(q.entries) - 2)
			rows, err := compareWith(e, f.Variants[at], []Variant{*best.at[i]}, q.metric, c, max(unseen, 0))
			if err != nil {
				return "", err
			}
			for _, r := range rows {
				names = include(names, r.Group)
				switch r.Verdict {
				case record.Better:
					better[r.Group]++
				case record.Worse:
					worse[r.Group]++
					loss := math.Abs(r.Ratio - 1)
					if !stats.Finite(loss) { // more than nothing
						loss = math.MaxFloat64
					}
					if loss > worst[r.Group] {
						worst[r.Group], price[r.Group] = loss, table.Signed(r.Ratio-1)
						if !(r.Ratio < mostTimes) {
							price[r.Group] = fmt.Sprintf("from %s to %s", table.WithUnit(r.BaselineMean, q.metric.Unit),
								table.WithUnit(r.CandidateMean, q.metric.Unit))
						}
						if len(q.fields) > 1 {
							price[r.Group] += " " + q.where(e.Plan, f)
						}
					}
				}
			}
		}
		loser, wins := "", 0
		for _, name := range names {
			if worst[name] > worst[loser] {
				loser = name
			}
			if better[name] > worse[name] {
				wins++
			}
		}
		if loss := worst[loser]; loss > max(most, leastLoss) {
			most = loss
			text = fmt.Sprintf("; by %s better for %d of %d%s, worse for %s (%s)", g.Name, wins, len(names), mostly,
				GroupName(g.Name, loser), price[loser])
			if others := len(worst) - 1; others > 0 {
				text = strings.TrimSuffix(text, ")") + fmt.Sprintf("; %d more)", others)
			}
		}
	}
	return text, nil
}

// mostTimes is the ratio from which a loss is written as two values instead of a percentage.
const mostTimes = 10

// leastLoss is the least share by which a group must be worse off to be named.
const leastLoss = 0.005
