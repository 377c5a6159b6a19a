package progress

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// FuzzLines reads an output twice: unchanged, and with sequences that a terminal does not show. These are colors,
// titles, backspaces, carriage returns, lines drawn again and trailing spaces. Both must give the same progress.
func FuzzLines(f *testing.F) {
	patterns := []string{anyEpoch, anyEpoch0, needsLoss, kerasLine, fractions, `step (?P<step>\d+).*loss (?P<loss>\S+)`, `loss: (?P<loss>[\d.]+)`,
		`^Epoch (?P<epoch>\d+)/\d+\s*$|^\s*(?P<batch>\d+)/(?P<batches>\d+) .*\bloss: (?P<loss>[\d.]+)`}
	for i, text := range []string{
		"Epoch 1/3 - loss: 0,41\nEpoch 2/3 - loss: nan\n", "Epoch: [0][10/50] loss 2.5\nEpoch: [1][50/50] loss 1.5", "Epoch 0: 100%|##| 4/4 [loss=0.5]\n",
		"157/157 - 1s - loss: 0.4 - accuracy: 0.85\n", "{'loss': 0.5, 'epoch': 0.99}\n", "step 1,000/64,000 loss 1e-3\n", "a\nloss: 3\nloss: 3\n",
		"Epoch 1/2\n1/4 - loss: 0.9\n4/4 - loss: 0.5\nEpoch 2/2\n4/4 - loss: 0.4\n",
	} {
		f.Add(uint64(i), uint8(i), text)
	}
	f.Fuzz(func(t *testing.T, seed uint64, which uint8, text string) {
		pattern := patterns[int(which)%len(patterns)]
		text = strings.Map(func(r rune) rune { // replace characters that a terminal does not show as one character
			if r == '\n' || ' ' <= r && r <= '~' {
				return r
			}
			return -1
		}, text)
		var plain []string
		for line := range strings.SplitSeq(text, "\n") {
			plain = append(plain, strings.TrimRight(line, " "))
		}
		r := rand.New(rand.NewPCG(seed, 1))
		var shown strings.Builder
		for _, line := range plain {
			drawn := disguised(r, line) + strings.Repeat(" ", r.IntN(3))
			if r.IntN(4) == 0 {
				drawn += "\r" + disguised(r, line)
			}
			fmt.Fprintf(&shown, "%s%s\n", drawn, []string{"", "\r", "\x1b[K"}[r.IntN(3)])
		}
		want, _ := read(t, pattern, strings.Join(plain, "\n")+"\n", false, 1<<20)
		got, _ := read(t, pattern, shown.String(), false, 1+r.IntN(100))
		if !slices.Equal(want, got) {
			t.Errorf("%q by %q: %q, want %q", shown.String(), pattern, got, want)
		}
	})
}

// disguised adds sequences to a line that a terminal does not show.
func disguised(r *rand.Rand, line string) string {
	var b strings.Builder
	for i := range len(line) {
		switch r.IntN(12) {
		case 0:
			fmt.Fprintf(&b, "\x1b[%d;%dm", r.IntN(50), r.IntN(50))
		case 1:
			fmt.Fprintf(&b, "\x1b]0;epoch %d\x07", r.IntN(9))
		case 2:
			if i > 0 {
				b.WriteString("7\b")
			}
		case 3:
			b.WriteString("\x1b(B")
		}
		b.WriteByte(line[i])
	}
	b.WriteString("\x1b[0m")
	return b.String()
}
