package rank

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/scheduler/adaptation"
)

// trained adds what controllers decided in real training, beside what they decided on
// the table.
func trained(s *adaptation.Study, out *record.Adaptations) {
	for i := range out.Ranking {
		if r := &out.Ranking[i]; r.Adaptation == s.Name {
			r.Where, r.Recorded, r.Fidelity = record.OnTable, math.NaN(), math.NaN()
		}
	}
	for i := range out.Choices {
		if r := &out.Choices[i]; r.Adaptation == s.Name {
			r.Where = record.OnTable
		}
	}
	for _, t := range s.Trained {
		out.Courses = append(out.Courses, course(s, &t))
	}
	type group struct {
		controller *adaptation.Controller
		scenario   string
	}
	var order []group
	chosen := map[group][]adaptation.Chosen{}
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

// course is the row of a real training.
func course(s *adaptation.Study, t *adaptation.Trained) record.CourseRow {
	row := record.CourseRow{
		Adaptation: s.Name, Scenario: t.Scenario, Seed: t.Seed, Sequence: adaptation.Actions(t.Actions), Accuracy: t.Final,
		Budget: s.Real.Budget.Seconds(), Trained: t.Trained, Step: t.Step, Decided: t.Decided, Times: t.Times,
		Accuracies: t.Accuracies, Told: t.Told, Deepening: t.Deepening,
	}
	if t.Controller != nil {
		row.Controller = t.Controller.Name
	}
	return row
}

// realRanking sums up what a controller chose in the real trainings of a scenario.
func realRanking(s *adaptation.Study, c *adaptation.Controller, scenario string, chosen []adaptation.Chosen) record.RankingRow {
	t := s.Scenario(scenario)
	nan := math.NaN()
	n := float64(len(chosen))
	row := record.RankingRow{
		Adaptation: s.Name, Controller: c.Name, Kind: c.Kind, Scenario: scenario, Knew: s.Knew(c, scenario),
		Seeds:    len(chosen),
		Sequence: adaptation.Actions(chosen[0].Actions()), Where: record.InTraining, Of: s.Real.Sequences(),
		Regret: nan, RegretLow: nan, RegretHigh: nan, Rank: nan, Recorded: nan, Fidelity: nan,
	}
	var regrets, ranks, recorded, fidelity []float64
	var different []string
	for _, one := range chosen {
		row.Accuracy += one.Accuracy / n
		row.Runs += float64(one.Runs) / n
		if text := adaptation.Actions(one.Actions()); !slices.Contains(different, text) {
			different = append(different, text)
		}
		if !math.IsNaN(one.Recorded) {
			recorded, fidelity = append(recorded, one.Recorded), append(fidelity, one.Accuracy-one.Recorded)
		}
		if t == nil {
			continue
		}
		rank := 1
		for _, a := range t.Accuracy {
			if a > one.Accuracy {
				rank++
			}
		}
		regrets, ranks = append(regrets, t.Best()-one.Accuracy), append(ranks, float64(rank))
	}
	row.Sequences = len(different)
	if len(recorded) > 0 {
		row.Recorded, row.Fidelity = stats.MeanInterval(recorded, level).Mean, stats.MeanInterval(fidelity, level).Mean
	}
	if len(regrets) > 0 {
		i := stats.MeanInterval(regrets, level)
		row.Regret, row.RegretLow, row.RegretHigh = i.Mean, i.Low, i.High
		slices.Sort(ranks)
		row.Rank, row.BestRank, row.WorstRank = stats.Quantile(ranks, 0.5), int(ranks[0]), int(ranks[len(ranks)-1])
	}
	return row
}

// realDecisions are the rows of one real training.
func realDecisions(s *adaptation.Study, c *adaptation.Chosen) []record.ChoiceRow {
	var rows []record.ChoiceRow
	dims := adaptation.AgentTable{Decisions: s.Real.Decisions, Actions: s.Real.Blocks + 1}
	known := s.Scenario(c.Scenario)
	before := 0
	for d, one := range c.Decisions {
		var probs []string
		for _, p := range one.Probabilities {
			probs = append(probs, strconv.FormatFloat(p, 'f', 4, 64))
		}
		after := before*dims.Actions + one.Action
		row := record.ChoiceRow{
			Adaptation: s.Name, Controller: c.Controller.Name, Scenario: c.Scenario, Seed: c.Seed, Decision: d + 1,
			TimeLeft: one.TimeLeft, State: layers(dims.Layers(d, before)), Probabilities: strings.Join(probs, " "),
			Action: one.Action,
			Before: one.Before, After: one.After, ExpectedBefore: math.NaN(), ExpectedAfter: math.NaN(),
			Accuracy: c.Accuracy, Where: record.InTraining,
		}
		if known != nil {
			row.ExpectedBefore, row.ExpectedAfter = adaptation.MeanFrom(known, d, before), adaptation.MeanFrom(known, d+1, after)
		}
		rows = append(rows, row)
		before = after
	}
	return rows
}
