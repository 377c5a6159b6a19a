package search

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// fromResults imports the trials of another experiment with the same settings, in which each trial was a separate job.
// It returns false if from is not a folder.
func (d decoder) fromResults(a *eval.Args, t *tune, from language.Input) bool {
	if info, err := os.Stat(from.Path); err != nil || !info.IsDir() {
		return false
	}
	at := a.Node.Attr("warm_start").Expr.Range()
	e, err := record.Open(from.Path)
	if err != nil {
		a.Fail(at, "Results that cannot be read", "%s is not a folder of an experiment's results: %v.", from.Shown, err)
		return true
	}
	names := schema.Each(t.Settings, func(s trial.TunedSetting) string { return s.Name })
	others := 0
	for _, c := range trial.Cells(e) {
		if c.Outcome == nil || trial.Asked.Of(&e.Plan)[c.Trial.Tuning].Mode != "" {
			continue
		}
		one := trial.Imported{Outcome: *c.Outcome}
		for _, name := range names {
			if k := slices.IndexFunc(c.Trial.Settings, func(s record.Setting) bool { return s.Name == name }); k >= 0 {
				one.Settings = append(one.Settings, c.Trial.Settings[k])
			}
		}
		if len(one.Settings) != len(names) || len(c.Trial.Settings) != len(names) || !inValues(t, one.Settings) {
			others++
			continue
		}
		t.Imported = append(t.Imported, one)
	}
	if len(t.Imported) == 0 {
		a.Fail(at, "Trials of other settings", "%s has %s, but none has the settings %s.", from.Shown,
			schema.Plural(others, "trial"), strings.Join(names, ", "))
		return true
	}
	raw, err := json.Marshal(t.Imported)
	if err != nil {
		a.Fail(at, "Results that cannot be read", "%s: %v.", from.Shown, err)
		return true
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "trials %s", raw))
	t.WarmStart = hex.EncodeToString(sum[:])
	return true
}

// inValues reports whether all values of the settings are values that the search allows.
func inValues(t *tune, settings []record.Setting) bool {
	for i, s := range t.Settings {
		if len(s.Values) > 0 && !s.Numeric && !slices.Contains(s.Values, settings[i].Value) {
			return false
		}
	}
	return true
}

// warmStart imports trials that were made elsewhere: from a table, or from an experiment's results.
func (d decoder) warmStart(a *eval.Args, name string, t *tune) {
	from, at := d.Find(name), a.Node.Attr("warm_start").Expr.Range()
	if d.fromResults(a, t, from) {
		return
	}
	column := map[string]int{}
	if digest, ok := datafile.EachRow(d.Decoder, a, at, from, nil, func(head []string) error {
		for i, name := range head {
			if _, twice := column[name]; twice && name != "" {
				return fmt.Errorf("there are two columns %q: leave one out", name)
			}
			column[name] = i
		}
		for _, s := range t.Settings {
			if _, ok := column[s.Name]; !ok {
				near := schema.Nearest(s.Name, head)
				if near != "" {
					near = fmt.Sprintf(" (is %q meant?)", near)
				}
				return fmt.Errorf("there is no column for the setting %q%s", s.Name, near)
			}
		}
		if _, ok := column["time_s"]; !ok {
			return fmt.Errorf("there is no column time_s")
		}
		return nil
	}, func(_ int, row []string) error {
		one, err := importedTrial(t, column, row)
		if err == nil {
			t.Imported = append(t.Imported, one)
		}
		return err
	}); ok {
		t.WarmStart = digest
	}
}

// importedTrial reads an imported trial from a row of the table.
func importedTrial(t *tune, column map[string]int, row []string) (trial.Imported, error) {
	var one trial.Imported
	for _, s := range t.Settings {
		text := canonicalText(row[column[s.Name]])
		if s.Numeric {
			if _, err := strconv.ParseFloat(text, 64); err != nil {
				return one, fmt.Errorf("%s is %q, which is not a number", s.Name, text)
			}
		}
		if len(s.Values) > 0 && !s.Numeric && !slices.Contains(s.Values, text) {
			return one, fmt.Errorf("%s is %q, which is none of the setting's values", s.Name, text)
		}
		one.Settings = append(one.Settings, record.Setting{Name: s.Name, Value: text})
	}
	number := func(name string) (*float64, error) {
		i, ok := column[name]
		if !ok || strings.TrimSpace(row[i]) == "" {
			return nil, nil
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(row[i]), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%s is %q, which is not a number", name, row[i])
		}
		if v < 0 && name != "loss" || v > 1 && name == "accuracy" {
			return nil, fmt.Errorf("%s is %s: an accuracy is from 0 to 1, times, units and costs are not below 0", name, row[i])
		}
		return &v, nil
	}
	seconds, err := number("time_s")
	if err != nil {
		return one, err
	}
	for _, c := range []struct {
		name  string
		field **float64
	}{
		{"loss", &one.Outcome.Loss}, {"accuracy", &one.Outcome.Accuracy}, {"cost", &one.Outcome.Cost},
		{"reached_s", &one.Outcome.Reached},
	} {
		if *c.field, err = number(c.name); err != nil {
			return one, err
		}
	}
	if i, ok := column["state"]; ok && strings.TrimSpace(row[i]) == trial.TrialCrashed {
		one.Outcome.Crashed = "it crashed when it was measured"
		return one, nil
	}
	if i, ok := column["state"]; ok && strings.TrimSpace(row[i]) == trial.TrialDiverged {
		one.Outcome.Diverged = true
	}
	if seconds == nil {
		one.Outcome.Crashed = "it has no time"
		return one, nil
	}
	one.Outcome.Time, one.Outcome.Units = *seconds, 1
	if n, err := number("units"); err == nil && n != nil {
		one.Outcome.Units = int(*n)
	}
	return one, nil
}
