//go:build unix

package main

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
)

// A search whose program does not end when it has reached the target, and prints its losses without seconds. Settings: one
// that reaches the target, one that does so later, one that never does, and one that has the lowest loss and diverges.
const target = `
experiment "target" { replicates = 1 }

job "j" {
  command = ["sh", "-c", <<-END
    case $KIND in
      soon)     l="0.4 0.4 0.4" ;;
      late)     l="0.9 0.4 0.4" ;;
      never)    l="0.9 0.9 0.9" ;;
      diverged) l="0.1 NaN NaN" ;;
    esac
    n=0
    for x in $l; do n=$((n+1)); sleep 0.3; echo '{"tfexp": {"epoch": '$n', "loss": '$x', "accuracy": 0.5}}'; done
  END
  ]
  epochs = 3
  env    = { KIND = each.kind }
  TARGET
}

hardware "here" { engine = "process" }

tune "t" {
  job       = job.j
  method    = "grid"
  trials    = 4
  OBJECTIVE

  setting "kind" { values = ["diverged", "never", "late", "soon"] }
}
`

// trialsBy reads trials.csv. It returns the fields of each trial by the value of the trial's setting.
func trialsBy(t *testing.T, dir string) map[string]map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "results", "target", "trials.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]map[string]string{}
	for _, row := range rows[1:] {
		fields := map[string]string{}
		for i, name := range rows[0] {
			fields[name] = row[i]
		}
		by[strings.TrimPrefix(fields["settings"], "kind=")] = fields
	}
	return by
}

// runTarget runs the search with an objective. It returns the trials and the output of the run.
func runTarget(t *testing.T, objective, ends string) (map[string]map[string]string, string) {
	t.Helper()
	dir := t.TempDir()
	text := strings.NewReplacer("OBJECTIVE", objective, "TARGET", ends).Replace(target)
	if err := os.WriteFile(filepath.Join(dir, "target.hcl"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c := tfexp(dir, "run", "target.hcl")
	var said strings.Builder
	c.Stdout = &said
	if c.status(t) != command.ExitOK {
		t.Fatal(said.String() + c.stderr.String())
	}
	return trialsBy(t, dir), said.String() + c.stderr.String()
}

// The time to a target is the service time until the first report that reaches it, with and without target_loss. A
// trial that never reaches the target, or diverges, has no time and is not the best.
func TestTimeToTarget(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs for some seconds")
	}
	t.Parallel()
	for name, ends := range map[string]string{"without": "", "with": "target_loss = 0.5"} {
		by, said := runTarget(t, "objective = \"time_to_loss\"\n  target = 0.5", ends)
		for kind, c := range map[string]struct {
			state    string
			from, to float64
		}{"soon": {"done", 0.25, 0.58}, "late": {"done", 0.55, 0.88}, "never": {"not reached", -1, -1}, "diverged": {"diverged", -1, -1}} {
			got := -1.0
			if text := by[kind]["objective"]; text != "" {
				got, _ = strconv.ParseFloat(text, 64)
			}
			if by[kind]["state"] != c.state || got < c.from || got > c.to {
				t.Errorf("%s target_loss, %s: %s at %g, want %s at %g to %g", name, kind, by[kind]["state"], got, c.state, c.from, c.to)
			}
		}
		if !strings.Contains(said, "are kind=soon: ") || !strings.Contains(said, "1 of 4 trials diverged") {
			t.Errorf("%s target_loss:\n%s", name, said)
		}
	}
}

// A trial that diverges is never the best, whatever it reports before.
func TestDivergedTrial(t *testing.T) {
	if testing.Short() {
		t.Skip("runs programs for some seconds")
	}
	t.Parallel()
	by, said := runTarget(t, `objective = "loss"`, "")
	if x := by["diverged"]; x["state"] != "diverged" || x["loss"] != "" || x["objective"] != "" {
		t.Errorf("%v", x)
	}
	if !strings.Contains(said, "loss 0.400") ||
		!strings.Contains(said, "its last loss is NaN or infinite: the training has diverged") {
		t.Errorf("%s", said)
	}
}
