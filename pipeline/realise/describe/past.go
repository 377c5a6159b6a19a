package describe

import (
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline/store"
)

// RanForReal reports whether the cell of a key's description ran on a real engine.
func RanForReal(description string) bool {
	_, after, _ := strings.Cut(description, "\nhardware.engine ")
	name, _, _ := strings.Cut(after, "\n")
	kind := engine.Find(name)
	return kind != nil && kind.Real
}

// PastHost is the fingerprint of the machine that a key describes, as HostPrint
// gives it.
func PastHost(description string) string {
	var k store.Key
	for line := range strings.Lines(description) {
		if strings.HasPrefix(line, "host.") {
			k.Append([]string{strings.TrimSuffix(line, "\n")})
		}
	}
	return k.Hash()[:12]
}

// PastJob reads from a key what a job block stands for, whatever it is called:
// the program with all its settings, what sort of program that is, and how
// much of it was to be done. How much it held is not part of it.
func PastJob(description, block string) (name, kind string, length int) {
	var k store.Key
	prefix := "job." + block + "."
	for line := range strings.Lines(description) {
		rest, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), prefix)
		if !ok {
			continue
		}
		label, value, _ := strings.Cut(rest, " ")
		switch label {
		case "threads", "malleable", "limit", "gpus", "memory", "nodes", "estimate", "runtime":
			continue
		case "epochs", "steps":
			k.Add("unit", label)
			length, _ = strconv.Atoi(value)
			continue
		case "builtin":
			kind, _, _ = strings.Cut(value, " ")
		case "command":
			kind = value
		}
		k.Add(label, value)
	}
	return k.Hash(), kind, length
}
