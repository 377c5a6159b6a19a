package adaptation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
)

// Adaptation is the text and the tables about the results of one adaptation block.
type Adaptation struct {
	Name string
	// Ranks and Regrets have a row for each controller. Scenarios has a row for each scenario, about all sequences of
	// decisions. Real has a row for each controller and scenario in which it decided in real training.
	Ranks, Regrets, Scenarios, Real table.Table
	Answers                         []string
	// Headline answers which agents beat the best constant answer, or how far the mean regrets differ.
	Headline table.Headline
}

// The kinds of controllers with which agents are compared.
const (
	bestConstant  = "best_constant"
	bestElsewhere = "best_elsewhere"
	agentKind     = "agent"
)

// Adaptations returns the text and the tables of each adaptation block.
func Adaptations(all Tables) []Adaptation {
	var out []Adaptation
	for _, s := range all.blocks() {
		if len(s.Ranking)+len(s.RealRanking) == 0 {
			continue
		}
		b := blockResults{deepeningStudy: s}
		for _, r := range s.Choices {
			if r.Decision == 1 {
				b.plays = append(b.plays, r)
			}
		}
		a := Adaptation{Name: s.name, Scenarios: b.scenarioTable(), Answers: b.answers()}
		a.Ranks, a.Regrets = b.tables()
		a.Headline = b.headline(a.Ranks)
		a.Real = b.realTable()
		for _, text := range []string{b.fidelity(), budgetSentence(s.Courses)} {
			if text != "" {
				a.Answers = append(a.Answers, text)
			}
		}
		out = append(out, a)
	}
	return out
}

// column returns the different values of a column, in the order of their first rows.
func column[T any](rows []T, of func(T) string) []string {
	var out []string
	for _, r := range rows {
		if v := of(r); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// blockResults has the rows of one adaptation block.
type blockResults struct {
	deepeningStudy
	plays []ChoiceRow // one row for each training: its first decision
}

// row returns the row of a controller in a scenario; nil if it has no row.
func (b *blockResults) row(controller, scenario string) *RankingRow {
	i := slices.IndexFunc(b.Ranking, func(r RankingRow) bool {
		return r.Controller == controller && r.Scenario == scenario
	})
	if i < 0 {
		return nil
	}
	return &b.Ranking[i]
}

// of returns the first row of a controller.
func (b *blockResults) of(controller string) *RankingRow {
	return &b.Ranking[slices.IndexFunc(b.Ranking, func(r RankingRow) bool { return r.Controller == controller })]
}

// tables returns two tables with a row for each controller and a column for each scenario: ranks; and accuracies and
// regrets.
func (b *blockResults) tables() (ranks, regrets table.Table) {
	of, accuracies := []string{"controller"}, []string{"controller"}
	for _, s := range b.scenarios {
		of = append(of, s+": rank")
		accuracies = append(accuracies, s+": accuracy", "regret")
	}
	ranks, regrets = table.New(1, append(of, "mean regret", "runs")...), table.New(1, accuracies...)
	for _, c := range b.controllers {
		rank, regret := []string{c}, []string{c}
		runs, n := 0.0, 0.0
		for _, s := range b.scenarios {
			r := b.row(c, s)
			if r == nil {
				rank, regret = append(rank, "–"), append(regret, "–", "–")
				continue
			}
			rank = append(rank, fmt.Sprintf("%g", r.Rank))
			regret = append(regret, fmt.Sprintf("%.4f", r.Accuracy), regretText(interval(r)))
			runs, n = runs+r.Runs, n+1
		}
		ranks.Add(append(rank, regretText(b.regret(c)), fmt.Sprintf("%.3g", runs/n))...)
		regrets.Add(regret...)
	}
	return ranks, regrets
}

// realTable returns the table of controllers that decided in real training.
func (b *blockResults) realTable() table.Table {
	t := table.New(2, "controller", "scenario", "sequence", "trainings", "accuracy", "same in the table",
		"difference", "rank",
		"regret", "runs")
	for i := range b.RealRanking {
		r := &b.RealRanking[i]
		rank := "–"
		if stats.Finite(r.Rank) {
			rank = fmt.Sprintf("%g", r.Rank)
		}
		difference, regret := "–", "–"
		if stats.Finite(r.Fidelity) {
			difference = fmt.Sprintf("%+.4f", r.Fidelity)
		}
		if stats.Finite(r.Regret) {
			regret = regretText(interval(r))
		}
		t.Add(r.Controller, r.Scenario, r.Sequence, fmt.Sprint(r.Seeds),
			fmt.Sprintf("%.4f", r.Accuracy),
			known(r.Recorded), difference, rank, regret, fmt.Sprintf("%.3g", r.Runs))
	}
	return t
}

// fidelity returns a sentence about the difference between real trainings and the table; "" without both.
func (b *blockResults) fidelity() string {
	var differences []float64
	size := 0.0
	for _, r := range b.RealRanking {
		if stats.Finite(r.Fidelity) {
			differences = append(differences, r.Fidelity)
			size += math.Abs(r.Fidelity)
		}
	}
	if len(differences) == 0 {
		return ""
	}
	i := stats.MeanInterval(differences, level)
	text := fmt.Sprintf("%+.4f", i.Mean)
	if stats.Finite(i.Low) && stats.Finite(i.High) {
		text += fmt.Sprintf(" (%+.4f to %+.4f)", i.Low, i.High)
	}
	return fmt.Sprintf("In real trainings with a controller, the mean absolute difference of the accuracy from the same "+
		"sequence in the table is %.4f; the mean difference is %s.", size/float64(len(differences)),
		text)
}

// scenarioTable returns the table about all sequences of each scenario.
func (b *blockResults) scenarioTable() table.Table {
	t := table.New(1, "scenario", "sequences", "best accuracy", "sequence", "mean accuracy", "never deepened", "rank",
		"second best: regret",
		"decisions explain", "noise", "regret by noise")
	for _, s := range b.scenarios {
		all := b.deepeningStudy.of(s)
		if len(all) == 0 {
			continue
		}
		sum := 0.0
		for _, r := range all {
			sum += r.Accuracy
		}
		f := factorialOf(all)
		explained := "–"
		if stats.Finite(f.MainR2) {
			explained = fmt.Sprintf("%.0f%%", 100*f.MainR2)
		}
		nothing := all[len(all)-1] // the sequence that deepens no block is the last
		never, rank := fmt.Sprintf("%.4f", nothing.Accuracy), fmt.Sprint(nothing.Rank)
		slices.SortStableFunc(all, func(a, b SequenceRow) int { return a.Rank - b.Rank })
		second := "–"
		if len(all) > 1 {
			second = fmt.Sprintf("%.4f", all[1].Regret)
		}
		t.Add(s, fmt.Sprint(len(all)), fmt.Sprintf("%.4f", all[0].Accuracy), all[0].Sequence,
			fmt.Sprintf("%.4f", sum/float64(len(all))), never, rank, second, explained, known(f.Noise),
			known(f.Regret))
	}
	return t
}

// known returns a number as text, and a dash if it is unknown.
func known(v float64) string {
	if !stats.Finite(v) {
		return "–"
	}
	return fmt.Sprintf("%.4f", v)
}

// factorialOf analyzes all sequences of a scenario: their decisions are factors, and the actions are levels.
func factorialOf(all []SequenceRow) factorial {
	values := schema.Each(all, func(r SequenceRow) float64 { return r.Accuracy })
	decisions := len(all[0].Actions())
	actions := int(math.Round(math.Pow(float64(len(all)), 1/float64(decisions))))
	return newFactorial(values, actions, decisions)
}

// noise returns a sentence about the part of the regret that is due to noise; "" if it is unknown for a scenario.
func (b *blockResults) noise() string {
	sum, low, high := 0.0, math.Inf(1), 0.0
	for _, s := range b.scenarios {
		all := b.deepeningStudy.of(s)
		if len(all) == 0 {
			return ""
		}
		f := factorialOf(all)
		if !(f.Regret > 0) {
			return ""
		}
		sum, low, high = sum+f.Regret/float64(len(b.scenarios)), min(low, f.Noise), max(high, f.Noise)
	}
	return fmt.Sprintf("The part of the accuracies that single decisions and pairs of them do not explain has a "+
		"standard deviation of %.4f to %.4f. If it is noise, even the sequences that are best on average have a mean "+
		"regret of about %.4f here. A controller with less regret has learned from these very trainings.",
		low, high, sum)
}

// interval returns the mean regret of a row with its interval.
func interval(r *RankingRow) stats.Interval {
	return stats.Interval{Mean: r.Regret, Low: r.RegretLow, High: r.RegretHigh}
}

// regret returns the mean regret of a controller over all scenarios, with an interval over its seeds.
func (b *blockResults) regret(controller string) stats.Interval {
	return meanRegret(b.regrets(controller))
}

// regrets returns the mean regret over all scenarios, for each seed.
func (b *blockResults) regrets(controller string) []float64 {
	sums, counts := map[int]float64{}, map[int]float64{}
	best := map[string]float64{}
	for _, r := range b.Sequences {
		best[r.Scenario] = max(best[r.Scenario], r.Accuracy)
	}
	var seeds []int
	for _, p := range b.plays {
		if p.Controller != controller {
			continue
		}
		seeds = schema.AddOnce(seeds, p.Seed)
		sums[p.Seed] += math.Max(0, best[p.Scenario]-p.Accuracy)
		counts[p.Seed]++
	}
	return schema.Each(seeds, func(seed int) float64 { return sums[seed] / counts[seed] })
}

// regretText returns a mean regret with its interval: "0.0013 (0.0000–0.0040)".
func regretText(i stats.Interval) string {
	text := fmt.Sprintf("%.4f", i.Mean)
	if stats.Finite(i.Low) && stats.Finite(i.High) {
		dash := "–"
		if i.Low < 0 {
			dash = " to "
		}
		text += fmt.Sprintf(" (%.4f%s%.4f)", i.Low, dash, i.High)
	}
	return text
}

// byKind returns the name of the first controller of a kind; "" if there is no such controller.
func (b *blockResults) byKind(kind string) string {
	i := slices.IndexFunc(b.Ranking, func(r RankingRow) bool {
		return r.Kind == kind && (kind == bestConstant || !r.Knew)
	})
	if i < 0 {
		return ""
	}
	return b.Ranking[i].Controller
}

// mostInHeadline is the greatest number of controllers in the headline's table.
const mostInHeadline = 8

// headline says which agents beat the best constant answer, or else how far the mean regrets differ, and lists the best
// controllers by their mean regret, as the table of ranks has it.
func (b *blockResults) headline(ranks table.Table) (h table.Headline) {
	mean := func(c string) float64 { return b.regret(c).Mean }
	names := slices.DeleteFunc(slices.Clone(b.controllers), func(c string) bool { return !stats.Finite(mean(c)) })
	if len(names) == 0 {
		return h
	}
	slices.SortStableFunc(names, func(x, y string) int { return cmp.Compare(mean(x), mean(y)) })
	best := b.byKind(bestConstant)
	if slices.Contains(names, best) {
		h.Sentence = b.againstBest(best)
	}
	if h.Sentence == "" {
		first, last := names[0], names[len(names)-1]
		h.Sentence = fmt.Sprintf("Mean regret goes from %.4f (%s) to %.4f (%s).", mean(first), first, mean(last), last)
	}
	h.Table = table.New(1, "controller", "mean regret", "runs")
	h.Note = "Regret: how far the accuracy stays below the best. Runs: trainings before the decision."
	if at := slices.Index(names, best); at >= mostInHeadline {
		names[mostInHeadline-1] = best
	}
	for _, c := range names[:min(len(names), mostInHeadline)] {
		row := ranks.Rows[slices.Index(b.controllers, c)]
		h.Table.Add(c, row[len(row)-2], row[len(row)-1])
	}
	return h
}

// againstBest says which agents beat the best constant answer; "" without agents.
func (b *blockResults) againstBest(best string) string {
	groups, regrets := map[string][]string{}, map[string][]float64{}
	for _, c := range b.controllers {
		if b.of(c).Kind == agentKind {
			won := b.beats(c, best)
			groups[won], regrets[won] = append(groups[won], c), append(regrets[won], b.regret(c).Mean)
		}
	}
	object := fmt.Sprintf("the best constant answer (%s: %.4f)", b.of(best).Sequence, b.regret(best).Mean)
	var parts []string
	for _, won := range []string{surely, withAll, onAverage, perhaps, notBeaten} {
		names, of := groups[won], regrets[won]
		if len(names) == 0 {
			continue
		}
		verdict, values := fmt.Sprintf(won, object), fmt.Sprintf("%.4f", slices.Min(of))
		if high := fmt.Sprintf("%.4f", slices.Max(of)); high != values {
			values += " to " + high
		}
		if len(names) > 1 {
			verdict = strings.NewReplacer("beats", "beat", "does not", "do not", "its seeds", "their seeds").Replace(verdict)
		}
		parts, object = append(parts, fmt.Sprintf("%s (mean regret %s) %s", table.Listed(names), values, verdict)), "it"
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + "."
}

// answers compares each agent with two constant sequences. One is the best over all scenarios, which is unknown
// beforehand. The other is the best over the other scenarios; it is for agents that have not learned in the scenario in
// which they decide.
func (b *blockResults) answers() []string {
	best, elsewhere := b.byKind(bestConstant), b.byKind(bestElsewhere)
	var out []string
	for _, c := range b.controllers {
		if b.of(c).Kind != agentKind {
			continue
		}
		if best != "" {
			out = append(out, b.against(c, best, fmt.Sprintf("the best constant answer (%s)", b.of(best).Sequence)))
		}
		if elsewhere != "" && !b.of(c).Knew {
			out = append(out, b.against(c, elsewhere, "the constant answer that is best in the other scenarios"))
		}
	}
	if text := b.noise(); text != "" && len(out) > 0 {
		out = append(out, text)
	}
	return out
}

// How an agent compares with a constant sequence by mean regret.
const (
	surely    = "beats %s"
	onAverage = "beats %s on average, but not beyond what its seeds explain"
	withAll   = "beats %s with all of its seeds"
	perhaps   = "beats %s on average, though too few of its seeds differ to say whether that is chance"
	notBeaten = "does not beat %s"

	rounding = 1e-9
)

func (b *blockResults) beats(agent, constant string) string {
	switch a, k := b.regret(agent), b.regret(constant); {
	case !(a.Mean < k.Mean-rounding):
		return notBeaten
	case !stats.Finite(a.High) && slices.Max(b.regrets(agent)) < k.Mean:
		return withAll
	case !stats.Finite(a.High):
		return perhaps
	case a.High >= k.Mean:
		return onAverage
	}
	return surely
}

// against compares an agent with a constant sequence. It names the scenarios in which the constant is better, equal or
// worse: its regret is below, in or above the interval of the agent's regret over the seeds. Without intervals, the
// means are compared.
func (b *blockResults) against(agent, constant, named string) string {
	var better, same, worse []string
	for _, s := range b.scenarios {
		a, k := b.row(agent, s), b.row(constant, s)
		if a == nil || k == nil {
			continue
		}
		low, high := a.RegretLow, a.RegretHigh
		if math.IsNaN(low) || math.IsNaN(high) {
			low, high = a.Regret, a.Regret
		}
		switch {
		case k.Regret < low-rounding:
			better = append(better, s)
		case k.Regret > high+rounding:
			worse = append(worse, s)
		default:
			same = append(same, s)
		}
	}
	verdict := fmt.Sprintf(b.beats(agent, constant), named)
	var parts []string
	for _, p := range []struct {
		verdict string
		where   []string
	}{{"better", better}, {"equal, within the interval over the seeds,", same}, {"worse", worse}} {
		if len(p.where) > 0 {
			parts = append(parts, p.verdict+" in "+table.Listed(p.where))
		}
	}
	return fmt.Sprintf("The agent %s %s: its mean regret is %s, that of the constant answer %.4f. The constant answer "+
		"is %s.", agent, verdict, regretText(b.regret(agent)), b.regret(constant).Mean, strings.Join(parts, "; "))
}

var _ = analysis.Register(analysis.Part{
	Name: "adaptation", Title: "When to deepen the network", InReport: analysis.Policies + 10, OnTerminal: 20,
	Tell: func(e *record.Experiment) (s table.Section, err error) {
		all, err := ReadTables(e.Dir)
		if err != nil {
			return s, err
		}
		for _, b := range Adaptations(all) {
			s.Whole = true
			if s.Headline.Sentence == "" {
				s.Headline = b.Headline
			}
			s.Terminal = append(s.Terminal, table.Item{Sentences: []string{"adaptation " + b.Name}, Tight: true})
			for _, t := range []table.Table{b.Scenarios, b.Ranks, b.Regrets, b.Real} {
				if len(t.Rows) > 0 {
					s.Terminal = append(s.Terminal, table.Item{Table: t, Tight: true}, table.Item{Sentences: []string{""}, Tight: true})
				}
			}
			s.Terminal = append(s.Terminal, table.Item{Sentences: b.Answers, Tight: true})
			s.Report = append(s.Report, b.report()...)
		}
		if len(all.Ranking) > 0 {
			s.Members = map[string]any{"ranking": all.Ranking}
		}
		if s.Whole {
			s.Report = append(s.Report, table.Item{Pictures: true})
		}
		return s, nil
	},
})

// report returns a block's items of the report.
func (b *Adaptation) report() []table.Item {
	items := []table.Item{{Sentences: b.Answers, Answer: true}}
	if len(b.Ranks.Rows) > 0 {
		items = append(items, table.Item{Table: b.Ranks}, table.Item{Table: b.Regrets, Note: "Adaptation " + b.Name +
			". Rank: the median over the seeds among all sequences, 1 is the best. Regret: the distance of the accuracy from " +
			"the best, the mean over the seeds with its 95% interval. Runs: trainings that a controller used before it decided. " +
			"If each sequence was run only once, small differences of rank may be noise: compare the regrets."})
	}
	return append(items, table.Item{Table: b.Real, Note: "Decisions of controllers in real trainings. “Same in the " +
		"table”: the accuracy of the same sequence in the table, and by how much the real training exceeds it. Rank and " +
		"regret compare the accuracy with the table: a regret below 0 is better than the table's best."},
		table.Item{Table: b.Scenarios, Note: "All sequences of decisions by scenario. “Never deepened” is the accuracy of " +
			"doing nothing at each decision, with its rank. The regret of the second best sequence is the distance of the " +
			"two best. “Decisions explain”: the part of the variance that the effects of single decisions explain. “Noise”: " +
			"the standard deviation of the part that neither they nor pairs of them explain. “Regret by noise”: the mean " +
			"regret of the sequence that would be the best without this noise."})
}

// budgetSentence returns sentences about how exactly real trainings kept their budgets, and how much the programs'
// clocks differ from the scheduler's; "" without such data.
func budgetSentence(courses []CourseRow) string {
	var over, steps, told []float64
	for _, c := range courses {
		if stats.Finite(c.Trained) && stats.Finite(c.Step) {
			over, steps = append(over, c.Trained-c.Budget), append(steps, c.Step)
		}
		told = append(told, schema.Each(c.Told, math.Abs)...)
	}
	text := ""
	if len(over) > 0 {
		slices.Sort(over)
		slices.Sort(steps)
		text = fmt.Sprintf("In %s programs stopped %s the end of their budget in the median, and %s it at the "+
			"latest; a step takes %s in the median of the trainings, and %s in the slowest.", schema.Plural(len(over),
			"real training"),
			around(stats.Quantile(over, 0.5)), around(over[len(over)-1]), millis(stats.Quantile(steps, 0.5)),
			millis(steps[len(steps)-1]))
	}
	if len(told) > 0 {
		slices.Sort(told)
		if text != "" {
			text += " "
		}
		text += fmt.Sprintf("At %s, the program and the scheduler differ in the time left of the budget, by %s in "+
			"the median, %s at 95%%, and %s at most. This includes the time that a report takes to arrive.",
			schema.Plural(len(told), "report"),
			millis(stats.Quantile(told, 0.5)), millis(stats.Quantile(told, 0.95)), millis(told[len(told)-1]))
	}
	return text
}

// millis returns seconds as text in milliseconds.
func millis(seconds float64) string { return fmt.Sprintf("%.1f ms", 1000*seconds) }

// around returns text about a time relative to an instant: "3.0 ms before" or "3.0 ms after".
func around(seconds float64) string {
	if seconds < 0 {
		return millis(-seconds) + " before"
	}
	return millis(seconds) + " after"
}
