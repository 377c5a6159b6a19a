package store

import (
	"archive/tar"
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/s2"

	"github.com/tfexp/tfexp/results/record"
)

// write creates a folder with these files. The names may have slashes.
func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		if err := writeNew(filepath.Join(dir, filepath.FromSlash(name)), []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
}

// A cell that is packed and unpacked has the same files. Earlier files in its folder are removed.
func TestPackComesBack(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "cell")
	files := map[string]string{
		"cell.json": `{"state":"done"}`, "jobs.csv": "job,end\na,1\n", "logs/a.log": "epoch 1\n", "z.txt": "",
	}
	write(t, from, files)
	write(t, to, map[string]string{"old.csv": "of an earlier run"})
	packed, err := Pack(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := Unpack(to, packed); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, name := range []string{"cell.json", "jobs.csv", "logs/a.log", "z.txt"} {
		raw, err := os.ReadFile(filepath.Join(to, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		got[name] = string(raw)
	}
	if !maps.Equal(got, files) {
		t.Errorf("unpacked %q, want %q", got, files)
	}
	if _, err := os.Stat(filepath.Join(to, "old.csv")); !os.IsNotExist(err) {
		t.Errorf("a file of an earlier run is still there: %v", err)
	}
}

// Unpacking an incomplete cell writes no cell.json, which would mark the folder as complete.
func TestUnpackWhatIsNoCell(t *testing.T) {
	from := t.TempDir()
	write(t, from, map[string]string{"jobs.csv": "job,end\n"})
	noRecord, err := Pack(from)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	z := s2.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, name := range []string{"cell.json", "../outside.txt"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: 2}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, packed := range map[string][]byte{
		"no cell.json": noRecord, "a name outside": b.Bytes(), "no archive": []byte("no archive"), "nothing": nil,
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "cell")
			if err := Unpack(dir, packed); err == nil {
				t.Error("no error")
			}
			for _, path := range []string{filepath.Join(dir, record.CellFile), filepath.Join(root, "outside.txt")} {
				if _, err := os.Stat(path); !os.IsNotExist(err) {
					t.Errorf("%s is there: %v", path, err)
				}
			}
		})
	}
}

// A cell whose files have more than 64 MiB together is not stored in the cache.
func TestPackTooLarge(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"a": "", "b": "1"})
	if err := os.Truncate(filepath.Join(dir, "a"), 64<<20); err != nil {
		t.Fatal(err)
	}
	if packed, err := Pack(dir); err != nil || packed != nil {
		t.Errorf("%d bytes, %v, want none", len(packed), err)
	}
	write(t, dir, map[string]string{"b": ""})
	if packed, err := Pack(dir); err != nil || packed == nil {
		t.Errorf("a cell of 64 MiB is not packed: %v", err)
	}
}
