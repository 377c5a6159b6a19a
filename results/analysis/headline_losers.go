package analysis

import (
	"fmt"
	"math"
	"slices"

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
	text, most := "", leastLoss
	for _, g := range measure.Groupings() {
		changes, err := q.groupChanges(e, best, g)
		if err != nil {
			return "", err
		}
		loser, loss := changes.loser()
		if loss <= most {
			continue
		}
		most = loss
		price := changes.price[loser]
		if others := len(changes.loss) - 1; others > 0 {
			price += fmt.Sprintf("; %d more", others)
		}
		mostly := ""
		if len(q.fields) > 1 {
			mostly = " in most settings"
		}
		text = fmt.Sprintf("; by %s better for %d of %d%s, worse for %s (%s)", g.Name, changes.wins(), len(changes.names), mostly,
			GroupName(g.Name, loser), price)
	}
	return text, nil
}

// groupChanges are how groups of jobs fare under an entry, compared with the baseline, by the names of the groups.
type groupChanges struct {
	names []string
	// better and worse count the settings with such a verdict.
	better, worse map[string]int
	// loss is the greatest relative loss of a group that is worse off, and price the same as text.
	loss  map[string]float64
	price map[string]string
}

// groupChanges compares an entry with the baseline for each group of jobs, in each setting.
func (q *question) groupChanges(e *record.Experiment, best entry, g measure.Grouping) (groupChanges, error) {
	out := groupChanges{
		better: map[string]int{}, worse: map[string]int{}, loss: map[string]float64{}, price: map[string]string{},
	}
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
			return out, err
		}
		where := ""
		if len(q.fields) > 1 {
			where = " " + q.where(e.Plan, f)
		}
		for _, r := range rows {
			out.add(&r, q.metric.Unit, where)
		}
	}
	return out, nil
}

// add counts a comparison of a group.
func (c *groupChanges) add(r *record.ComparisonRow, unit, where string) {
	c.names = include(c.names, r.Group)
	switch r.Verdict {
	case record.Better:
		c.better[r.Group]++
	case record.Worse:
		c.worse[r.Group]++
		loss := math.Abs(r.Ratio - 1)
		if !stats.Finite(loss) { // more than nothing
			loss = math.MaxFloat64
		}
		if loss <= c.loss[r.Group] {
			return
		}
		price := table.Signed(r.Ratio - 1)
		if !(r.Ratio < mostTimes) {
			price = fmt.Sprintf("from %s to %s", table.WithUnit(r.BaselineMean, unit), table.WithUnit(r.CandidateMean, unit))
		}
		c.loss[r.Group], c.price[r.Group] = loss, price+where
	}
}

// loser returns the group with the greatest loss; "" without any loss.
func (c *groupChanges) loser() (name string, loss float64) {
	for _, n := range c.names {
		if c.loss[n] > loss {
			name, loss = n, c.loss[n]
		}
	}
	return name, loss
}

// wins counts the groups that are better in more settings than worse.
func (c *groupChanges) wins() (n int) {
	for _, name := range c.names {
		if c.better[name] > c.worse[name] {
			n++
		}
	}
	return n
}

// mostTimes is the ratio from which a loss is written as two values instead of a percentage.
const mostTimes = 10

// leastLoss is the least share by which a group must be worse off to be named.
const leastLoss = 0.005
