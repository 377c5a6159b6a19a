package statistics

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/steering"
)

// TestStatistics writes the epochs of a trial whose number of workers changed while it ran. Reports that are not epochs
// are left out.
func TestStatistics(t *testing.T) {
	dir := t.TempDir()
	c := record.CellRef{Cell: "c-r1", Beyond: record.NewFeatureValue(&struct{ Settings []record.Setting }{[]record.Setting{{Name: "ps", Value: "1"},
		{Name: "workers", Value: "2"}}})}
	folder := filepath.Join(dir, record.CellsDir, c.Cell)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	text := "t_s,job,epoch,step,loss,accuracy,seconds,threads,used_s,left_s,left_told_s\n" +
		"1,j-1,1,10,0.9,,1.5,2,,,\n1.5,j-1,0,15,0.8,,,2,,,\n3,j-1,2,20,0.5,,1,2,,,\n"
	if err := os.WriteFile(filepath.Join(folder, record.Progress.File), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	rows := []steering.Row{{At: 1, Job: "j-1", After: "workers=3", How: "restart"},
		{At: 2, Job: "j-1", After: "workers=9", How: "refused"}}
	rows[0].At = 1.2
	if _, err := steering.Decisions.Write(folder, rows); err != nil {
		t.Fatal(err)
	}
	e := &record.Experiment{Dir: dir, Beyond: []record.Cell{{CellRef: c}}}
	var b strings.Builder
	n, err := write(&b, e, "", map[string]string{"intra": "4", "n_ps": "7"})
	want := "epoch,n_ps,n_worker,intra,inter,loss,epoch_time\n1,1,2,4,,0.9,1.5\n2,1,3,4,,0.5,1\n"
	if err != nil || n != 2 || b.String() != want {
		t.Errorf("%d epochs, %v:\n%s\nwant\n%s", n, err, b.String(), want)
	}
	b.Reset()
	if n, err := write(&b, e, "other", nil); n != 0 || err != nil {
		t.Errorf("another cell has %d epochs, %v", n, err)
	}
}
