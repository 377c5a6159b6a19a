package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxCellName keeps a cell's folder and its files well below the limits of
// file systems.
const maxCellName = 150

// Name is readable and fit for a folder: workload-hardware-policy and the axes that the cell reads.
func (c Cell) Name() string {
	var b strings.Builder
	b.WriteString(c.Workload.Name + "-" + c.Hardware.Name + "-" + c.Policy.Name)
	for _, a := range c.Axes {
		b.WriteString("-" + a.Name + "=" + a.Value)
	}
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("._=-+", r):
			return r
		}
		return '_'
	}, b.String())
	if len(name) > maxCellName {
		sum := sha256.Sum256([]byte(name))
		name = name[:maxCellName-13] + "-" + hex.EncodeToString(sum[:6])
	}
	return name
}
