package search

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// fromResults takes the trials of another experiment's results that tried the same settings,
// where each trial was a separate job. It returns false if from is not a folder.
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
		a.Fail(at, "Trials of other settings", "%s has %s, none of them of the settings %s.", from.Shown,
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

// inValues reports whether settings have values that a search knows.
func inValues(t *tune, settings []record.Setting) bool {
	for i, s := range t.Settings {
		if len(s.Values) > 0 && !s.Numeric && !slices.Contains(s.Values, settings[i].Value) {
			return false
		}
	}
	return true
}
