package runs

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// paid is a line of a table of costs.
type paid struct {
	usd         float64
	line, table string
}

// cost reads a line of a table of costs.
func (r *reader) cost(line int, v []string) error {
	usd, err := number("cost", v[factCost], 0)
	if err != nil {
		return err
	}
	run := v[factGroup] + "\x00" + v[factRun]
	if before, ok := r.costs[run]; ok && (before.table == r.path || !same(usd, before.usd)) {
		twice := Run{Group: v[factGroup], ID: v[factRun]}
		return fmt.Errorf("the run %s has two costs, here and on %s: remove one of them", twice.Name(), before.line)
	}
	r.costs[run] = paid{usd, fmt.Sprintf("line %d of %s", line, r.path), r.path}
	return nil
}

// charge assigns the costs of a table to runs.
func (r *reader) charge() (warnings []string) {
	r.owed = map[*Run]float64{}
	var strangers []string
	keys := slices.Sorted(maps.Keys(r.costs))
	slices.SortStableFunc(keys, func(a, b string) int { // keys that equal the name of a run come first
		switch exact := r.byKey[a] != nil; {
		case exact == (r.byKey[b] != nil):
			return 0
		case exact:
			return -1
		}
		return 1
	})
	for _, key := range keys {
		group, id, _ := strings.Cut(key, "\x00")
		run := r.find(group, id)
		usd := r.costs[key].usd
		if before, ok := r.owed[run]; run == nil || ok && !same(usd, before) {
			strangers = append(strangers, (&Run{Group: group, ID: id}).Name())
			continue
		}
		r.owed[run] = usd
	}
	if len(strangers) > 0 && !r.priced() {
		warnings = append(warnings, "costs were left out, because no checkpoint belongs to these runs: "+
			""+some(strangers))
	}
	return warnings
}

// same reports whether two costs differ only by rounding.
func same(a, b float64) bool { return math.Abs(a-b) <= 1e-6*max(a, b) }

// priced reports whether the options have prices, from which costs are computed.
func (o *Options) priced() bool {
	return o.WorkerPrice != 0 || o.ParameterServerPrice != 0 || len(o.TypePrices) > 0
}

// unpriced returns a warning if there are prices but the number of workers is not known.
func (r *reader) unpriced() []string {
	if !r.priced() || r.Workers > 0 || slices.ContainsFunc(r.runs, func(run *Run) bool { return len(run.Servers) > 0 }) {
		return nil
	}
	from := "the costs of runs are unknown"
	if len(r.owed) > 0 {
		from = "the costs come from the table of costs"
	}
	return []string{"prices are ignored, because no table lists the servers and the number of workers is " +
		"unknown (give --workers); " +
		from}
}

// price returns the cost of a run. A worker costs its price for the duration of the run, or for its uptime if it was
// revoked. Parameter servers cost theirs for the duration.
func (r *reader) price(run *Run) float64 {
	workers := r.Workers
	if workers == 0 {
		workers = len(run.Servers)
	}
	if !r.priced() || workers == 0 {
		if usd, ok := r.owed[run]; ok {
			return usd
		}
		return math.NaN()
	}
	usd := float64(r.ParameterServers) * run.Duration.Hours() * r.ParameterServerPrice
	for _, revoked := range []bool{true, false} {
		for _, s := range run.Servers {
			if s.Revoked != revoked || workers == 0 {
				continue
			}
			up, price := run.Duration, r.WorkerPrice
			if revoked {
				up = s.Uptime
			}
			for _, t := range r.TypePrices {
				if t.Has(s.Name) {
					price = t.Price
				}
			}
			usd += up.Hours() * price
			workers--
		}
	}
	return usd + float64(workers)*run.Duration.Hours()*r.WorkerPrice
}
