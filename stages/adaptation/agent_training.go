package adaptation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
)

const learnStage = "learn"

var _ = stages.Register(&stages.Stage{
	Name:      learnStage,
	Reads:     []stages.Artifact{tablesTrained},
	Writes:    []stages.Artifact{agentsLearned},
	Files:     []string{AgentsDir},
	OutputKey: leftAgents,
	Pieces: &stages.PieceStore{
		Title: "agents", Noun: "agent training", Earlier: "trained earlier", List: listAgents, Find: findAgent,
	},
	Run: learnAll,
})

// The files of an agent's training. Their folder is named by the training's key.
const (
	weightsFile    = "weights"
	checkpointFile = "checkpoint"
	spentFile      = "training.json"
)

// between is the least time between two checkpoints of an agent.
const between = time.Second

// trainingCost is the content of training.json: the time that a training took.
type trainingCost struct {
	Episodes int     `json:"episodes"`
	Seconds  float64 `json:"seconds"`
}

// leftAgents returns the lines of the stage's key: the keys of the agents' weights.
func leftAgents(r *stages.Run) ([]stages.KeyLine, error) {
	var lines []stages.KeyLine
	for _, level := range trainings(r.Dir, r.Experiment) {
		for _, t := range level {
			lines = append(lines, stages.KeyLine{Label: "agent", Value: hash(t)})
		}
	}
	return lines, nil
}

// listAgents returns a piece of work for each training, in an order in which they can run.
func listAgents(p stages.Planning) ([]stages.Piece, error) {
	var pieces []stages.Piece
	for _, level := range trainings(p.Dir, p.Experiment) {
		for _, t := range level {
			pieces = append(pieces, piece(t))
		}
	}
	return pieces, nil
}

func piece(t deepening.Training) stages.Piece {
	last := t.Lessons[len(t.Lessons)-1]
	return stages.Piece{
		Name: title(t), Key: description(t), Count: 1,
		Text:    fmt.Sprintf("%d episodes on %s", last.Settings.Episodes, strings.Join(last.Scenarios, ", ")),
		Details: details{last.Settings.Episodes, t.Seed, t.LearnedOn()},
	}
}

// details describes a training in the output of plan --json.
type details struct {
	Episodes  int    `json:"episodes"` // of the last lesson
	Seed      int    `json:"seed"`
	LearnedOn string `json:"learned_on"`
}

// title names a training in plans, such as "early then late (seed 2)".
func title(t deepening.Training) string { return fmt.Sprintf("%s (seed %d)", t.LearnedOn(), t.Seed) }

// findAgent reports whether the files of an agent's weights exist. The cache alone does not suffice.
func findAgent(p stages.Planning, piece stages.Piece, _ []byte) bool {
	_, _, err := readAgent(p.Dir, piece.Key)
	return err == nil
}

// trainings returns the trainings that agents need, each once, by number of lessons. A training at one level continues
// a training of the level before.
func trainings(dir string, x stages.Experiment) [][]deepening.Training {
	var levels [][]deepening.Training
	seen := map[string]bool{}
	var add func(deepening.Training)
	add = func(t deepening.Training) {
		if before, ok := t.Before(); ok {
			add(before)
		}
		if h := hash(t); !seen[h] {
			seen[h] = true
			for len(levels) < len(t.Lessons) {
				levels = append(levels, nil)
			}
			levels[len(t.Lessons)-1] = append(levels[len(t.Lessons)-1], t)
		}
	}
	for _, s := range studies(dir, x) {
		for _, c := range s.Controllers {
			if c.Learn == nil {
				continue
			}
			for _, scenario := range s.Tables {
				for seed := 1; seed <= s.Seeds; seed++ {
					add(s.Training(c, scenario.Name, seed))
				}
			}
		}
	}
	return levels
}

func description(t deepening.Training) string { return strings.Join(t.Lines(), "\n") + "\n" }

func hash(t deepening.Training) string { return hashOf(description(t)) }

func hashOf(description string) string {
	sum := sha256.Sum256([]byte(description))
	return hex.EncodeToString(sum[:8])
}

func agentDir(dir, description string) string {
	return filepath.Join(dir, AgentsDir, hashOf(description))
}

// ReadWeights reads an agent's weights from the folder of an experiment, and returns the seconds that its training
// took.
func ReadWeights(dir string, t deepening.Training) (*deepening.Learner, float64, error) {
	return readAgent(dir, description(t))
}

func readAgent(dir, description string) (*deepening.Learner, float64, error) {
	at := agentDir(dir, description)
	raw, err := folder.ReadFile(at, keyFile)
	if err == nil && string(raw) != description {
		err = fmt.Errorf("%s has the weights of another agent: %w", at, fs.ErrNotExist)
	}
	if err != nil {
		return nil, 0, err
	}
	if raw, err = folder.ReadFile(at, weightsFile); err != nil {
		return nil, 0, err
	}
	l, err := deepening.LoadLearner(raw)
	if err != nil {
		return nil, 0, err
	}
	return l, readSpent(at).Seconds, nil
}

// readSpent reads the cost of a training; zero if its file does not exist.
func readSpent(at string) (s trainingCost) {
	if raw, err := folder.ReadFile(at, spentFile); err == nil {
		_ = json.Unmarshal(raw, &s)
	}
	return s
}

// learnAll trains all agents whose weights do not exist, several at the same time.
func learnAll(ctx context.Context, r *stages.Run) error {
	levels := trainings(r.Dir, r.Experiment)
	var missing [][]deepening.Training
	total, there := 0, 0
	for _, level := range levels {
		var lack []deepening.Training
		for _, t := range level {
			if _, _, err := ReadWeights(r.Dir, t); err == nil {
				there++
				continue
			}
			lack = append(lack, t)
		}
		missing = append(missing, lack)
		total += len(level)
	}
	if total == there {
		return nil
	}
	began := time.Now()
	r.Observe(stages.Progress{Kind: stages.StageStart, Stage: learnStage, Total: total, Done: there, Reused: there})
	var done atomic.Int64
	done.Store(int64(there))
	err := func() error {
		for _, level := range missing {
			g, ctx := errgroup.WithContext(ctx)
			g.SetLimit(parallel(r))
			for _, t := range level {
				g.Go(func() error {
					began := time.Now()
					if err := trainAgent(ctx, r, t); err != nil {
						return err
					}
					r.Observe(stages.Progress{
						Kind: stages.UnitEnd, Stage: learnStage, Unit: title(t),
						Done: int(done.Add(1)), Total: total, Reused: there, Elapsed: time.Since(began),
					})
					return nil
				})
			}
			if err := g.Wait(); err != nil {
				return err
			}
		}
		return nil
	}()
	r.Observe(stages.Progress{
		Kind: stages.StageEnd, Stage: learnStage, Done: int(done.Load()), Total: total, Reused: there,
		Elapsed: time.Since(began), Err: err,
	})
	return err
}

func parallel(r *stages.Run) int {
	if r.Parallel > 0 {
		return r.Parallel
	}
	return runtime.GOMAXPROCS(0)
}

// trainAgent trains one agent, and continues from its checkpoint if it exists.
func trainAgent(ctx context.Context, r *stages.Run, t deepening.Training) error {
	at := agentDir(r.Dir, description(t))
	if err := folder.MkdirAll(at, 0o755); err != nil {
		return fmt.Errorf("train an agent: %w", err)
	}
	l, cost, err := beginAgent(r.Dir, at, t)
	if err != nil {
		return fmt.Errorf("train an agent: %w", err)
	}
	tables := t.Tables()
	started, saved := time.Now(), time.Now()
	now := func() trainingCost { return trainingCost{l.Episodes, cost.Seconds + time.Since(started).Seconds()} }
	for !l.Done() {
		if ctx.Err() != nil || time.Since(saved) > between {
			if err := save(at, checkpointFile, l, now()); err != nil {
				return err
			}
			saved = time.Now()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		l.Step(tables)
	}
	l.M, l.V = nil, nil // the moments are needed only while the agent learns
	if err := save(at, weightsFile, l, now()); err != nil {
		return err
	}
	if err := r.KeepPiece(learnStage, piece(t), []byte(hash(t)), now().Seconds); err != nil {
		return err
	}
	if err := folder.Remove(filepath.Join(at, checkpointFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("train an agent: %w", err)
	}
	return nil
}

// beginAgent returns the learner of a checkpoint, or a new one.
func beginAgent(dir, at string, t deepening.Training) (*deepening.Learner, trainingCost, error) {
	text := description(t)
	if raw, err := folder.ReadFile(at, keyFile); err == nil && string(raw) == text {
		if raw, err := folder.ReadFile(at, checkpointFile); err == nil {
			if l, err := deepening.LoadLearner(raw); err == nil { // an incomplete checkpoint counts as none
				return l, readSpent(at), nil
			}
		}
	}
	if err := folder.Write(filepath.Join(at, keyFile), []byte(text), 0o644); err != nil {
		return nil, trainingCost{}, err
	}
	before, ok := t.Before()
	if !ok {
		return t.Begin(nil), trainingCost{}, nil
	}
	l, _, err := ReadWeights(dir, before)
	if err != nil {
		return nil, trainingCost{}, err
	}
	return t.Begin(l), trainingCost{}, nil
}

// save writes a learner and the cost of its training so far.
func save(at, file string, l *deepening.Learner, cost trainingCost) error {
	raw, err := l.Save()
	if err != nil {
		return err
	}
	costs, err := json.Marshal(cost)
	if err != nil {
		return fmt.Errorf("save the agent: %w", err)
	}
	err = errors.Join(folder.Write(filepath.Join(at, file), raw, 0o644),
		folder.Write(filepath.Join(at, spentFile), append(costs, '\n'), 0o644))
	if err != nil {
		return fmt.Errorf("save the agent: %w", err)
	}
	return nil
}
