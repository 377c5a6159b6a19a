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

// Adaptation holds the results of an adaptation block.
type Adaptation struct {
	Name string
	// Ranks and Regrets have a row for each controller; Scenarios has one for each
	// scenario: the results of all sequences of decisions there. Real has a row for
	// each controller that decided in real training, and scenario.
	Ranks, Regrets, Scenarios, Real table.Table
	Answers                         []string
	// Headline answers which agents beat the best constant answer; empty without both.
	Headline table.Headline
}

// The kinds of controllers that agents are compared with.
const (
	bestConstant  = "best_constant"
	bestElsewhere = "best_elsewhere"
	agentKind     = "agent"
)

// Adaptations puts the tables of controllers that deepen networks into words, a
// block each.
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

// column lists the different values of a column, in their order.
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
	plays []ChoiceRow // the first decision of each training
}

// row finds the result of a controller in a scenario; nil without one.
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

// tables have the controllers in all scenarios: their ranks, and their accuracies and
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

// realTable has the controllers that decided in real training.
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

// fidelity describes the distance of real trainings from the table; "" without both.
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
	return fmt.Sprintf("Where controllers decided in real training, accuracies differ by %.4f from those of the same "+
		"sequences in the table, regardless of the sign; with it by %s on average.", size/float64(len(differences)),
		text)
}

// scenarioTable is the table of the results of all sequences.
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
		nothing := all[len(all)-1] // the last sequence
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

// known writes a number that may be unknown.
func known(v float64) string {
	if !stats.Finite(v) {
		return "–"
	}
	return fmt.Sprintf("%.4f", v)
}

// factorialOf analyses the sequences of a scenario: all combinations of actions.
func factorialOf(all []SequenceRow) factorial {
	values := schema.Each(all, func(r SequenceRow) float64 { return r.Accuracy })
	decisions := len(all[0].Actions())
	actions := int(math.Round(math.Pow(float64(len(all)), 1/float64(decisions))))
	return newFactorial(values, actions, decisions)
}

// noise is a sentence on the part of the regret due to single trainings; "" where
// it is not known for all scenarios.
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
	return fmt.Sprintf("What single decisions and pairs of them do not explain varies by %.4f to %.4f (standard "+
		"deviation) from sequence to sequence. If that is noise, then even who knew what every sequence comes to on "+
		"average would have a mean regret of about %.4f here: below that, a controller has seen these very trainings.",
		low, high, sum)
}

// interval is the mean regret of a row with its interval.
func interval(r *RankingRow) stats.Interval {
	return stats.Interval{Mean: r.Regret, Low: r.RegretLow, High: r.RegretHigh}
}

// regret is the mean regret of a controller over all scenarios, with an interval
// over its seeds.
func (b *blockResults) regret(controller string) stats.Interval {
	return meanRegret(b.regrets(controller))
}

// regrets are the mean regrets over all scenarios, by seed.
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

// regretText is a mean regret with its interval: "0.0013 (0.0000–0.0040)".
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

// byKind finds the controller of a kind of constant answer; empty without one.
func (b *blockResults) byKind(kind string) string {
	i := slices.IndexFunc(b.Ranking, func(r RankingRow) bool {
		return r.Kind == kind && (kind == bestConstant || !r.Knew)
	})
	if i < 0 {
		return ""
	}
	return b.Ranking[i].Controller
}

// mostInHeadline bounds the controllers in the table of the headline.
const mostInHeadline = 8

// headline says which agents beat the best constant answer, and lists the best controllers by their mean regret, as
// the table of ranks has it.
func (b *blockResults) headline(ranks table.Table) (h table.Headline) {
	best := b.byKind(bestConstant)
	if best == "" || !stats.Finite(b.regret(best).Mean) {
		return h
	}
	groups := map[string][]string{}
	regrets := map[string][]float64{}
	for _, c := range b.controllers {
		if b.of(c).Kind == agentKind {
			won := b.beats(c, best)
			groups[won], regrets[won] = append(groups[won], c), append(regrets[won], b.regret(c).Mean)
		}
	}
	var parts []string
	for _, p := range []struct{ won, one, several, after string }{
		{surely, "beats it", "beat it", ""},
		{withAll, "beats it", "beat it", " with all seeds"},
		{onAverage, "beats it", "beat it", " on average, but not beyond what the seeds explain"},
		{perhaps, "beats it", "beat it", " on average, though too few of the seeds differ to say whether that is chance"},
		{notBeaten, "does not beat it", "do not beat it", ""},
	} {
		if names := groups[p.won]; len(names) > 0 {
			verb, of := p.several, regrets[p.won]
			values := fmt.Sprintf("%.4f to %.4f", slices.Min(of), slices.Max(of))
			if slices.Min(of) == slices.Max(of) {
				values = fmt.Sprintf("%.4f", of[0])
			}
			if len(names) == 1 {
				verb = p.one
			}
			parts = append(parts, fmt.Sprintf("%s %s%s (%s)", table.Listed(names), verb, p.after, values))
		}
	}
	if len(parts) == 0 {
		return h
	}
	h.Sentence = fmt.Sprintf("The best constant answer (%s) has a mean regret of %.4f: of the agents, %s.", b.of(best).Sequence,
		b.regret(best).Mean, strings.Join(parts, "; "))
	h.Table = table.New(1, "controller", "mean regret", "runs")
	h.Note = "Regret: how far the accuracy stays below the best. Runs: trainings before the decision."
	names := slices.SortedStableFunc(slices.Values(b.controllers), func(x, y string) int {
		return cmp.Compare(b.regret(x).Mean, b.regret(y).Mean)
	})
	if at := slices.Index(names, best); at >= mostInHeadline {
		names[mostInHeadline-1] = best
	}
	for _, c := range names[:min(len(names), mostInHeadline)] {
		row := ranks.Rows[slices.Index(b.controllers, c)]
		h.Table.Add(c, row[len(row)-2], row[len(row)-1])
	}
	return h
}

// answers compares each agent with the best constant answers: the one that is best
// over all scenarios, which is unknown beforehand, and, for agents that have not
// learned where they decide, the one that is best over the others.
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

// Whether an agent beats a constant answer by its mean regret.
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

// against compares an agent with a constant answer: it names the scenarios in which
// the constant is better, as good, or worse. Its regret is then below, in or above
// the interval of the agent's regret over the seeds. Without intervals the means
// decide.
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
	}{{"better", better}, {"as good, as far as the seeds tell,", same}, {"worse", worse}} {
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

// report returns the items of a block for the report.
func (b *Adaptation) report() []table.Item {
	items := []table.Item{{Sentences: b.Answers, Answer: true}}
	if len(b.Ranks.Rows) > 0 {
		items = append(items, table.Item{Table: b.Ranks}, table.Item{Table: b.Regrets, Note: "Adaptation " + b.Name +
			". Rank: the median over the seeds among all sequences, 1 is the best. Regret: how far the accuracy stays below " +
			"the " +
			"best, the mean over the seeds with its 95% interval. Runs: trainings that a controller used before it decided. " +
			"The " +
			"interval of the mean regret is over the seeds, too. Ranks near the top may be noise where each sequence was run " +
			"once: read them with the regret."})
	}
	return append(items, table.Item{Table: b.Real, Note: "What controllers decided while networks really trained. “Same " +
		"in the table”: the accuracy that the table has for the same sequence, and how much more the real training came " +
		"to. Rank and regret are against the table: a regret below 0 is better than its best."},
		table.Item{Table: b.Scenarios, Note: "All sequences of decisions by scenario. “Never deepened” is the accuracy of " +
			"doing nothing at each decision, with its rank. The regret of the second best sequence is how far the two best " +
			"are apart. “Decisions explain”: the part of the variance that the effects of single decisions explain. “Noise”: " +
			"the standard deviation of what they and pairs of them leave. “Regret by noise”: what the sequence that is best " +
			"without that noise stays below the best of the table, on average."})
}

// budgetSentence describes how well the real trainings of an adaptation kept their budgets, and the programs' own
// figures for the rest; "" without such figures.
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
		text += fmt.Sprintf("At %s, the time left of the budget as the program has it differs from that of the "+
			"scheduler by %s in the median, %s at 95%%, and %s at most: the way of the report is part of it.",
			schema.Plural(len(told), "report"),
			millis(stats.Quantile(told, 0.5)), millis(stats.Quantile(told, 0.95)), millis(told[len(told)-1]))
	}
	return text
}

// millis writes seconds as milliseconds.
func millis(seconds float64) string { return fmt.Sprintf("%.1f ms", 1000*seconds) }

// around describes a time after an instant, or before it.
func around(seconds float64) string {
	if seconds < 0 {
		return millis(-seconds) + " before"
	}
	return millis(seconds) + " after"
}
