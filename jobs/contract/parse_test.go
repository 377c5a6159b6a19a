package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func ptr(x float64) *float64 { return &x }

func TestParse(t *testing.T) {
	const progress = `{"tfexp":{"epoch":1,"step":45,"loss":0.5,"accuracy":0.8,"seconds":1.5,"threads":2}}` + "\n"
	for _, test := range []struct {
		name string
		pick Pick
		in   string
		want Report
	}{
		{"nothing", Last, "", Report{Startup: -1, Save: -1}},
		{"other text", Last, "hello\n{\"loss\":1}\n[1, 2]\n{\"x\":{\"tfexp\":1}}\n", Report{Startup: -1, Save: -1}},
		{"a time-writer line", Last, "<TIME_WRITTER_OUTPUT>[0.5, 1, 2e0, 0.25]</TIME_WRITTER_OUTPUT>\n",
			Report{Startup: 0.5, Epochs: []float64{1, 2}, Save: 0.25}},
		{"without epochs, amid text, unfinished", Last, "log <TIME_WRITTER_OUTPUT>[1,2]</TIME_WRITTER_OUTPUT> more",
			Report{Startup: 1, Epochs: []float64{}, Save: 2}},
		{"behind a progress bar", Last, "10%\r90%\r<TIME_WRITTER_OUTPUT>[1,3,2]</TIME_WRITTER_OUTPUT>\r\n",
			Report{Startup: 1, Epochs: []float64{3}, Save: 2}},
		{"several, last", Last, lines("[1,2,3,4]", "[5,6,7]"), Report{Startup: 5, Epochs: []float64{6}, Save: 7}},
		{"several, longest", Longest, lines("[1,2,3,4]", "[5,6,7]"), Report{Startup: 1, Epochs: []float64{2, 3}, Save: 4}},
		{"several, longest of equals", Longest, lines("[1,2,3]", "[5,6,7]"),
			Report{Startup: 5, Epochs: []float64{6}, Save: 7}},
		{"several, first", First, lines("[1,2,3]", "[5,6,7,8]"), Report{Startup: 1, Epochs: []float64{2}, Save: 3}},
		{"several in a line", Last, strings.ReplaceAll(lines("[1,2]", "[3,4]"), "\n", ""),
			Report{Startup: 3, Epochs: []float64{}, Save: 4}},
		{"broken ones", Last, lines("[1,2,3]", "[1,x,3]", "[]", "1,2", "[1,-2,3]", "[1,NaN,3]", "[1,1e999,3]") +
			"<TIME_WRITTER_OUTPUT>[1,\n",
			Report{Startup: 1, Epochs: []float64{2}, Save: 3, Warnings: []string{
				`line 2: time-writer line: "x" is not a time in seconds`,
				"line 3: time-writer line: want at least the times of start-up and saving",
				"line 4: time-writer line: want a list in brackets",
				`line 5: time-writer line: "-2" is not a time in seconds`,
				`line 6: time-writer line: "NaN" is not a time in seconds`,
				`line 7: time-writer line: "1e999" is not a time in seconds`,
				"line 8: time-writer line has no closing mark",
			}}},
		{"a broken one before a good one", Last, "<TIME_WRITTER_OUTPUT>[1, <TIME_WRITTER_OUTPUT>[1,2]</TIME_WRITTER_OUTPUT>\n",
			Report{Startup: 1, Epochs: []float64{}, Save: 2,
				Warnings: []string{"line 1: time-writer line has no closing mark"}}},
		{"progress", Last, progress + `  {"tfexp": {"epoch":2,"seconds":1.25}}` + "\n" + `{"tfexp":{"step":99,"loss":0.4}}`,
			Report{Startup: -1, Save: -1, Epochs: []float64{1.5, 1.25}, Loss: ptr(0.4), Accuracy: ptr(0.8), Updates: 3,
				Progress: Progress{Step: 99, Loss: ptr(0.4)}}},
		{"steps alone", Last, `{"tfexp":{"step":1,"seconds":1.5}}` + "\n" + `{"tfexp":{"step":2,"seconds":1}}`,
			Report{Startup: -1, Save: -1, Steps: []float64{1.5, 1}, Updates: 2, Progress: Progress{Step: 2, Seconds: ptr(1)}}},
		{"not all steps", Last, `{"tfexp":{"step":1,"seconds":1.5}}` + "\n" + `{"tfexp":{"step":9,"seconds":1}}`,
			Report{Startup: -1, Save: -1, Updates: 2, Progress: Progress{Step: 9, Seconds: ptr(1)}}},
		{"news", Last, strings.Join([]string{
			`{"tfexp":{"checkpoint":{"step":500,"seconds":0.25}}}`,
			`{"tfexp":{"resumed":{"step":500,"lost_steps":3,"lost_seconds":0.5}}}`,
			`{"tfexp":{"changed":{"settings":{"batch":64},"seconds":0}}}`, `{"tfexp":{"refused":"deepen","reason":"no blocks"}}`,
			`{"tfexp":{"deepened":{"block":1,"layers":2,"accuracy_before":0.5,"accuracy_after":0.5,"seconds":0.1}}}`,
			`{"tfexp":{"final_accuracy":0.9}}`, `{"tfexp":{"checkpoint":{"step":-1}}}`,
			`{"tfexp":{"resumed":{"lost_steps":-1}}}`,
		}, "\n"), Report{
			Startup: -1, Save: -1, Checkpoints: []Checkpoint{{Step: 500, Seconds: 0.25}}, Resumed: []Resumed{{Step: 500,
				LostSteps: 3, LostSeconds: 0.5}},
			Changed:  []Changed{{Settings: map[string]json.RawMessage{"batch": []byte("64")}}},
			Deepened: []Deepened{{1, 2, 0.5, 0.5, 0.1}}, Refused: []Progress{{Refused: "deepen", Reason: "no blocks"}},
			FinalAccuracy: ptr(0.9),
			Warnings: []string{
				"line 7: progress line: a checkpoint after step -1 in 0 seconds",
				"line 8: progress line: resumed after step 0 with -1 steps (0 seconds) lost",
			}}},
		{"resizes", Last, progress + `{"tfexp":{"resized":{"inter":1,"intra":2,"seconds":1.3}}}` + "\n" +
			`{"tfexp":{"resized":{"inter":0,"intra":2,"seconds":1}}}`,
			Report{Startup: -1, Save: -1, Epochs: []float64{1.5}, Loss: ptr(0.5), Accuracy: ptr(0.8), Updates: 1,
				Progress: Progress{Epoch: 1, Step: 45, Loss: ptr(0.5), Accuracy: ptr(0.8), Seconds: ptr(1.5), Threads: 2},
				Resized:  []Resized{{1, 2, 1.3}},
				Warnings: []string{"line 3: progress line: resized to 0 and 2 threads in 1 seconds"}},
		},
		{"both: the time-writer line has the times", Last, progress + lines("[1,2,3]"),
			Report{Startup: 1, Save: 3, Epochs: []float64{2}, Loss: ptr(0.5), Accuracy: ptr(0.8), Updates: 1,
				Progress: Progress{Epoch: 1, Step: 45, Loss: ptr(0.5), Accuracy: ptr(0.8), Seconds: ptr(1.5), Threads: 2},
			},
		},
		{"broken progress", Last, `{"tfexp":{"epoch":-1}}` + "\n" + `{"tfexp":{"loss":"x"}}` + "\n" + `{"tfexp":null}` +
			"\n" + `{"tfexp":{"epoch":1e999}}` + "\n" + `{"tfexp":{"reason":[]}}` + "\n" + `{"tfexp":7}`,
			Report{Startup: -1, Save: -1, Warnings: []string{
				"line 1: progress line: a negative count or time",
				`line 2: progress line: "tfexp.loss": string stands where a number of at most 1.8e308 must be`,
				`line 4: progress line: "tfexp.epoch": number 1e999 stands where a whole number must be`,
				`line 5: progress line: "tfexp.reason": array stands where text must be`,
				`line 6: progress line: "tfexp": number stands where an object must be`}}},
	} {
		for name, r := range map[string]io.Reader{"": strings.NewReader(test.in),
			", byte by byte": iotest.OneByteReader(strings.NewReader(test.in))} {
			got, err := Parse(r, test.pick)
			if err != nil {
				t.Errorf("%s%s: %v", test.name, name, err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s%s (-want +got):\n%s", test.name, name, diff)
			}
		}
	}
}

// lines are time-writer lines with the given lists.
func lines(lists ...string) string {
	var b strings.Builder
	for _, l := range lists {
		fmt.Fprintf(&b, "%s%s%s\n", TimesBegin, l, TimesEnd)
	}
	return b.String()
}

func TestParseReadsOnAfterManyWarnings(t *testing.T) {
	got, err := Parse(strings.NewReader(strings.Repeat(lines("x"), 50)+lines("[1,2]")), Last)
	if err != nil || len(got.Warnings) != maxWarnings || got.Suppressed != 30 || got.Save != 2 {
		t.Errorf("%d warnings, %d suppressed, save %g, %v", len(got.Warnings), got.Suppressed, got.Save, err)
	}
}

func TestParseTellsOfAReadError(t *testing.T) {
	gone := errors.New("disk gone")
	got, err := Parse(io.MultiReader(strings.NewReader(lines("[1,2]")), iotest.ErrReader(gone)), Last)
	if !errors.Is(err, gone) || got.Save != 2 {
		t.Errorf("save %g, error %v, want 2 and %v", got.Save, err, gone)
	}
}

// endless is n bytes of a single line.
type endless struct{ n int }

func (e *endless) Read(p []byte) (int, error) {
	if e.n == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.n)
	for i := range p[:n] {
		p[i] = '7'
	}
	e.n -= n
	return n, nil
}

func TestParseBoundsTheMemoryOfALine(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	in := io.MultiReader(strings.NewReader("<TIME_WRITTER_OUTPUT>["), &endless{n: 200 << 20},
		strings.NewReader("\n"+lines("[1,2]")))
	got, err := Parse(in, Last)
	runtime.ReadMemStats(&after)
	if err != nil || got.Save != 2 || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "longer than") {
		t.Errorf("%+v, %v", got, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 10*maxLine {
		t.Errorf("a line of 200 MiB allocates %d MiB", used>>20)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(lines("[1,2,3]") + `{"tfexp":{"epoch":1,"seconds":2}}`)
	f.Add("<TIME_WRITTER_OUTPUT>[1,\r</TIME_WRITTER_OUTPUT><TIME_WRITTER_OUTPUT>")
	f.Add(`{"tfexp":{"epoch":1e9,"loss":-1e-300}}` + "\n\x00\xff")
	f.Fuzz(func(t *testing.T, in string) {
		for _, pick := range []Pick{Last, Longest, First} {
			got, err := Parse(strings.NewReader(in), pick)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Warnings) > maxWarnings {
				t.Errorf("%d warnings", len(got.Warnings))
			}
			for _, s := range append([]float64{got.Startup + 1, got.Save + 1}, got.Epochs...) {
				if !finite(s) || s < 0 {
					t.Errorf("time %g", s)
				}
			}
			slow, err := Parse(iotest.OneByteReader(strings.NewReader(in)), pick)
			if diff := cmp.Diff(got, slow); err != nil || diff != "" {
				t.Errorf("byte by byte: %v\n%s", err, diff)
			}
			// More output does not undo earlier lines.
			if more, err := Parse(strings.NewReader(in+"\n"+lines("[1,2,3]")), Last); err != nil || more.Startup != 1 ||
				more.Save != 3 {
				t.Errorf("a good line at the end is not read: %+v, %v", more, err)
			}
		}
	})
}

// Impossible values are reported with their line: accuracies outside 0 to 1, and epochs that jump.
func TestImpossibleProgress(t *testing.T) {
	line := func(fields string) string { return `{"tfexp":{` + fields + "}}\n" }
	for text, want := range map[string][]string{
		line(`"epoch":1,"accuracy":93,"loss":0.5`):                                {"line 1: progress line: the accuracy 93 is left out"},
		line(`"epoch":1,"seconds":-3`):                                            {"line 1: progress line: a negative count or time"},
		line(`"final_accuracy":101`):                                              {"line 1: progress line: the accuracy 101 is left out"},
		line(`"epoch":1`) + line(`"epoch":2`) + line(`"epoch":7`):                 {"line 3: progress line: epoch 7 follows epoch 2"},
		line(`"epoch":2`) + line(`"epoch":3`) + line(`"epoch":2`):                 {"line 3: progress line: epoch 2 follows epoch 3"},
		line(`"epoch":5`) + line(`"epoch":10`) + line(`"epoch":15`):               nil, // each fifth has a line
		line(`"epoch":3`) + line(`"epoch":4`) + line(`"epoch":1`):                 nil, // it began again
		line(`"epoch":3`) + line(`"resumed":{"step":2}`) + line(`"epoch":2`):      nil,
		line(`"epoch":1,"step":5`) + line(`"step":10`) + line(`"epoch":2`):        nil,
		line(`"epoch":1,"accuracy":0`) + line(`"epoch":2,"accuracy":1,"loss":-1`): nil,
	} {
		r, err := Parse(strings.NewReader(text), Last)
		if err != nil || len(r.Warnings) != len(want) {
			t.Errorf("%s: warnings %q, %v, want %q", text, r.Warnings, err, want)
			continue
		}
		for i, w := range want {
			if !strings.Contains(r.Warnings[i], w) {
				t.Errorf("%s: warning %q, want %q", text, r.Warnings[i], w)
			}
		}
		if r.Accuracy != nil && (*r.Accuracy < 0 || *r.Accuracy > 1) {
			t.Errorf("%s: accuracy %g", text, *r.Accuracy)
		}
	}
}
