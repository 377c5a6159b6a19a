package pipeline

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// openTimeout bounds the wait for another process that holds cache.db.
const openTimeout = 2 * time.Second

// Buckets of cache.db.
var (
	bucketEntries = []byte("entries") // key hash → entry
	bucketOutputs = []byte("outputs") // key hash → the output itself
	bucketLatest  = []byte("latest")  // unit → hash of its newest output
)

// entry is the record of one finished output.
type entry struct {
	Stage       string    `json:"stage"`
	Unit        string    `json:"unit"` // cell, job kind, …
	Description string    `json:"description"`
	Created     time.Time `json:"created"`
	Seconds     float64   `json:"seconds"`
}

// cache is the content-addressed store of finished work. It is written by one
// process at a time, which holds the lock of the experiment's folder.
type cache struct {
	db *bbolt.DB
}

// openCache opens cache.db in dir for writing. A file that is not a bbolt
// database any more is set aside, with a warning: it is only a cache.
func openCache(dir, name string) (*cache, string, error) {
	path := filepath.Join(dir, name)
	open := func() (*bbolt.DB, error) {
		return bbolt.Open(path, 0o644, &bbolt.Options{Timeout: openTimeout, FreelistType: bbolt.FreelistMapType})
	}
	var warning string
	db, err := open()
	if errors.Is(err, berrors.ErrInvalid) || errors.Is(err, berrors.ErrChecksum) || errors.Is(err, berrors.ErrVersionMismatch) {
		aside := path + ".broken"
		if rerr := os.Rename(path, aside); rerr != nil {
			return nil, "", fmt.Errorf("open cache %s: %w", path, err)
		}
		warning = fmt.Sprintf("%s was damaged and has been set aside as %s: finished work is taken from the plain files where they are complete", path, aside)
		db, err = open()
	}
	if err != nil {
		return nil, "", fmt.Errorf("open cache %s: %w", path, err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, b := range [][]byte{bucketEntries, bucketOutputs, bucketLatest} {
			if _, err := tx.CreateBucketIfNotExists(b); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		db.Close()
		return nil, "", fmt.Errorf("prepare cache %s: %w", path, err)
	}
	return &cache{db: db}, warning, nil
}

// readCache opens cache.db for reading only. It returns nil where there is no
// cache, or where a running tfexp holds it: the plain files then tell enough.
func readCache(dir, name string) *cache {
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	db, err := bbolt.Open(path, 0o644, &bbolt.Options{Timeout: 50 * time.Millisecond, ReadOnly: true})
	if err != nil {
		return nil
	}
	c := &cache{db: db}
	// A database that was created but never prepared has no buckets.
	if db.View(func(tx *bbolt.Tx) error {
		if tx.Bucket(bucketEntries) == nil || tx.Bucket(bucketOutputs) == nil || tx.Bucket(bucketLatest) == nil {
			return errors.New("empty")
		}
		return nil
	}) != nil {
		db.Close()
		return nil
	}
	return c
}

func (c *cache) close() error {
	if c == nil {
		return nil
	}
	return c.db.Close()
}

// view runs f in one read transaction; f sees nothing in a nil cache.
func (c *cache) view(f func(v cacheView)) {
	if c == nil {
		f(cacheView{})
		return
	}
	_ = c.db.View(func(tx *bbolt.Tx) error {
		f(cacheView{tx.Bucket(bucketEntries), tx.Bucket(bucketOutputs), tx.Bucket(bucketLatest)})
		return nil
	})
}

// cacheView reads the cache inside one transaction.
type cacheView struct {
	entries, outputs, latest *bbolt.Bucket
}

// has tells whether an output is there.
func (v cacheView) has(hash string) bool {
	return v.entries != nil && v.entries.Get([]byte(hash)) != nil
}

// output returns a copy of an output.
func (v cacheView) output(hash string) ([]byte, bool) {
	if v.outputs == nil {
		return nil, false
	}
	b := v.outputs.Get([]byte(hash))
	if b == nil {
		return nil, false
	}
	return bytes.Clone(b), true
}

// last returns the record of the newest output of a unit.
func (v cacheView) last(unit string) (entry, bool) {
	var e entry
	if v.latest == nil {
		return e, false
	}
	hash := v.latest.Get([]byte(unit))
	if hash == nil {
		return e, false
	}
	raw := v.entries.Get(hash)
	if raw == nil || json.Unmarshal(raw, &e) != nil {
		return e, false
	}
	return e, true
}

// put records a finished output under its key, and as the newest of its
// units. It must only be called when the output's files are durable.
func (c *cache) put(k *Key, e entry, output []byte, units ...string) error {
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("record %s: %w", e.Unit, err)
	}
	hash := []byte(k.Hash())
	err = c.db.Update(func(tx *bbolt.Tx) error {
		if err := tx.Bucket(bucketEntries).Put(hash, raw); err != nil {
			return err
		}
		if output != nil {
			if err := tx.Bucket(bucketOutputs).Put(hash, output); err != nil {
				return err
			}
		}
		for _, u := range append(units, e.Unit) {
			if err := tx.Bucket(bucketLatest).Put([]byte(u), hash); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("record %s in the cache: %w", e.Unit, err)
	}
	return nil
}

// forget removes outputs and their records.
func (c *cache) forget(hashes []string) error {
	err := c.db.Update(func(tx *bbolt.Tx) error {
		for _, h := range hashes {
			if err := tx.Bucket(bucketOutputs).Delete([]byte(h)); err != nil {
				return err
			}
			if err := tx.Bucket(bucketEntries).Delete([]byte(h)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("forget what the cache holds: %w", err)
	}
	return nil
}
