package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const newPropertyFile = `
experiment "energy" { replicates = 1 }

job "hot" {
  builtin "mlp" {}
  epochs = 2
  runtime { epoch = "1h" }
  power {
    watts = 500
    cap   = each.cap
  }
}

job "cold" {
  builtin "mlp" {}
  epochs = 1
  runtime { epoch = "1h" }
}

workload "w" {
  submit { job = job.hot }
  submit { job = job.cold }
}

hardware "sim" {
  engine  = "simulated"
  threads = 1
}

policy "levels" { order = "priority" }

matrix {
  workload = [workload.w]
  hardware = [hardware.sim]
  policy   = [policy.levels]
  cap      = [1, 0.5]
}
`

// A feature that gives jobs a property is a folder of stages (testdata/property) and a line in stages/all. A program
// that is built with both knows the block. The property is in keys, plan, cells, table, section, picture and exports.
func TestNewProperty(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds tfexp")
	}
	s := inSandbox(t, newPropertyFile)
	program := builtWith(s, "power", filepath.Join("testdata", "property", "power.go.txt"))
	tfexp := func(args ...string) string {
		t.Helper()
		out, err := exec.Command(program, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("tfexp %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	contains(t, "the plan", tfexp("plan", "--out", s.out, s.file), "2 cells to run")
	contains(t, "the summary", tfexp("run", "--out", s.out, s.file), "All jobs used 2 kWh.")
	for _, row := range s.table("jobs.csv") { // a job that is capped to a half takes twice as long, and its row is last
		want := map[string]string{
			"hot 1": "0 to 7200", "cold 1": "7200 to 10800", "cold 0.5": "0 to 3600", "hot 0.5": "3600 to 18000",
		}[row["class"]+" "+row["cap"]]
		if got := row["first_start_s"] + " to " + row["finish_s"]; strings.ReplaceAll(got, ".000000", "") != want {
			t.Errorf("%s under a cap of %s ran from %s s, want %s", row["class"], row["cap"], got, want)
		}
	}
	s.holds("plan.json", `"power": [`, `"watts": 250`)
	s.holds("cells/w-sim-levels-cap=0.5-r1/key.txt", "job.hot.power.cap 0.5", "job.hot.power.watts 500")
	s.holds("energy.csv", "cell,class,watts,energy_kwh\n", "w-sim-levels-cap=1-r1,hot,500.000000,1.0", "w-sim-levels-cap=0.5-r1,hot,250.000000,1.0")
	s.holds("report.html", `<details id="energy"><summary>Energy</summary>`, "All jobs used 2 kWh.", "Bars, one a class and cell.")
	s.holds("plots/energy.svg", "<svg")
	contains(t, "export table", tfexp("export", "table", "energy", "--dir", s.out, "--format", "markdown"), "energy_kwh", "| hot")
	contains(t, "run --json", tfexp("run", "--json", "--out", s.out, s.file), `"energy_kwh": 2`)
	contains(t, "the schema", tfexp("schema"), "The power that the job draws.")

	s.change(newPropertyFile, "watts = 500", "watts = 400")
	contains(t, "the plan after an edit", tfexp("plan", "--out", s.out, s.file), "job.hot.power.watts changed")
	s.change(newPropertyFile, "watts = 500", "watts = 0")
	out, err := exec.Command(program, "validate", s.file).CombinedOutput()
	if contains(t, "the diagnostics", string(out), "at least 1", "watts = 0"); err == nil {
		t.Error("a job that draws nothing is no error")
	}
}

// builtWith builds tfexp with an additional folder of stages that contains a single file, and its line in stages/all.
func builtWith(s *sandbox, name, file string) string {
	s.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		s.Fatal(err)
	}
	all := filepath.Join(root, "stages", "all", "features.go")
	lines, err := os.ReadFile(all)
	if err != nil {
		s.Fatal(err)
	}
	const last = "\n)"
	at := strings.LastIndex(string(lines), last)
	s.write("all.go", string(lines[:at])+"\n\t_ \"github.com/tfexp/tfexp/stages/"+name+`"`+last)
	from, err := filepath.Abs(file)
	if err != nil {
		s.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		all: filepath.Join(s.dir, "all.go"), filepath.Join(root, "stages", name, strings.TrimSuffix(filepath.Base(file), ".txt")): from,
	}})
	if err != nil {
		s.Fatal(err)
	}
	s.write("overlay.json", string(overlay))
	program := filepath.Join(s.dir, "tfexp")
	if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-overlay", filepath.Join(s.dir, "overlay.json"), "-o", program,
		".").CombinedOutput(); err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
	return program
}
