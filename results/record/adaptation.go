package record

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/results/table"
)

// The files of controllers that deepen networks.
const (
	AgentsDir     = "agents"    // what agents have learned, by their keys
	TrainingsDir  = "trainings" // real trainings, a folder each like that of a cell
	TableFile     = "table.csv" // of all sequences, as real training made it
	RankingFile   = "ranking.csv"
	ChoicesFile   = "decisions.csv"
	SequencesFile = "sequences.csv"
	ObjectiveFile = "objectives.csv"
	TrainingFile  = "training.csv"
	CoursesFile   = "courses.csv"
)

// RankingRow is what a controller comes to in a scenario, over its seeds.
type RankingRow struct {
	Adaptation, Controller, Kind, Scenario string
	// Knew is set when it learned or tried in this scenario before, or reads what
	// no controller can know.
	Knew  bool
	Seeds int
	// Sequence is that of the first seed; Sequences counts the different ones.
	Sequence  string
	Sequences int
	// Accuracy and Regret are means, Rank is the median among Of sequences.
	Accuracy, Regret, RegretLow, RegretHigh, Rank float64
	BestRank, WorstRank, Of                       int
	// Runs is the mean number of trainings that it used before it decided.
	Runs float64
	// Where says where it decided: OnTable or InTraining. In real training, Recorded is
	// the mean accuracy of the same sequences in the table, and Fidelity how much more it
	// came to than that; NaN without one.
	Where              string
	Recorded, Fidelity float64
}

// Where controllers decide.
const (
	OnTable    = "table"
	InTraining = "real"
)

// ChoiceRow is one decision.
type ChoiceRow struct {
	Adaptation, Controller, Scenario string
	Seed, Decision                   int
	TimeLeft                         float64
	// State lists the layers of the network: "0 0+ 1 2" has one more in block 0.
	State, Probabilities string
	Action               int
	// Before and After are the accuracies before and after the decision; NaN on
	// recorded tables, which do not have them. ExpectedBefore and ExpectedAfter are
	// the mean final accuracies of all sequences that go on so.
	Before, After, ExpectedBefore, ExpectedAfter float64
	// Accuracy is the final one.
	Accuracy float64
	Where    string // as in RankingRow
}

// SequenceRow is a constant sequence in a scenario.
type SequenceRow struct {
	Adaptation, Scenario, Sequence string
	// Actions are those of the sequence.
	Actions          []string
	Accuracy, Regret float64
	Rank             int
	// Times are the seconds that are used at each decision and at the end.
	Times []float64
	// Expected are the mean final accuracies of all sequences that begin so, at the
	// start and after each decision.
	Expected []float64
}

// ObjectiveRow is the mean reward of an agent's episodes around one of them, counted
// through all of its lessons.
type ObjectiveRow struct {
	Adaptation, Controller, LearnedOn string
	Seed, Lesson, Episode             int
	Objective                         float64
}

// TrainingRow is how long a controller took on this machine: an agent to learn,
// and any controller to decide, in the mean over decisions.
type TrainingRow struct {
	Adaptation, Controller, Scenario, LearnedOn string
	Seed, Episodes                              int
	Seconds, Deciding                           float64
}

// CourseRow is how one real training went. Times are in seconds of service time.
type CourseRow struct {
	// Controller is empty for a training by a sequence of the table.
	Adaptation, Controller, Scenario string
	Seed                             int
	Sequence                         string
	Actions                          []string // of the sequence
	Accuracy                         float64
	// Trained is when the program stopped training, of Budget; Step how long a step took, the median. NaN: not known.
	Budget, Trained, Step float64
	// Decided are when decisions were taken, Times and Accuracies those of the epochs.
	Decided, Times, Accuracies []float64
	// Told is, at each report, how much more the program took to be left of the budget than the scheduler did;
	// Deepening is how long the program took to add each layer.
	Told, Deepening []float64
}

var courseColumns = []table.Column[CourseRow]{
	table.Text("adaptation", func(r *CourseRow) *string { return &r.Adaptation }),
	table.Text("controller", func(r *CourseRow) *string { return &r.Controller }),
	table.Text("scenario", func(r *CourseRow) *string { return &r.Scenario }),
	table.Int("seed", func(r *CourseRow) *int { return &r.Seed }),
	sequence(func(r *CourseRow) (*string, *[]string) { return &r.Sequence, &r.Actions }),
	table.Float("accuracy", func(r *CourseRow) *float64 { return &r.Accuracy }),
	table.Seconds("budget_s", func(r *CourseRow) *float64 { return &r.Budget }),
	table.Float("trained_s", func(r *CourseRow) *float64 { return &r.Trained }),
	table.Float("step_s", func(r *CourseRow) *float64 { return &r.Step }),
	numbers("decided_s", func(r *CourseRow) *[]float64 { return &r.Decided }),
	numbers("times_s", func(r *CourseRow) *[]float64 { return &r.Times }),
	numbers("accuracies", func(r *CourseRow) *[]float64 { return &r.Accuracies }),
	numbers("told_more_s", func(r *CourseRow) *[]float64 { return &r.Told }),
	numbers("deepening_s", func(r *CourseRow) *[]float64 { return &r.Deepening }),
}

var rankingColumns = []table.Column[RankingRow]{
	table.Text("adaptation", func(r *RankingRow) *string { return &r.Adaptation }),
	table.Text("controller", func(r *RankingRow) *string { return &r.Controller }),
	table.Text("kind", func(r *RankingRow) *string { return &r.Kind }),
	table.Text("scenario", func(r *RankingRow) *string { return &r.Scenario }),
	table.Bool("known_scenario", func(r *RankingRow) *bool { return &r.Knew }),
	table.Int("seeds", func(r *RankingRow) *int { return &r.Seeds }),
	table.Text("sequence", func(r *RankingRow) *string { return &r.Sequence }),
	table.Int("different_sequences", func(r *RankingRow) *int { return &r.Sequences }),
	table.Float("accuracy", func(r *RankingRow) *float64 { return &r.Accuracy }),
	table.Float("regret", func(r *RankingRow) *float64 { return &r.Regret }),
	table.Float("regret_low", func(r *RankingRow) *float64 { return &r.RegretLow }),
	table.Float("regret_high", func(r *RankingRow) *float64 { return &r.RegretHigh }),
	table.Float("median_rank", func(r *RankingRow) *float64 { return &r.Rank }),
	table.Int("best_rank", func(r *RankingRow) *int { return &r.BestRank }),
	table.Int("worst_rank", func(r *RankingRow) *int { return &r.WorstRank }),
	table.Int("of_sequences", func(r *RankingRow) *int { return &r.Of }),
	table.Float("runs", func(r *RankingRow) *float64 { return &r.Runs }),
	table.Text("where", func(r *RankingRow) *string { return &r.Where }),
	table.Float("table_accuracy", func(r *RankingRow) *float64 { return &r.Recorded }),
	table.Float("fidelity", func(r *RankingRow) *float64 { return &r.Fidelity }),
}

var choiceColumns = []table.Column[ChoiceRow]{
	table.Text("adaptation", func(r *ChoiceRow) *string { return &r.Adaptation }),
	table.Text("controller", func(r *ChoiceRow) *string { return &r.Controller }),
	table.Text("scenario", func(r *ChoiceRow) *string { return &r.Scenario }),
	table.Int("seed", func(r *ChoiceRow) *int { return &r.Seed }),
	table.Int("decision", func(r *ChoiceRow) *int { return &r.Decision }),
	table.Seconds("time_left_s", func(r *ChoiceRow) *float64 { return &r.TimeLeft }),
	table.Text("layers", func(r *ChoiceRow) *string { return &r.State }),
	table.Text("probabilities", func(r *ChoiceRow) *string { return &r.Probabilities }),
	table.Int("action", func(r *ChoiceRow) *int { return &r.Action }),
	table.Float("accuracy_before", func(r *ChoiceRow) *float64 { return &r.Before }),
	table.Float("accuracy_after", func(r *ChoiceRow) *float64 { return &r.After }),
	table.Float("expected_before", func(r *ChoiceRow) *float64 { return &r.ExpectedBefore }),
	table.Float("expected_after", func(r *ChoiceRow) *float64 { return &r.ExpectedAfter }),
	table.Float("accuracy", func(r *ChoiceRow) *float64 { return &r.Accuracy }),
	table.Text("where", func(r *ChoiceRow) *string { return &r.Where }),
}

var sequenceColumns = []table.Column[SequenceRow]{
	table.Text("adaptation", func(r *SequenceRow) *string { return &r.Adaptation }),
	table.Text("scenario", func(r *SequenceRow) *string { return &r.Scenario }),
	sequence(func(r *SequenceRow) (*string, *[]string) { return &r.Sequence, &r.Actions }),
	table.Float("accuracy", func(r *SequenceRow) *float64 { return &r.Accuracy }),
	table.Float("regret", func(r *SequenceRow) *float64 { return &r.Regret }),
	table.Int("rank", func(r *SequenceRow) *int { return &r.Rank }),
	numbers("times", func(r *SequenceRow) *[]float64 { return &r.Times }),
	numbers("expected", func(r *SequenceRow) *[]float64 { return &r.Expected }),
}

// sequence holds a sequence, which is read with its actions.
func sequence[T any](fields func(*T) (text *string, actions *[]string)) table.Column[T] {
	return table.Column[T]{
		Name: "sequence", Text: true,
		Add: func(b []byte, r *T) []byte {
			text, _ := fields(r)
			return append(b, *text...)
		},
		Set: func(r *T, s string) error {
			text, actions := fields(r)
			*text, *actions = s, strings.Fields(s)
			return nil
		},
	}
}

// numbers holds a list of numbers, with spaces between them.
func numbers[T any](name string, field func(*T) *[]float64) table.Column[T] {
	return table.Column[T]{
		Name: name, Text: true,
		Add: func(b []byte, r *T) []byte {
			for i, v := range *field(r) {
				if i > 0 {
					b = append(b, ' ')
				}
				b = table.AppendNumber(b, v)
			}
			return b
		},
		Set: func(r *T, s string) error {
			list := (*field(r))[:0:0]
			for _, text := range strings.Fields(s) {
				v, err := strconv.ParseFloat(text, 64)
				if err != nil {
					return err
				}
				list = append(list, v)
			}
			*field(r) = list
			return nil
		},
	}
}

var objectiveColumns = []table.Column[ObjectiveRow]{
	table.Text("adaptation", func(r *ObjectiveRow) *string { return &r.Adaptation }),
	table.Text("controller", func(r *ObjectiveRow) *string { return &r.Controller }),
	table.Text("learned_on", func(r *ObjectiveRow) *string { return &r.LearnedOn }),
	table.Int("seed", func(r *ObjectiveRow) *int { return &r.Seed }),
	table.Int("lesson", func(r *ObjectiveRow) *int { return &r.Lesson }),
	table.Int("episode", func(r *ObjectiveRow) *int { return &r.Episode }),
	table.Float("objective", func(r *ObjectiveRow) *float64 { return &r.Objective }),
}

var trainingColumns = []table.Column[TrainingRow]{
	table.Text("adaptation", func(r *TrainingRow) *string { return &r.Adaptation }),
	table.Text("controller", func(r *TrainingRow) *string { return &r.Controller }),
	table.Text("scenario", func(r *TrainingRow) *string { return &r.Scenario }),
	table.Int("seed", func(r *TrainingRow) *int { return &r.Seed }),
	table.Text("learned_on", func(r *TrainingRow) *string { return &r.LearnedOn }),
	table.Int("episodes", func(r *TrainingRow) *int { return &r.Episodes }),
	table.Seconds("seconds", func(r *TrainingRow) *float64 { return &r.Seconds }),
	table.Precise("seconds_a_decision", func(r *TrainingRow) *float64 { return &r.Deciding }),
}

// Adaptations are all tables of controllers that deepen networks.
type Adaptations struct {
	Ranking []RankingRow // on tables
	Choices []ChoiceRow
	// RealRanking and RealChoices are of controllers that decided in real training; they
	// stand behind the others in the same files.
	RealRanking []RankingRow
	RealChoices []ChoiceRow

	Sequences  []SequenceRow
	Objectives []ObjectiveRow
	Trainings  []TrainingRow
	// Courses has a row for each real training.
	Courses []CourseRow
}

// WriteAdaptations writes the tables; those without rows are removed.
func WriteAdaptations(dir string, a Adaptations) error {
	at := func(name string) string { return filepath.Join(dir, name) }
	return errors.Join(
		table.WriteOrRemove(at(RankingFile), rankingColumns, slices.Concat(a.Ranking, a.RealRanking)),
		table.WriteOrRemove(at(ChoicesFile), choiceColumns, slices.Concat(a.Choices, a.RealChoices)),
		table.WriteOrRemove(at(SequencesFile), sequenceColumns, a.Sequences),
		table.WriteOrRemove(at(ObjectiveFile), objectiveColumns, a.Objectives),
		table.WriteOrRemove(at(CoursesFile), courseColumns, a.Courses),
		table.WriteOrRemove(at(TrainingFile), trainingColumns, a.Trainings),
	)
}

// Adaptations reads the tables; no rows without them.
func (e *Experiment) Adaptations() (a Adaptations, err error) {
	err = errors.Join(
		read(e.Dir, RankingFile, rankingColumns, &a.Ranking), read(e.Dir, ChoicesFile, choiceColumns, &a.Choices),
		read(e.Dir, SequencesFile, sequenceColumns, &a.Sequences), read(e.Dir, ObjectiveFile, objectiveColumns,
			&a.Objectives),
		read(e.Dir, CoursesFile, courseColumns, &a.Courses), read(e.Dir, TrainingFile, trainingColumns, &a.Trainings),
	)
	a.Ranking, a.RealRanking = table.Divide(a.Ranking, func(r RankingRow) bool { return r.Where == InTraining })
	a.Choices, a.RealChoices = table.Divide(a.Choices, func(r ChoiceRow) bool { return r.Where == InTraining })
	return a, err
}

// read reads the rows of a table; none without it.
func read[T any](dir, file string, columns []table.Column[T], rows *[]T) (err error) {
	*rows, err = table.ReadAll(dir, file, columns)
	return err
}

// MarshalJSON writes the columns of ranking.csv; what is not known is null.
func (r RankingRow) MarshalJSON() ([]byte, error) { return table.MarshalRow(rankingColumns, &r) }
