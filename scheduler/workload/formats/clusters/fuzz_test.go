package clusters

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
	"github.com/tfexp/tfexp/scheduler/workload/logs"
)

// columns are the columns of the core's table.
var columns = func() []string {
	var head strings.Builder
	if err := formats.WriteCSV(&head, workload.Trace{}); err != nil {
		panic(err)
	}
	return strings.Split(strings.TrimSpace(head.String()), ",")
}()

// For any file, a reader returns an error or jobs that can run, and a written workload is read back unchanged.
func FuzzReaders(f *testing.F) {
	head := strings.Join(columns, ",")
	for _, text := range []string{
		"", "\ufeff", "\x00\x1b[2J", "; comment\n1 0 0 10 4 -1 -1 4 10 -1 1 1 1 1 1 1 -1 -1\n", strings.Repeat("9", 400),
		head + "\nj,c,0.000000000,1,0,0,0,0,1,false,0,,,,,\n", head + "\nj,,0,1,0,0,0,0,0,true,0,,,5,5,1:2;3:4\n",
		head + ",alternatives\nj,,0,1,0,0,1,0,1,false,0,,,5,5,,gpu threads=1 gpus=1 predicted_s=5 run_time_s=5;cpu threads=8 run_time_s=9\n",
		head + ",batch_size,alternatives\nj,,0,1,0,0,1,0,1,false,0,,,,,,3,K80 threads=1 gpus=1 gpu=K80\n",
		head + "\n\"j\n", batsim, `[{"jobid": 1}]`, "1 0 0 10 1 -1 -1 1e9 10 -1 1 1 1 1 1 1 -1 -1\n",
		`[{"attempts": {"x": 1}}, null, {"vc": [2]}]`, `{"jobs": [{"id": null}]}`, `{"jobs": 1}`, `[[[[[[[[`, "0 j 1\n", "submit j 1e999\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range formats.All() {
			for _, lenient := range []bool{false, true} {
				tr, err := format.Read("f", strings.NewReader(text), formats.Options{Lenient: lenient})
				if err != nil {
					for _, word := range []string{"strconv.", "Go struct", "Go value", "unmarshal"} {
						if strings.Contains(strings.ReplaceAll(err.Error(), text, ""), word) && !strings.Contains(text, word) {
							t.Fatalf("%s speaks of Go: %v", format.Name, err)
						}
					}
					continue
				}
				for i, j := range tr.Jobs {
					if j.Number != i || !logs.ValidName(j.Name) || len(j.Name) > workload.MaxName || j.Arrival < 0 {
						t.Fatalf("%s reads a job that cannot be: %+v", format.Name, j)
					}
				}
				if !lenient && len(tr.Jobs) > 0 {
					for _, to := range formats.All() {
						writtenAndRead(t, to, tr)
					}
				}
			}
		}
	})
}

// Whatever the columns of a table hold, durations, dates and resources among them, and whichever columns facts are taken
// from, a reader returns an error or jobs that can run.
func FuzzColumns(f *testing.F) {
	const head = "when,took,from,to,asked,cores,devices,on,mem,size,id,kind,who,prio\n"
	for _, row := range []string{
		"0,1,,,,1,0,1,1G,,a,b,c,0", "2024-05-01T08:00:00,1-02:03:04,,,1h30m,4,a100:2,2,512Mn,64,1.batch,x,y,-5",
		"2024-02-30,00:61,2024-01-01T00:00:00+25:00,Unknown,UNLIMITED,cpu=4,gres/gpu=2,node1,4Gc,1e9,,,,1e9",
		"1e308,NaN,-Inf,+Inf,-1,1e18,0.5,0,1.5T,0,\u202e,\x1b,\x00,", "9999999999,9223372036854775807,0x1p63,1_000,,,,,,,,,,",
		"01/02/2024 8:00 PM,PT1H,8:00,0:0:0:0,1d,,cpu=4;mem=16G,,16,,,,,",
	} {
		for _, unit := range []string{"1s", "1ns", "100h"} {
			f.Add(head+row+"\n", "arrival=when,run_time=took,requested_time=asked,threads=cores,gpus=devices", unit)
			f.Add(head+row+"\n", "arrival=when,start=from,end=to,nodes=on,memory=mem,job=id,class=kind,user=who,priority=prio",
				unit)
		}
	}
	f.Fuzz(func(t *testing.T, text, mapping, unit string) {
		var columns []schema.Setting
		for pair := range strings.SplitSeq(mapping, ",") {
			fact, column, _ := strings.Cut(pair, "=")
			columns = append(columns, schema.Setting{Name: fact, Value: column})
		}
		length, err := time.ParseDuration(unit)
		if err != nil || length <= 0 {
			t.Skip("the language takes no such unit")
		}
		for _, lenient := range []bool{false, true} {
			tr, err := formats.Find("table").Read("f", strings.NewReader(text), formats.Options{Lenient: lenient,
				Args: map[string]any{"columns": columns, formats.UnitArg.Name: length}})
			if err != nil {
				continue
			}
			for i := range tr.Jobs {
				if err := tr.Jobs[i].Check(i); err != nil {
					t.Fatal(err)
				}
				if tr.Timed(i) && tr.RunTimes[i] < 0 {
					t.Fatalf("job %d runs for %s", i, tr.RunTimes[i])
				}
			}
		}
	})
}

// writtenAndRead writes a workload in a format and reads it back. Both must be equal, unless the format cannot hold the
// workload.
func writtenAndRead(t *testing.T, format *formats.Format, tr workload.Trace) {
	t.Helper()
	var first, again bytes.Buffer
	if format.Writer == nil || format.Write(&first, tr) != nil {
		return // it cannot hold it, and says so
	}
	back, err := format.Read("f", bytes.NewReader(first.Bytes()), formats.Options{})
	if err != nil {
		t.Fatalf("%s cannot read what it wrote: %v\n%s", format.Name, err, first.String())
	}
	if err := format.Writer(&again, back); err != nil || withoutNotes(first.String()) != withoutNotes(again.String()) {
		t.Fatalf("%s: written again it is other: %v\n%s\n%s", format.Name, err, first.String(), again.String())
	}
}

// withoutNotes removes the comments of a format.
func withoutNotes(text string) string {
	if note, rest, ok := strings.Cut(text, "\n"); ok && strings.HasPrefix(note, "# ") {
		return rest
	}
	return text
}

// A file of endless blanks is refused early, because a JSON decoder would read it again and again.
func TestBlanksWithoutEnd(t *testing.T) {
	text := "[" + strings.Repeat(" ", 1<<24)
	_, err := formats.Find("philly").Read("f", strings.NewReader(text), formats.Options{})
	if err == nil || !strings.Contains(err.Error(), "spaces in a row") {
		t.Errorf("%v", err)
	}
}
