package formats

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler/workload"
)

// Whatever a file holds, a reader returns an error or jobs that can run, and what it can write is read back as it was.
func FuzzReaders(f *testing.F) {
	head := strings.Join(columns, ",")
	for _, text := range []string{
		"", "\ufeff", "\x00\x1b[2J", "; comment\n1 0 0 10 4 -1 -1 4 10 -1 1 1 1 1 1 1 -1 -1\n", strings.Repeat("9", 400),
		head + "\nj,c,0.000000000,1,0,0,0,0,1,false,0,,,,,\n", head + "\nj,,0,1,0,0,0,0,0,true,0,,,5,5,1:2;3:4\n",
		head + ",alternatives\nj,,0,1,0,0,1,0,1,false,0,,,5,5,,gpu threads=1 gpus=1 predicted_s=5 run_time_s=5;cpu threads=8 run_time_s=9\n",
		head + ",batch_size,alternatives\nj,,0,1,0,0,1,0,1,false,0,,,,,,3,K80 threads=1 gpus=1 gpu=K80\n",
		head + "\n\"j\n", batsim, `{"jobs": [{"id": null}]}`, `{"jobs": 1}`, `[[[[[[[[`, "0 j 1\n", "submit j 1e999\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range All() {
			for _, lenient := range []bool{false, true} {
				tr, err := format.Read("f", strings.NewReader(text), Options{Lenient: lenient})
				if err != nil {
					continue
				}
				for i, j := range tr.Jobs {
					if j.Number != i || !workload.ValidName(j.Name) || len(j.Name) > workload.MaxName || j.Arrival < 0 {
						t.Fatalf("%s reads a job that cannot be: %+v", format.Name, j)
					}
				}
				if !lenient && len(tr.Jobs) > 0 {
					for _, to := range All() {
						writtenAndRead(t, to, tr)
					}
				}
			}
		}
	})
}

// writtenAndRead writes a workload in a format, if that can hold it: it is read back as it was.
func writtenAndRead(t *testing.T, format *Format, tr workload.Trace) {
	t.Helper()
	var first, again bytes.Buffer
	if format.Writer == nil || format.check(&tr) != nil || format.Writer(&first, tr) != nil {
		return // it cannot hold it, and says so
	}
	back, err := format.Read("f", bytes.NewReader(first.Bytes()), Options{})
	if err != nil {
		t.Fatalf("%s cannot read what it wrote: %v\n%s", format.Name, err, first.String())
	}
	if err := format.Writer(&again, back); err != nil || withoutNotes(first.String()) != withoutNotes(again.String()) {
		t.Fatalf("%s: written again it is other: %v\n%s\n%s", format.Name, err, first.String(), again.String())
	}
}

// withoutNotes leaves out what a format says in a comment, such as when its first line was.
func withoutNotes(text string) string {
	if note, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(note, "# ") {
		return rest
	}
	return text
}

// Blanks without end are refused soon: a decoder of JSON would read them again and again.
func TestBlanksWithoutEnd(t *testing.T) {
	text := "[" + strings.Repeat(" ", 1<<24)
	_, err := Find("philly").Read("f", strings.NewReader(text), Options{})
	if err == nil || !strings.Contains(err.Error(), "blanks in a row") {
		t.Errorf("%v", err)
	}
}
