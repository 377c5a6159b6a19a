package shares

import (
	"math/bits"

	"gonum.org/v1/gonum/mathext/prng"
)

// Chance draws random numbers as Python's module random does, with the Mersenne Twister seeded by one number. Schedules
// can then be compared with schedules of simulators written in Python.
type Chance struct{ source *prng.MT19937 }

// NewChance returns a source of random numbers.
func NewChance(seed uint32) *Chance {
	c := &Chance{prng.NewMT19937()}
	c.source.SeedFromKeys([]uint32{seed})
	return c
}

// Below returns a random number from 0 to n-1.
func (c *Chance) Below(n int) int {
	for shift := 32 - bits.Len(uint(n)); ; {
		if v := int(c.source.Uint32() >> shift); v < n {
			return v
		}
	}
}

// Shuffle shuffles a list.
func (c *Chance) Shuffle(list []int) {
	for i := len(list) - 1; i > 0; i-- {
		j := c.Below(i + 1)
		list[i], list[j] = list[j], list[i]
	}
}
