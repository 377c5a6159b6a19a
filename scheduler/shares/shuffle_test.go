package shares

import "testing"

func TestC(t *testing.T) {
	c := NewChance(0)
	for range 12 {
		print(c.Below(3), " ")
	}
	println()
}
