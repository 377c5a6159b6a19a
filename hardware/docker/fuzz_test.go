package docker

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
)

// For any answer of a daemon about usage and output, and any note of a killed run, numbers are in their ranges and the
// log has no more than was sent.
func FuzzAnswers(f *testing.F) {
	for _, text := range []string{`{"read":"2026-01-01T00:00:00Z","cpu_stats":{"cpu_usage":{"total_usage":18446744073709551615}},` +
		`"memory_stats":{"usage":18446744073709551615,"limit":18446744073709551615,"stats":{"inactive_file":1}}}`, "null", "{}",
		"\x01\x00\x00\x00\x00\x00\x00\x04abc\n", "\x01\x00\x00\x00\xff\xff\xff\xffabc", `{"hosts":[""],"sessions":["x"]}`,
		`["unix:///x"]`, `{"status":"Pulling"}` + "\n" + `{"error":"no"}`} {
		f.Add([]byte(text))
	}
	before := cpuSample{time.Second, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)}
	f.Fuzz(func(t *testing.T, raw []byte) {
		memory, now, err := readStats(strings.NewReader(string(raw)))
		if p := percent(before, now); err == nil && (!(p >= 0) || resident(memory) < 0 || now.used < 0) {
			t.Errorf("%v%%, %d bytes, %v", p, resident(memory), now.used)
		}
		_ = readPull(strings.NewReader(string(raw)))
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, daemonListFile), raw, 0o644); err != nil {
			t.Fatal(err)
		}
		if list, err := readDaemonList(dir); err != nil || list == nil && json.Unmarshal(raw, &daemonList{}) == nil {
			t.Errorf("the note is %v, %v", list, err)
		}
		o, err := launch.OpenLog(filepath.Join(dir, "log"), 1<<20, false, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		_ = copyOutput(o, strings.NewReader(string(raw)))
		o.Close("")
		if info, err := os.Stat(filepath.Join(dir, "log")); err != nil || info.Size() > int64(len(raw))+100 {
			t.Errorf("a log of %d bytes from %d, %v", info.Size(), len(raw), err)
		}
	})
}
