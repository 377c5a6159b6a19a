package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxCellName bounds a cell's name in bytes: the paths of its files must stay well below the limits of file systems.
const maxCellName = 150

// Name returns a readable name that can be a folder's name: workload-hardware-policy, and the axes that the cell reads.
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
