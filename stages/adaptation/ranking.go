package adaptation

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
)

var _ = stages.Register(&stages.Stage{
	Name:   "rank",
	Reads:  []stages.Artifact{agentsLearned, trainingsChosen},
	Writes: []stages.Artifact{stages.ExtraTables},
	Files: []string{Ranking.File, Choices.File, Sequences.File, Lessons.File,
		Courses.File},
	OutputKey: leftRankings,
	Run: func(_ context.Context, r *stages.Run) error {
		var out Tables
		for _, s := range studies(r.Dir, r.Experiment) {
			if err := playControllers(r.Dir, s, &out); err != nil {
				return err
			}
		}
		return out.Write(r.Dir)
	},
})

// leftRankings returns the lines of the stage's key: all inputs of the tables except the agents.
func leftRankings(r *stages.Run) ([]stages.KeyLine, error) {
	var lines []stages.KeyLine
	for _, s := range studies(r.Dir, r.Experiment) {
		lines = append(lines, stages.KeyLine{
			Label: "adaptation." + s.Name, Value: fmt.Sprintf("table %s, %d seeds", s.Digest, s.Seeds),
		})
		for _, c := range s.Controllers {
			text := fmt.Sprintf("%s, sequence %v, runs %d", c.Kind, c.Sequence, c.Runs)
			if c.Learn != nil {
				for _, t := range s.Tables {
					text += ", " + s.Training(c, t.Name, 1).LearnedOn()
				}
			}
			lines = append(lines, stages.KeyLine{Label: "controller." + c.Name, Value: text})
		}
	}
	return lines, nil
}

// level is the confidence level of the intervals.
const level = 0.95

// playControllers lets the controllers of one block decide, and adds their rows to out.
func playControllers(dir string, s *deepening.Study, out *Tables) error {
	for _, t := range s.Tables {
		out.Sequences = append(out.Sequences, sequences(s, t)...)
	}
	// trainings whose rewards are in the table already, since controllers can share a training
	shown := map[string]bool{}
	for _, c := range s.Controllers {
		if k, _ := deepening.KindByName(c.Kind); k.Makes {
			continue
		}
		for _, t := range s.Tables {
			var chosen []deepening.PlayedDecisions
			for seed := 1; seed <= s.SeedsOf(c); seed++ {
				choice, err := playSeed(dir, s, c, t, seed, shown, out)
				if err != nil {
					return err
				}
				chosen = append(chosen, choice)
			}
			out.Ranking = append(out.Ranking, ranking(s, c, t, chosen))
		}
	}
	addRealDecisions(s, out)
	return nil
}

// playSeed lets a controller decide on a table, with the weights of one seed if it has learned. It adds the rows of the
// training and of the decisions to out.
func playSeed(
	dir string, s *deepening.Study, c *deepening.Controller, t *deepening.OutcomeTable, seed int, shown map[string]bool,
	out *Tables,
) (deepening.PlayedDecisions, error) {
	row := TrainingRow{Adaptation: s.Name, Controller: c.Name, Scenario: t.Name, Seed: seed, Seconds: -1}
	var weights *deepening.Network
	if c.Learn != nil {
		training := s.Training(c, t.Name, seed)
		l, seconds, err := ReadWeights(dir, training)
		if err != nil {
			return deepening.PlayedDecisions{}, fmt.Errorf("read the agent of %s: %w", c.Name, err)
		}
		weights, row.Seconds = l.Network, seconds
		row.LearnedOn, row.Episodes = training.LearnedOn(), training.Episodes()
		if id := strings.Join(training.Lines(), "\n"); !shown[id] {
			shown[id] = true
			rows, err := objectives(dir, row, training)
			if err != nil {
				return deepening.PlayedDecisions{}, err
			}
			out.Objectives = append(out.Objectives, rows...)
		}
	}
	choice, seconds := timed(func() deepening.PlayedDecisions { return s.Play(c, t, seed, weights) })
	row.Deciding = seconds / float64(t.Decisions)
	out.Trainings = append(out.Trainings, row)
	out.Choices = append(out.Choices, decisions(s, c, t, seed, choice)...)
	return choice, nil
}

// timed returns the decisions of a controller, and the seconds that they took. Decisions too short for the clock are
// repeated, and the shortest time counts.
func timed(play func() deepening.PlayedDecisions) (deepening.PlayedDecisions, float64) {
	const enough, most = 2 * time.Millisecond, 100
	began := time.Now()
	choice := play()
	fastest, all := time.Since(began), time.Since(began)
	// a controller that trains networks decides only once
	for n := 1; choice.Runs == 0 && n < most && all < enough; n++ {
		began = time.Now()
		play()
		took := time.Since(began)
		fastest, all = min(fastest, took), all+took
	}
	return choice, fastest.Seconds()
}

// playResult is the result of a controller in one training: the accuracy, the regret, the rank (0 without a table), and
// the number of trainings before the decision.
type playResult struct {
	actions                string
	accuracy, regret, runs float64
	rank                   int
}

// sumUp adds the results of all trainings to a controller's row.
func sumUp(row *RankingRow, all []playResult) {
	var regrets, ranks []float64
	different := map[string]bool{}
	for _, p := range all {
		row.Accuracy += p.accuracy / float64(len(all))
		row.Runs += p.runs / float64(len(all))
		different[p.actions] = true
		if p.rank > 0 {
			regrets, ranks = append(regrets, p.regret), append(ranks, float64(p.rank))
		}
	}
	row.Seeds, row.Sequence, row.Sequences = len(all), all[0].actions, len(different)
	if len(ranks) > 0 {
		i := meanRegret(regrets)
		row.Regret, row.RegretLow, row.RegretHigh = i.Mean, i.Low, i.High
		slices.Sort(ranks)
		row.Rank, row.BestRank, row.WorstRank = stats.Quantile(ranks, 0.5), int(ranks[0]), int(ranks[len(ranks)-1])
	}
}

// ranking returns the row of a controller in a scenario.
func ranking(
	s *deepening.Study, c *deepening.Controller, t *deepening.OutcomeTable, chosen []deepening.PlayedDecisions,
) RankingRow {
	row := RankingRow{
		Adaptation: s.Name, Controller: c.Name, Kind: c.Kind, Scenario: t.Name, Knew: s.KnewScenario(c, t.Name),
		Of: len(t.Accuracy),
	}
	var all []playResult
	for _, choice := range chosen {
		all = append(all, playResult{deepening.FormatSequence(t.Sequence(choice.Sequence)), t.Accuracy[choice.Sequence],
			deepening.Regret(t, choice.Sequence), float64(choice.Runs), t.Rank(choice.Sequence)})
	}
	sumUp(&row, all)
	return row
}

// meanRegret returns the mean of regrets with its interval. If nearly all seeds have the same regret, the interval
// would be too narrow. Without two regrets that differ from the most frequent one, its bounds are NaN.
func meanRegret(regrets []float64) stats.Interval {
	i := stats.MeanInterval(regrets, level)
	times, most := map[float64]int{}, 0
	for _, r := range regrets {
		times[r]++
		most = max(most, times[r])
	}
	if i.Low = math.Max(0, i.Low); len(regrets)-most < 2 || !stats.Finite(i.Low) {
		i.Low, i.High = math.NaN(), math.NaN()
	}
	return i
}

// decisions returns the rows of one training, one for each decision.
func decisions(
	s *deepening.Study, c *deepening.Controller, t *deepening.OutcomeTable, seed int, choice deepening.PlayedDecisions,
) []ChoiceRow {
	var rows []ChoiceRow
	before := 0
	for d, action := range t.Sequence(choice.Sequence) {
		state := t.State(d, before)
		after := before*t.Actions + action
		rows = append(rows, ChoiceRow{
			Adaptation: s.Name, Controller: c.Name, Scenario: t.Name, Seed: seed, Decision: d + 1,
			TimeLeft: (1 - state.Time) * s.Budget, State: layers(state.Layers),
			Probabilities: probabilities(choice.Probabilities[d]),
			Action:        action, Before: math.NaN(), After: math.NaN(),
			ExpectedBefore: deepening.MeanAccuracyAfter(t, d, before), ExpectedAfter: deepening.MeanAccuracyAfter(t, d+1, after),
			Accuracy: t.Accuracy[choice.Sequence],
		})
		before = after
	}
	return rows
}

// probabilities returns the probabilities of the actions as the text of a column.
func probabilities(of []float64) string {
	return strings.Join(schema.Each(of, func(p float64) string { return strconv.FormatFloat(p, 'f', 4, 64) }), " ")
}

// layers returns the layers of a network as text: "0 0+ 1 2" has one more layer in block 0.
func layers(numbers []int) string {
	var text []string
	for _, n := range numbers {
		one := strconv.Itoa(n / 2)
		if n%2 == 1 {
			one += "+"
		}
		text = append(text, one)
	}
	return strings.Join(text, " ")
}

// sequences returns a row for each constant sequence of a scenario.
func sequences(s *deepening.Study, t *deepening.OutcomeTable) []SequenceRow {
	var rows []SequenceRow
	for i := range t.Accuracy {
		row := SequenceRow{
			Adaptation: s.Name, Scenario: t.Name, Sequence: deepening.FormatSequence(t.Sequence(i)), Accuracy: t.Accuracy[i],
			Regret: deepening.Regret(t, i), Rank: t.Rank(i),
		}
		row.Expected = []float64{deepening.MeanAccuracyAfter(t, 0, 0)}
		at := 0
		for d, action := range t.Sequence(i) {
			row.Times = append(row.Times, t.Time[d][at]*s.Budget)
			at = at*t.Actions + action
			row.Expected = append(row.Expected, deepening.MeanAccuracyAfter(t, d+1, at))
		}
		row.Times = append(row.Times, s.Budget)
		rows = append(rows, row)
	}
	return rows
}

// mostPoints is the greatest number of rows for one lesson of an agent. Batches are averaged to reach it.
const mostPoints = 150

// objectives returns the mean rewards of an agent in all of its lessons, in order.
func objectives(dir string, t TrainingRow, training deepening.Training) ([]ObjectiveRow, error) {
	lessons := []deepening.Training{training}
	for before, ok := training.Before(); ok; before, ok = before.Before() {
		lessons = append(lessons, before)
	}
	slices.Reverse(lessons)
	var rows []ObjectiveRow
	done := 0
	for i, lesson := range lessons {
		l, _, err := ReadWeights(dir, lesson)
		if err != nil {
			return nil, fmt.Errorf("read the earlier agent of %s: %w", t.Controller, err)
		}
		n := len(l.Objective)
		step := (n + mostPoints - 1) / mostPoints
		for from := 0; from < n; from += step {
			to := min(from+step, n)
			sum := 0.0
			for _, v := range l.Objective[from:to] {
				sum += v
			}
			rows = append(rows, ObjectiveRow{
				Adaptation: t.Adaptation, Controller: t.Controller, LearnedOn: t.LearnedOn, Seed: t.Seed, Lesson: i + 1,
				Episode: done + l.Episodes*to/n, Objective: sum / float64(to-from),
			})
		}
		done += l.Episodes
	}
	return rows, nil
}

// addRealDecisions adds the rows of controllers that decided in real training.
func addRealDecisions(s *deepening.Study, out *Tables) {
	for i := range out.Ranking {
		if r := &out.Ranking[i]; r.Adaptation == s.Name {
			r.Where, r.Recorded, r.Fidelity = OnTable, math.NaN(), math.NaN()
		}
	}
	for i := range out.Choices {
		if r := &out.Choices[i]; r.Adaptation == s.Name {
			r.Where = OnTable
		}
	}
	out.Courses = append(out.Courses, s.Trained...)
	type group struct {
		controller *deepening.Controller
		scenario   string
	}
	var order []group
	chosen := map[group][]deepening.RealDecisions{}
	for _, c := range s.Chosen {
		g := group{c.Controller, c.Scenario}
		if chosen[g] == nil {
			order = append(order, g)
		}
		chosen[g] = append(chosen[g], c)
	}
	for _, g := range order {
		out.RealRanking = append(out.RealRanking, realRanking(s, g.controller, g.scenario, chosen[g]))
		for _, c := range chosen[g] {
			out.RealChoices = append(out.RealChoices, realDecisions(s, &c)...)
		}
	}
}

// realRanking returns the row of a controller in the real trainings of a scenario.
func realRanking(
	s *deepening.Study, c *deepening.Controller, scenario string, chosen []deepening.RealDecisions,
) RankingRow {
	t := s.Scenario(scenario)
	nan := math.NaN()
	row := RankingRow{
		Adaptation: s.Name, Controller: c.Name, Kind: c.Kind, Scenario: scenario, Knew: s.KnewScenario(c, scenario),
		Where: InTraining, Of: s.Real.Sequences(),
		Regret: nan, RegretLow: nan, RegretHigh: nan, Rank: nan, Recorded: nan, Fidelity: nan,
	}
	var recorded, fidelity []float64
	var all []playResult
	for _, one := range chosen {
		p := playResult{actions: deepening.FormatSequence(one.Actions()), accuracy: one.Accuracy, runs: float64(one.Runs)}
		if !math.IsNaN(one.Recorded) {
			recorded, fidelity = append(recorded, one.Recorded), append(fidelity, one.Accuracy-one.Recorded)
		}
		if t != nil {
			p.regret, p.rank = t.Best()-one.Accuracy, 1
			for _, a := range t.Accuracy {
				if a > one.Accuracy {
					p.rank++
				}
			}
		}
		all = append(all, p)
	}
	sumUp(&row, all)
	if len(recorded) > 0 {
		row.Recorded, row.Fidelity = stats.MeanInterval(recorded, level).Mean, stats.MeanInterval(fidelity, level).Mean
	}
	return row
}

// realDecisions returns the rows of one real training, one for each decision.
func realDecisions(s *deepening.Study, c *deepening.RealDecisions) []ChoiceRow {
	var rows []ChoiceRow
	dims := deepening.OutcomeTable{Decisions: s.Real.Decisions, Actions: s.Real.Blocks + 1}
	known := s.Scenario(c.Scenario)
	before := 0
	for d, one := range c.Decisions {
		after := before*dims.Actions + one.Action
		row := ChoiceRow{
			Adaptation: s.Name, Controller: c.Controller.Name, Scenario: c.Scenario, Seed: c.Seed, Decision: d + 1,
			TimeLeft: one.TimeLeft, State: layers(dims.Layers(d, before)), Probabilities: probabilities(one.Probabilities),
			Action: one.Action,
			Before: one.Before, After: one.After, ExpectedBefore: math.NaN(), ExpectedAfter: math.NaN(),
			Accuracy: c.Accuracy, Where: InTraining,
		}
		if known != nil {
			row.ExpectedBefore, row.ExpectedAfter = deepening.MeanAccuracyAfter(known, d, before),
				deepening.MeanAccuracyAfter(known, d+1, after)
		}
		rows = append(rows, row)
		before = after
	}
	return rows
}
