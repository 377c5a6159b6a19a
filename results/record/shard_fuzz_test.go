package record

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Whatever a shard and its index contain, they are read or refused. Each cell that is found can be read, or is
// forgotten. A new index finds the same cells.
func FuzzShards(f *testing.F) {
	const index = "cell,key,state,shard,at,size\n"
	whole := `{"cell":"a","depends_on":"x","result":{"key":"k","state":"finished"}}`
	for _, c := range [][2]string{
		{whole + "\n", ""}, {whole + "\n", index + fmt.Sprintf("a,k,finished,run-1.jsonl,0,%d\n", len(whole))}, {whole, index},
		{whole + "\n" + whole + "\n", index + "a,k,finished,run-1.jsonl,7,9\n"}, {"", index + "a,k,finished,../x,0,1\n"},
		{"{}\nnull\n[1]\n", index + "a,k,finished,run-1.jsonl,9223372036854775807,67108864\n"},
		{strings.Repeat("[", 20000) + "\n", index + "a,k,finished,index.csv,0,5\na,k,finished,run-1.jsonl,-1,5\n"},
		{`{"cell":"a","result":{"key":"k","state":"finished","metrics":{"jobs":1e999}}}` + "\n", "\"\n"},
		{strings.Replace(whole, `"a"`, `"../../x"`, 1) + "\n\x00\n", "\xff"},
	} {
		f.Add(c[0], c[1])
	}
	dir := f.TempDir()
	cells := filepath.Join(dir, CellsDir)
	if err := os.Mkdir(cells, 0o755); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, shard, index string) {
		for name, text := range map[string]string{"run-1.jsonl": shard, ShardIndex: index} {
			if err := os.WriteFile(filepath.Join(cells, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		found := func() (all []string, s *Shards) {
			s, err := OpenShards(dir, "")
			if err != nil {
				return nil, nil
			}
			var entries []ShardEntry
			for _, cell := range slices.Sorted(maps.Keys(s.cells)) {
				if last, ok := s.Last(cell); ok {
					entries = append(entries, last)
				}
				for _, e := range slices.Clone(s.cells[cell]) {
					if _, ok := s.Find(e.Cell, e.Key); !ok {
						t.Errorf("%+v is not found", e)
					}
					entries = append(entries, e)
				}
			}
			_ = s.Verify(entries)
			if s.Each(entries, func(_ int, l ShardLine) { all = append(all, fmt.Sprint(l.Cell, l.Result.Key, l.Result.State)) }) != nil {
				return nil, nil
			}
			slices.Sort(all)
			return slices.Compact(all), s
		}
		_, s := found()
		if s == nil || s.WriteIndex() != nil {
			return
		}
		first, _ := found() // the index has what could be read
		if again, _ := found(); !slices.Equal(first, again) {
			t.Errorf("with an index %q, then %q", first, again)
		}
	})
}

// A shard with very many lines of one cell is read in linear time, and a finished cell is found.
func TestRepeatedCell(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, CellsDir), 0o755); err != nil {
		t.Fatal(err)
	}
	line := func(key, state string) string {
		return fmt.Sprintf(`{"cell":"a","depends_on":"x","result":{"key":%q,"state":%q}}`+"\n", key, state)
	}
	var b strings.Builder
	b.WriteString(line("k", "finished"))
	for i := range 100_000 {
		b.WriteString(line(fmt.Sprint("k", i%3), "failed"))
	}
	if err := os.WriteFile(filepath.Join(dir, CellsDir, "run-1.jsonl"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := OpenShards(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if at, ok := s.Find("a", "k"); !ok || at.At != 0 || at.State != finishedState {
		t.Errorf("found %+v, %v", at, ok)
	}
	if len(s.cells["a"]) > mostEntries {
		t.Errorf("%d entries", len(s.cells["a"]))
	}
}
