package store

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// Any content of a cache is read or counts as missing. Unpacked files stay in their folder, and their size is bounded.
func FuzzCacheValues(f *testing.F) {
	top := f.TempDir()
	cell := filepath.Join(top, "cell")
	for name, text := range map[string]string{"cell.json": "{}", "logs/a.log": "a\n"} {
		if err := writeNew(filepath.Join(cell, filepath.FromSlash(name)), []byte(text)); err != nil {
			f.Fatal(err)
		}
	}
	packed, err := Pack(cell)
	if err != nil {
		f.Fatal(err)
	}
	entry, err := json.Marshal(Entry{Description: "stage execute\n"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(entry, packed, []byte("hash"))
	f.Add([]byte("null"), packed[:len(packed)/2], []byte("other"))
	f.Add([]byte(`{"sum": 1e999}`), []byte("\xff\x06\x00\x00S2sTwO"), []byte(""))
	f.Add([]byte("\x00"), []byte{}, []byte("\x00"))
	dir := f.TempDir()
	c, _, err := Open(dir, "cache.db")
	if err != nil {
		f.Fatal(err)
	}
	c.db.NoSync = true
	f.Cleanup(func() { c.Close() })
	f.Fuzz(func(t *testing.T, entry, output, latest []byte) {
		err := c.db.Update(func(tx *bbolt.Tx) error {
			for bucket, kv := range map[string][2][]byte{string(bucketEntries): {[]byte("hash"), entry},
				string(bucketOutputs): {[]byte("hash"), output}, string(bucketLatest): {[]byte("unit"), latest}} {
				if err := tx.Bucket([]byte(bucket)).Put(kv[0], kv[1]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		c.View(func(v View) {
			v.Last("unit")
			v.Each(func(string, Entry) {})
			v.Output("hash")
		})
		top := t.TempDir()
		if Unpack(filepath.Join(top, "in", "cell"), output) == nil {
			if _, err := os.Stat(filepath.Join(top, "in", "cell", "cell.json")); err != nil {
				t.Error("a cell without its record is unpacked")
			}
		}
		total := int64(0)
		err = filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err == nil && !d.IsDir() {
				total += info.Size()
				if rel, _ := filepath.Rel(filepath.Join(top, "in", "cell"), path); !filepath.IsLocal(rel) || !info.Mode().IsRegular() {
					t.Errorf("%s is unpacked", path)
				}
			}
			return err
		})
		if err != nil || total > maxUnpacked {
			t.Errorf("%d bytes, %v", total, err)
		}
	})
}
