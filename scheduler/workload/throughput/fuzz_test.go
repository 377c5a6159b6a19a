package throughput

import (
	"bytes"
	"testing"
)

// Any table of throughputs is read or refused, and its speeds are numbers of at least 0.
func FuzzTable(f *testing.F) {
	for _, text := range []string{`{"v100": {"('LM', 1)": {"null": 2.5, "('A3C', 1)": [1, 2]}}}`, "device,job,workers,throughput\nv100,LM,1,2.5\n",
		`{"v100": {"x": null}}`, `{"v100": {"('LM', 99999999999999999999)": {"null": 1e999}}}`, "{", "", "device\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		table, err := Read("x", bytes.NewReader(raw))
		if err != nil {
			return
		}
		for k, speed := range table.speeds {
			if !(speed >= 0) || k.Workers < 1 {
				t.Errorf("%+v: %v", k, speed)
			}
		}
	})
}
