package adaptation

import (
	"errors"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
)

// The files of controllers that deepen networks.
const (
	AgentsDir    = "agents"    // the weights of agents, by their keys
	TrainingsDir = "trainings" // real trainings, a folder each, like a cell's
	TableFile    = "table.csv" // of all sequences, as real training made it
)

// The tables of controllers that deepen networks.
var (
	Ranking   = table.Register[RankingRow]("ranking.csv", nil)
	Choices   = table.Register[ChoiceRow]("choices.csv", nil)
	Sequences = table.Register[SequenceRow]("sequences.csv", nil)
	Lessons   = table.Register[ObjectiveRow]("objectives.csv", nil)
	Trainings = table.Register[TrainingRow]("training.csv", nil)
	Courses   = table.Register[CourseRow]("courses.csv", nil)
)

// RankingRow is the result of a controller in a scenario, over its seeds.
type RankingRow struct {
	Adaptation string `csv:"adaptation"`
	Controller string `csv:"controller"`
	Kind       string `csv:"kind"`
	Scenario   string `csv:"scenario"`
	// Knew is set when it learned or tried in this scenario before, or reads facts
	// that no controller can know.
	Knew  bool `csv:"known_scenario"`
	Seeds int  `csv:"seeds"`
	// Sequence is the sequence of the first seed; Sequences counts the different ones.
	Sequence  string `csv:"sequence"`
	Sequences int    `csv:"different_sequences"`
	// Accuracy and Regret are means, Rank is the median among Of sequences.
	Accuracy   float64 `csv:"accuracy"`
	Regret     float64 `csv:"regret"`
	RegretLow  float64 `csv:"regret_low"`
	RegretHigh float64 `csv:"regret_high"`
	Rank       float64 `csv:"median_rank"`
	BestRank   int     `csv:"best_rank"`
	WorstRank  int     `csv:"worst_rank"`
	Of         int     `csv:"of_sequences"`
	// Runs is the mean number of trainings that it used before it decided.
	Runs float64 `csv:"runs"`
	// Where is the place where it decided: OnTable or InTraining. In real training,
	// Recorded is the mean accuracy of the same sequences in the table, and Fidelity the
	// accuracy minus that; NaN without one.
	Where    string  `csv:"where"`
	Recorded float64 `csv:"table_accuracy"`
	Fidelity float64 `csv:"fidelity"`
}

// Where controllers decide.
const (
	OnTable    = "table"
	InTraining = "real"
)

// ChoiceRow is one decision.
type ChoiceRow struct {
	Adaptation string  `csv:"adaptation"`
	Controller string  `csv:"controller"`
	Scenario   string  `csv:"scenario"`
	Seed       int     `csv:"seed"`
	Decision   int     `csv:"decision"`
	TimeLeft   float64 `csv:"time_left_s,time"`
	// State lists the layers of the network: "0 0+ 1 2" has one more in block 0.
	State         string `csv:"layers"`
	Probabilities string `csv:"probabilities"`
	Action        int    `csv:"action"`
	// Before and After are the accuracies before and after the decision; NaN on
	// recorded tables, which do not have them. ExpectedBefore and ExpectedAfter are
	// the mean final accuracies of all sequences that go on so.
	Before         float64 `csv:"accuracy_before"`
	After          float64 `csv:"accuracy_after"`
	ExpectedBefore float64 `csv:"expected_before"`
	ExpectedAfter  float64 `csv:"expected_after"`
	// Accuracy is the final one.
	Accuracy float64 `csv:"accuracy"`
	Where    string  `csv:"where"` // as in RankingRow
}

// SequenceRow is a constant sequence in a scenario.
type SequenceRow struct {
	Adaptation string  `csv:"adaptation"`
	Scenario   string  `csv:"scenario"`
	Sequence   string  `csv:"sequence"`
	Accuracy   float64 `csv:"accuracy"`
	Regret     float64 `csv:"regret"`
	Rank       int     `csv:"rank"`
	// Times are the seconds that are used at each decision and at the end.
	Times []float64 `csv:"times"`
	// Expected are the mean final accuracies of all sequences that begin so, at the
	// start and after each decision.
	Expected []float64 `csv:"expected"`
}

// Actions returns the actions of the sequence.
func (r *SequenceRow) Actions() []string { return strings.Fields(r.Sequence) }

// ObjectiveRow is the mean reward of an agent's episodes around one of them, counted
// through all of its lessons.
type ObjectiveRow struct {
	Adaptation string  `csv:"adaptation"`
	Controller string  `csv:"controller"`
	LearnedOn  string  `csv:"learned_on"`
	Seed       int     `csv:"seed"`
	Lesson     int     `csv:"lesson"`
	Episode    int     `csv:"episode"`
	Objective  float64 `csv:"objective"`
}

// TrainingRow is how long a controller took on this machine: an agent to learn,
// and any controller to decide, in the mean over decisions.
type TrainingRow struct {
	Adaptation string  `csv:"adaptation"`
	Controller string  `csv:"controller"`
	Scenario   string  `csv:"scenario"`
	Seed       int     `csv:"seed"`
	LearnedOn  string  `csv:"learned_on"`
	Episodes   int     `csv:"episodes"`
	Seconds    float64 `csv:"seconds,time"`
	Deciding   float64 `csv:"seconds_a_decision,precise"`
}

// CourseRow is the course of one real training.
type CourseRow = deepening.RealTraining

// Tables are all tables of controllers that deepen networks.
type Tables struct {
	Ranking []RankingRow // on tables
	Choices []ChoiceRow
	// RealRanking and RealChoices are of controllers that decided in real training; they
	// follow the others in the same files.
	RealRanking []RankingRow
	RealChoices []ChoiceRow

	Sequences  []SequenceRow
	Objectives []ObjectiveRow
	Trainings  []TrainingRow
	// Courses has a row for each real training.
	Courses []CourseRow
}

// Write writes the tables into a folder; tables without rows are removed.
func (a Tables) Write(dir string) error {
	return errors.Join(
		Ranking.Replace(dir, slices.Concat(a.Ranking, a.RealRanking)), Choices.Replace(dir, slices.Concat(a.Choices,
			a.RealChoices)),
		Sequences.Replace(dir, a.Sequences), Lessons.Replace(dir, a.Objectives), Courses.Replace(dir, a.Courses),
		Trainings.Replace(dir, a.Trainings))
}

// ReadTables reads the tables of a folder; no rows without them.
func ReadTables(dir string) (a Tables, err error) {
	err = errors.Join(read(dir, Ranking, &a.Ranking), read(dir, Choices, &a.Choices), read(dir, Sequences,
		&a.Sequences),
		read(dir, Lessons, &a.Objectives), read(dir, Courses, &a.Courses), read(dir, Trainings, &a.Trainings))
	a.Ranking, a.RealRanking = divide(a.Ranking, func(r RankingRow) bool { return r.Where == InTraining })
	a.Choices, a.RealChoices = divide(a.Choices, func(r ChoiceRow) bool { return r.Where == InTraining })
	return a, err
}

// read reads the rows of a table; none without it.
func read[T any](dir string, kind *table.Schema[T], rows *[]T) (err error) {
	*rows, err = kind.Read(dir)
	return err
}

// divide divides rows by a condition, in their order: rows without it, and rows with it.
func divide[T any](rows []T, is func(T) bool) (no, yes []T) {
	for _, r := range rows {
		if is(r) {
			yes = append(yes, r)
		} else {
			no = append(no, r)
		}
	}
	return no, yes
}

// MarshalJSON writes the columns of ranking.csv; unknown values are null.
func (r RankingRow) MarshalJSON() ([]byte, error) { return Ranking.Marshal(&r) }
