package simulated

import (
	"bufio"
	"container/heap"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
)

// freeAt has the seconds at which cores become free, as a heap.
type freeAt []int

func (h freeAt) Len() int           { return len(h) }
func (h freeAt) Less(i, j int) bool { return h[i] < h[j] }
func (h freeAt) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *freeAt) Push(x any)        { *h = append(*h, x.(int)) }
func (h *freeAt) Pop() any          { panic("no core goes away") }

// BenchmarkBareHeap measures a lower bound for simulating jobs in their order on 16 cores: only a heap of the times at
// which cores become free. TFEXP_LOG names a log of jobs; without it jobs are random.
func BenchmarkBareHeap(b *testing.B) {
	var arrivals, seconds []int
	if name := os.Getenv("TFEXP_LOG"); name != "" {
		file, err := os.Open(name)
		if err != nil {
			b.Fatal(err)
		}
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			fields := strings.Fields(lines.Text())
			if fields[0] == ";" {
				continue
			}
			arrival, err1 := strconv.Atoi(fields[1])
			ran, err2 := strconv.Atoi(fields[3])
			if err1 != nil || err2 != nil {
				b.Fatal(err1, err2)
			}
			arrivals, seconds = append(arrivals, arrival), append(seconds, ran)
		}
	} else {
		random, now := rand.New(rand.NewPCG(1, 2)), 0.0
		for range 1_000_000 {
			now += random.ExpFloat64()
			arrivals, seconds = append(arrivals, int(now)), append(seconds, 1+int(14.4*random.ExpFloat64()))
		}
	}
	for b.Loop() {
		free, waited := make(freeAt, 16), 0
		for i, arrival := range arrivals {
			start := max(arrival, free[0])
			waited += start - arrival
			free[0] = start + seconds[i]
			heap.Fix(&free, 0)
		}
		b.ReportMetric(float64(waited)/float64(len(arrivals)), "s_waited")
	}
}
