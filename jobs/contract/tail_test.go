package contract

import (
	"strings"
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

// Lines that Parse refuses when the program has ended are refused while it runs.
func TestTailChecksAsParse(t *testing.T) {
	for _, line := range []string{
		`{"tfexp":{"epoch":3,"step":-1}}`, `{"tfexp":{"epoch":1,"threads":-2}}`, `{"tfexp":{"step":1,"seconds":-0.5}}`,
		`{"tfexp":{"epoch":1,"at":1e300}}`, `{"tfexp":{"step":4611686018427387904}}`, `{"tfexp":{"resized":{"inter":0,"intra":1,"seconds":1}}}`,
		`{"tfexp":{"checkpoint":{"step":-1,"seconds":1}}}`, `{"tfexp":{"resumed":{"step":1,"lost_steps":-7,"lost_seconds":0}}}`,
		`{"tfexp":{"epoch":1.5}}`, `{"tfexp":{"epoch":99999999999999999999}}`,
	} {
		tail := Tail{News: func(p Progress) { t.Errorf("%s is taken for news", line) }}
		tail.Add([]byte(line+"\n"), func(Progress) { t.Errorf("%s is taken for progress", line) })
		report, err := Parse(strings.NewReader(line+"\n"), Last)
		if err != nil || len(report.Warnings) != 1 || report.Updates != 0 {
			t.Errorf("%s, in the end: %v, %v", line, report.Warnings, err)
		}
	}
}
