package throughput

import (
	"strings"
	"testing"
)

func TestReadBothForms(t *testing.T) {
	for name, text := range map[string]string{
		"JSON": `{"v100": {"('LM (batch size 5)', 2)": {"null": 2.5, "('A3C', 1)": [1, 2], "('CycleGAN', 2)": [2, 3]}}, "k80": {"('A3C', 1)": {"null": 0}}}`,
		"CSV": "device,workers,job_type,beside,steps_per_s\nv100,2,LM (batch size 5),,2.5\nk80,1,A3C,,0\n" +
			"v100,2,LM (batch size 5),CycleGAN,2\n",
	} {
		table, err := Read("t", strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s, ok := table.Speed(Key{Job: "LM (batch size 5)", Device: "v100", Workers: 2}); !ok || s != 2.5 {
			t.Errorf("%s: the speed is %v, %v", name, s, ok)
		}
		if s, ok := table.Speed(Key{Job: "A3C", Device: "k80", Workers: 1}); !ok || s != 0 {
			t.Errorf("%s: where the job does not run, the speed is %v, %v", name, s, ok)
		}
		if _, ok := table.Speed(Key{Job: "A3C", Device: "v100", Workers: 1}); ok {
			t.Errorf("%s: a speed that it does not have", name)
		}
		lm := Key{Job: "LM (batch size 5)", Device: "v100", Workers: 2}
		if a, b := table.Kept(lm, "CycleGAN"), table.Kept(lm, "A3C"); a != 0.8 || b != 0 {
			t.Errorf("%s: it keeps %g and %g of its speed, want 0.8 and, with another number of workers, 0", name, a, b)
		}
		if got := strings.Join(table.Devices(), " "); got != "k80 v100" {
			t.Errorf("%s: the devices are %s", name, got)
		}
	}
}

func TestTablesThatAreWrong(t *testing.T) {
	const head = "job_type,device,workers,steps_per_s\n"
	for text, want := range map[string]string{
		"{":                                     "t:1: unexpected end",
		"{\n\"v100\": 1,\n]}":                   "t:3: invalid character",
		`{"v100": 1}`:                           "neither",
		head + "\"LM,v100,1,1\n":                "t:2: ",
		head + "LM,v100,1,1,1\n":                "t:2: the row has 5 fields instead of 4",
		`{"v100": {"LM": {"null": 1}}}`:         "is not a job type with its number of workers",
		`{"v100": {"('LM', 1)": {"null": -1}}}`: "must be at least 0",
		`{"v100": {"('LM', 1)": {"null": []}}}`: "alone",
		`{"v100": {"('LM', 1)": {"null": 1, "('A', 1)": [1]}}}`: "must be two numbers",
		"job,device\n": "no column \"job_type\"",
		"job_type,device,workers,steps_per_s,device\n":        "two columns \"device\"",
		"job_type,device,workers,steps_per_s,beside,beside\n": "two columns \"beside\"",
		head:                     "contains no throughputs",
		head + "LM,v100,1,-2\n":  "t:2: the job type \"LM\" on 1 × v100 has a throughput of -2",
		head + "LM,v100,0,2\n":   "must be at least 1",
		head + "LM,v100,one,2\n": "t:2: \"one\" is not a number of workers",
		head + "LM,v100,1,NaN\n": "must be at least 0",
		"job_type,device,workers,beside,steps_per_s\nLM,v100,1,A,1\nLM,v100,1,A,1\n": "beside \"A\" has two throughputs",
		head + "LM,v100,1,1\nLM,v100,1,1\n": "t:3: the job type \"LM\" on 1 × " +
			"v100 has two throughputs",
	} {
		if _, err := Read("t", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
