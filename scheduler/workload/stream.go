package workload

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Stream returns the stream of random numbers that belongs to a seed and a
// named path. Streams of different paths are independent, so what one part
// draws never shifts what another one draws.
func Stream(seed int64, path ...string) *rand.Rand {
	h := sha256.New()
	_ = binary.Write(h, binary.BigEndian, seed) // a hash does not fail
	for _, p := range path {
		_ = binary.Write(h, binary.BigEndian, int64(len(p)))
		h.Write([]byte(p))
	}
	sum := h.Sum(nil)
	return rand.New(rand.NewPCG(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:])))
}
