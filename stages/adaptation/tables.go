package adaptation

import (
	"errors"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
)

// The files and folders with results of adaptations.
const (
	AgentsDir    = "agents"    // weights of agents; a folder for each key
	TrainingsDir = "trainings" // real trainings; a folder each, like a cell's
	TableFile    = "table.csv" // accuracies of all sequences in real training
)

// The tables with results of adaptations.
var (
	Ranking   = table.Register[RankingRow]("ranking.csv", nil)
	Choices   = table.Register[ChoiceRow]("choices.csv", nil)
	Sequences = table.Register[SequenceRow]("sequences.csv", nil)
	Lessons   = table.Register[ObjectiveRow]("objectives.csv", nil)
	Trainings = table.Register[TrainingRow]("training.csv", nil)
	Courses   = table.Register[CourseRow]("courses.csv", nil)
)

// RankingRow is the result of a controller in a scenario, over all seeds.
type RankingRow struct {
	Adaptation string `csv:"adaptation"`
	Controller string `csv:"controller"`
	Kind       string `csv:"kind"`
	Scenario   string `csv:"scenario"`
	// Knew reports whether the controller learned or tried sequences in this scenario, or reads data that are unknown
	// until the end.
	Knew  bool `csv:"known_scenario"`
	Seeds int  `csv:"seeds"`
	// Sequence is the sequence taken with the first seed. Sequences is the number of different sequences over all
	// seeds.
	Sequence  string `csv:"sequence"`
	Sequences int    `csv:"different_sequences"`
	// Accuracy and Regret are means over the seeds. Rank is the median rank among Of sequences.
	Accuracy   float64 `csv:"accuracy"`
	Regret     float64 `csv:"regret"`
	RegretLow  float64 `csv:"regret_low"`
	RegretHigh float64 `csv:"regret_high"`
	Rank       float64 `csv:"median_rank"`
	BestRank   int     `csv:"best_rank"`
	WorstRank  int     `csv:"worst_rank"`
	Of         int     `csv:"of_sequences"`
	// Runs is the mean number of trainings that the controller used before it decided.
	Runs float64 `csv:"runs"`
	// Where is OnTable or InTraining. In real training, Recorded is the mean accuracy that the table has for the same
	// sequences, and Fidelity is Accuracy − Recorded. Both are NaN without a table.
	Where    string  `csv:"where"`
	Recorded float64 `csv:"table_accuracy"`
	Fidelity float64 `csv:"fidelity"`
}

// Where controllers decide: on a table, or during a real training.
const (
	OnTable    = "table"
	InTraining = "real"
)

// ChoiceRow is one decision of a controller.
type ChoiceRow struct {
	Adaptation string  `csv:"adaptation"`
	Controller string  `csv:"controller"`
	Scenario   string  `csv:"scenario"`
	Seed       int     `csv:"seed"`
	Decision   int     `csv:"decision"`
	TimeLeft   float64 `csv:"time_left_s,time"`
	// State is the layers of the network: "0 0+ 1 2" has one more layer in block 0.
	State         string `csv:"layers"`
	Probabilities string `csv:"probabilities"`
	Action        int    `csv:"action"`
	// Before and After are the accuracies before and after the decision; NaN on tables, which lack them. ExpectedBefore
	// and ExpectedAfter are the mean final accuracies of all sequences that begin with the actions so far.
	Before         float64 `csv:"accuracy_before"`
	After          float64 `csv:"accuracy_after"`
	ExpectedBefore float64 `csv:"expected_before"`
	ExpectedAfter  float64 `csv:"expected_after"`
	// Accuracy is the final accuracy.
	Accuracy float64 `csv:"accuracy"`
	Where    string  `csv:"where"` // as in RankingRow
}

// SequenceRow is the result of a constant sequence in a scenario.
type SequenceRow struct {
	Adaptation string  `csv:"adaptation"`
	Scenario   string  `csv:"scenario"`
	Sequence   string  `csv:"sequence"`
	Accuracy   float64 `csv:"accuracy"`
	Regret     float64 `csv:"regret"`
	Rank       int     `csv:"rank"`
	// Times are the used parts of the budget in seconds, at each decision and at the end.
	Times []float64 `csv:"times"`
	// Expected has the mean final accuracies of all sequences with the same first actions: before the first decision,
	// and after each.
	Expected []float64 `csv:"expected"`
}

// Actions returns the actions of the sequence.
func (r *SequenceRow) Actions() []string { return strings.Fields(r.Sequence) }

// ObjectiveRow is the mean reward of an agent around one episode. Episodes are numbered through all of its lessons.
type ObjectiveRow struct {
	Adaptation string  `csv:"adaptation"`
	Controller string  `csv:"controller"`
	LearnedOn  string  `csv:"learned_on"`
	Seed       int     `csv:"seed"`
	Lesson     int     `csv:"lesson"`
	Episode    int     `csv:"episode"`
	Objective  float64 `csv:"objective"`
}

// TrainingRow has the seconds that an agent took to learn, and the mean seconds that any controller took for a
// decision, on this machine.
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

// Tables has the rows of all tables.
type Tables struct {
	Ranking []RankingRow // of decisions on tables
	Choices []ChoiceRow
	// RealRanking and RealChoices are rows of controllers that decided in real training. In the files, they follow the
	// other rows.
	RealRanking []RankingRow
	RealChoices []ChoiceRow

	Sequences  []SequenceRow
	Objectives []ObjectiveRow
	Trainings  []TrainingRow
	// Courses has a row for each real training.
	Courses []CourseRow
}

// Write writes the tables into a folder. It removes the files of tables without rows.
func (a Tables) Write(dir string) error {
	return errors.Join(
		Ranking.Replace(dir, slices.Concat(a.Ranking, a.RealRanking)), Choices.Replace(dir, slices.Concat(a.Choices,
			a.RealChoices)),
		Sequences.Replace(dir, a.Sequences), Lessons.Replace(dir, a.Objectives), Courses.Replace(dir, a.Courses),
		Trainings.Replace(dir, a.Trainings))
}

// ReadTables reads the tables of a folder. A missing file has no rows.
func ReadTables(dir string) (a Tables, err error) {
	err = errors.Join(read(dir, Ranking, &a.Ranking), read(dir, Choices, &a.Choices), read(dir, Sequences,
		&a.Sequences),
		read(dir, Lessons, &a.Objectives), read(dir, Courses, &a.Courses), read(dir, Trainings, &a.Trainings))
	a.Ranking, a.RealRanking = divide(a.Ranking, func(r RankingRow) bool { return r.Where == InTraining })
	a.Choices, a.RealChoices = divide(a.Choices, func(r ChoiceRow) bool { return r.Where == InTraining })
	return a, err
}

// read reads the rows of a table; no rows if the file does not exist.
func read[T any](dir string, kind *table.Schema[T], rows *[]T) (err error) {
	*rows, err = kind.Read(dir)
	return err
}

// divide divides rows by a condition: first the rows for which it is false, then the others. Each part
// keeps their order.
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

// MarshalJSON returns the columns of ranking.csv as JSON; unknown values are null.
func (r RankingRow) MarshalJSON() ([]byte, error) { return Ranking.Marshal(&r) }
