package tracking

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

var _ = formats.Add(Format{
	Rank: 2, Name: "mlflow", Title: "MLflow", Folder: "mlruns",
	Doc: `Each cell is a run, below one of the whole experiment, which has the report, the tables
and the pictures as artifacts. Parameters are the axes; metrics have the curves.`,
	Open:  "MLFLOW_ALLOW_FILE_STORE=true mlflow ui --backend-store-uri %s",
	Write: mlflow,
})

// The states of MLflow's runs (mlflow/entities/run_status.py).
const (
	runFinished = 3
	runFailed   = 4
)

// store is a folder of MLflow's file store (mlflow/store/tracking/file_store.py) that is written.
type store struct {
	*record.Experiment
	dir        string // absolute
	experiment string // its id
	begin      float64
}

// mlflow writes an experiment into a file store, in place of an earlier export of it.
func mlflow(e *record.Experiment, dir string) (int, error) {
	if err := folder.MkdirAll(dir, 0o755); err != nil {
		return 0, err
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return 0, err
	}
	folder.Enclose(abs)
	s := store{Experiment: e, dir: abs, begin: started(e)}
	if err := s.open(); err != nil {
		return 0, err
	}
	pictures, err := e.Pictures()
	if err != nil {
		return 0, err
	}
	whole, err := s.whole(pictures)
	if err != nil {
		return 0, err
	}
	cells := runs(e)
	for i := range cells {
		if err := s.cell(&cells[i], whole, pictures); err != nil {
			return i, err
		}
	}
	return len(cells), nil
}

// madeBy is the tag of the experiments and runs that we wrote.
const madeBy = "tfexp.version"

// open finds the experiment of that name in the store, and removes our earlier runs in it; or it makes one.
func (s *store) open() error {
	entries, err := folder.ReadDir(s.dir)
	if err != nil {
		return err
	}
	quoted := yamlText(s.Plan.Experiment)
	for _, d := range entries {
		raw, err := folder.ReadFile(s.dir, d.Name(), "meta.yaml")
		if err != nil {
			continue // no experiment
		}
		for line := range strings.Lines(string(raw)) {
			name, found := strings.CutPrefix(strings.TrimSpace(line), "name: ")
			if found && (name == quoted || name == s.Plan.Experiment) {
				s.experiment = d.Name()
				return s.clear()
			}
		}
	}
	hash := sha256.Sum256([]byte(s.Plan.Experiment))
	s.experiment = strconv.FormatUint(1e17+binary.BigEndian.Uint64(hash[:])%9e17, 10) // 18 digits, as MLflow's own
	return s.write("meta.yaml", yaml(
		"artifact_location", yamlText(s.uri("")), "creation_time", s.millis(0), "experiment_id", yamlText(s.experiment),
		"last_update_time", s.millis(0), "lifecycle_stage", "active", "name", quoted))
}

// clear removes our runs.
func (s *store) clear() error {
	entries, err := folder.ReadDir(filepath.Join(s.dir, s.experiment))
	if err != nil {
		return err
	}
	for _, d := range entries {
		run := filepath.Join(s.experiment, d.Name())
		if _, err := folder.Stat(s.dir, run, "tags", madeBy); err == nil {
			if err := folder.RemoveAll(filepath.Join(s.dir, run)); err != nil {
				return err
			}
		}
	}
	return nil
}

// whole writes the run of the whole experiment, and returns its id.
func (s *store) whole(pictures []record.Picture) (string, error) {
	id := s.id("")
	tags := append(s.tags(s.Plan.Experiment), record.Setting{Name: "mlflow.note.content", Value: s.Plan.Description})
	if err := s.run(id, s.Plan.Experiment, runFinished, 0, s.Plan.Variables, tags); err != nil {
		return "", err
	}
	name, _, err := s.Source()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	files := []string{name, record.ReportFile, record.Metrics.File, record.Comparisons.File, record.RunFile}
	for _, p := range pictures {
		if p.Cell == "" {
			files = append(files, p.SVG, p.PNG)
		}
	}
	return id, s.artifacts(id, files)
}

// cell writes the run of a cell, below the run of the whole experiment.
func (s *store) cell(c *record.Cell, whole string, pictures []record.Picture) error {
	id := s.id(c.Cell)
	settings := append(params(c.CellRef), record.Setting{Name: "replicate", Value: strconv.Itoa(c.Replicate)},
		record.Setting{Name: "seed", Value: strconv.FormatInt(c.Seed, 10)})
	tags := append(s.tags(c.Cell), record.Setting{Name: "mlflow.parentRunId", Value: whole},
		record.Setting{Name: "variant", Value: c.Variant()})
	state := runFinished
	if c.State == record.CellFailed {
		state = runFailed
	}
	if err := s.run(id, c.Cell, state, c.Seconds, settings, tags); err != nil {
		return err
	}
	for _, v := range values(c) {
		if err := s.metric(id, Curve{v.name, []Point{{At: c.Seconds, Value: v.value}}}); err != nil {
			return err
		}
	}
	lines, err := curves(s.Experiment, c.CellRef)
	if err != nil {
		return err
	}
	for _, curve := range lines {
		if err := s.metric(id, curve); err != nil {
			return err
		}
	}
	var files []string
	for _, p := range pictures {
		if p.Cell == c.Cell {
			files = append(files, p.SVG, p.PNG)
		}
	}
	return s.artifacts(id, files)
}

// tags returns the tags that MLflow shows for every run, and ours.
func (s *store) tags(name string) []record.Setting {
	return []record.Setting{{Name: "mlflow.runName", Value: name}, {Name: "mlflow.source.name", Value: s.Run.File},
		{Name: "mlflow.source.type", Value: "LOCAL"}, {Name: "mlflow.source.git.commit", Value: s.Run.Git},
		{Name: madeBy, Value: s.Run.Version}}
}

// run writes a run without its metrics and artifacts; seconds is how long it took.
func (s *store) run(id, name string, state int, seconds float64, params, tags []record.Setting) error {
	meta := yaml("artifact_uri", yamlText(s.uri(id+"/artifacts")), "end_time", s.millis(seconds), "entry_point_name", "''",
		"experiment_id", yamlText(s.experiment), "lifecycle_stage", "active", "run_id", id, "run_name", yamlText(name),
		"run_uuid", id, "source_name", "''", "source_type", "4", "source_version", "''", "start_time", s.millis(0),
		"status", strconv.Itoa(state), "tags", "[]", "user_id", "''")
	if err := s.write(filepath.Join(id, "meta.yaml"), meta); err != nil {
		return err
	}
	for _, below := range []string{"metrics", "params", "artifacts"} {
		if err := folder.MkdirAll(filepath.Join(s.dir, s.experiment, id, below), 0o755); err != nil {
			return err
		}
	}
	for below, settings := range map[string][]record.Setting{"params": params, "tags": tags} {
		for _, p := range settings {
			if err := s.write(filepath.Join(id, below, key(p.Name)), p.Value); err != nil {
				return err
			}
		}
	}
	return nil
}

// metric writes the points of a metric of a run, a line each: when, in milliseconds since 1970, the value, and the
// step.
func (s *store) metric(id string, c Curve) error {
	var b strings.Builder
	for _, p := range c.Points {
		fmt.Fprintf(&b, "%s %s %d\n", s.millis(p.At), record.Number(p.Value), p.Step)
	}
	return s.write(filepath.Join(id, "metrics", filepath.FromSlash(key(c.Name))), b.String())
}

// artifacts copies the existing ones of some files in the experiment's folder.
func (s *store) artifacts(id string, files []string) error {
	for _, name := range files {
		if name == "" {
			continue
		}
		raw, err := folder.ReadFile(s.Dir, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if err := s.write(filepath.Join(id, "artifacts", name), string(raw)); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file of the experiment.
func (s *store) write(name, content string) error {
	name = filepath.Join(s.dir, s.experiment, name)
	if err := folder.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return folder.WriteFile(name, []byte(content), 0o644)
}

// id is the id of the run of a cell; of the whole experiment for an empty one. It is always the same.
func (s *store) id(cell string) string {
	hash := sha256.Sum256([]byte(s.Plan.Experiment + "\x00" + cell))
	return hex.EncodeToString(hash[:16])
}

// uri is the address of a folder below the experiment's.
func (s *store) uri(below string) string {
	path := filepath.ToSlash(filepath.Join(s.dir, s.experiment, below))
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// millis is an instant in seconds after the start of the run as MLflow writes it.
func (s *store) millis(at float64) string { return strconv.FormatInt(int64((s.begin+at)*1000), 10) }

// key is a name that MLflow takes: letters, digits, and a few signs.
func key(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_-./ ", r):
			return r
		}
		return '_'
	}, name)
}

// yaml is a file of names with values that are YAML already.
func yaml(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "%s: %s\n", pairs[i], pairs[i+1])
	}
	return b.String()
}

// yamlText is a text in quotes, which YAML shares with JSON.
func yamlText(s string) string {
	raw, _ := json.Marshal(s) // a string has a form in JSON
	return string(raw)
}
