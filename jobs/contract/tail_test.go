package contract

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// However the output is cut into pieces, the same lines are found.
func TestTail(t *testing.T) {
	const output = "loading {\"tfexp\":{\"epoch\":9}}\n" + // begins with something else
		`{"tfexp":{"epoch":1,"step":40,"loss":0.5}}` + "\n" +
		"{\"other\":1}\n{broken \"tfexp\"\n" +
		"30%\r60%\r" + `  {"tfexp":{"epoch":2,"step":80}}` + "\r\n" +
		`{"tfexp":{"threads":2}}` + "\n" + // no unit
		`{"tfexp":{"checkpoint":{"step":90,"seconds":1}}}` + "\n" +
		`{"tfexp":{"step":100}}` + "\n" +
		`{"tfexp":{"epoch":3` // not complete
	for size := 1; size <= len(output); size++ {
		var tail Tail
		var got [][2]int
		tail.News = func(p Progress) { got = append(got, [2]int{-1, p.Checkpoint.Step}) }
		for rest := output; rest != ""; {
			n := min(size, len(rest))
			tail.Add([]byte(rest[:n]), func(p Progress) { got = append(got, [2]int{p.Epoch, p.Step}) })
			rest = rest[n:]
		}
		if diff := cmp.Diff([][2]int{{1, 40}, {2, 80}, {-1, 90}, {0, 100}}, got); diff != "" {
			t.Fatalf("pieces of %d bytes: %s", size, diff)
		}
	}
}

// A line without an end costs no more memory than one that counts.
func TestTailBoundsItsMemory(t *testing.T) {
	var tail Tail
	piece := make([]byte, 4096)
	for i := range piece {
		piece[i] = '{'
	}
	for range 1000 {
		tail.Add(piece, func(Progress) { t.Error("progress") })
	}
	if cap(tail.line) > 4*maxTail {
		t.Errorf("%d bytes are kept", cap(tail.line))
	}
}
