// Package store keeps what the runs of an experiment have finished: the cache
// with its keys, the journal, the lock of the folder, and packed cells.
//
// A finished output is addressed by the hash of its key, a labelled description
// of all that the output depends on. The description is kept beside the output,
// so that a miss can be explained by the lines that changed.
package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/tfexp/tfexp/results/record"
)

// openTimeout bounds the wait for another process that holds cache.db.
const openTimeout = 2 * time.Second

// Buckets of cache.db.
var (
	bucketEntries = []byte("entries") // key hash → entry
	bucketOutputs = []byte("outputs") // key hash → the output itself
	bucketLatest  = []byte("latest")  // unit → hash of its newest output
)

// Entry is the record of one finished output.
type Entry struct {
	Stage       string    `json:"stage"`
	Unit        string    `json:"unit"` // a cell, the samples of a job, …
	Description string    `json:"description"`
	Created     time.Time `json:"created"`
	Seconds     float64   `json:"seconds"`
	// Files are those that a stage left, where they are its output.
	Files []record.File `json:"files,omitempty"`
}

// Cache is the content-addressed store of finished work. It is written by one
// process at a time, which holds the lock of the experiment's folder.
type Cache struct {
	db *bbolt.DB

	mu      sync.Mutex // guards what follows
	waiting []waiting
	bytes   int // of waiting
}

// Open opens cache.db in dir for writing. A file that is not a bbolt
// database any more is set aside, with a warning: it is only a cache.
func Open(dir, name string) (*Cache, string, error) {
	path := filepath.Join(dir, name)
	open := func() (*bbolt.DB, error) {
		return bbolt.Open(path, 0o644, &bbolt.Options{Timeout: openTimeout, FreelistType: bbolt.FreelistMapType})
	}
	var warning string
	db, err := open()
	if errors.Is(err, berrors.ErrInvalid) || errors.Is(err, berrors.ErrChecksum) ||
		errors.Is(err, berrors.ErrVersionMismatch) {
		aside := path + ".broken"
		if rerr := os.Rename(path, aside); rerr != nil {
			return nil, "", fmt.Errorf("open cache %s: %w", path, err)
		}
		warning = fmt.Sprintf("%s was damaged and has been set aside as %s: finished work is taken from the plain files "+
			"where they are complete", path, aside)
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
	return &Cache{db: db}, warning, nil
}

// OpenReadOnly opens cache.db for reading only. It returns nil where there is no
// cache, or where a running tfexp holds it: the plain files are then enough.
func OpenReadOnly(dir, name string) *Cache {
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	db, err := bbolt.Open(path, 0o644, &bbolt.Options{Timeout: 50 * time.Millisecond, ReadOnly: true})
	if err != nil {
		return nil
	}
	c := &Cache{db: db}
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

// Close records the outputs that wait and closes the cache; it may be nil.
func (c *Cache) Close() error {
	if c == nil {
		return nil
	}
	return errors.Join(c.Flush(), c.db.Close())
}

// View runs f in one read transaction; f sees nothing in a nil cache.
func (c *Cache) View(f func(v View)) {
	if c == nil {
		f(View{})
		return
	}
	_ = c.db.View(func(tx *bbolt.Tx) error {
		f(View{tx.Bucket(bucketEntries), tx.Bucket(bucketOutputs), tx.Bucket(bucketLatest)})
		return nil
	})
}

// View reads the cache inside one transaction.
type View struct {
	entries, outputs, latest *bbolt.Bucket
}

// Has reports whether an output is there.
func (v View) Has(hash string) bool {
	return v.entries != nil && v.entries.Get([]byte(hash)) != nil
}

// Output returns a copy of an output.
func (v View) Output(hash string) ([]byte, bool) {
	if v.outputs == nil {
		return nil, false
	}
	b := v.outputs.Get([]byte(hash))
	if b == nil {
		return nil, false
	}
	return bytes.Clone(b), true
}

// Each calls visit for every recorded output, in the order of their hashes.
func (v View) Each(visit func(hash string, e Entry)) {
	if v.entries == nil {
		return
	}
	_ = v.entries.ForEach(func(hash, raw []byte) error {
		var e Entry
		if json.Unmarshal(raw, &e) == nil {
			visit(string(hash), e)
		}
		return nil
	})
}

// Last returns the record of the newest output of a unit.
func (v View) Last(unit string) (Entry, bool) {
	var e Entry
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

// Put records a finished output under its key, and as the newest of its
// units, together with the outputs given to Later. It must only be called when the
// output's files are durable, or are known by their sizes to be whole.
func (c *Cache) Put(k *Key, e Entry, output []byte, units ...string) error {
	if err := c.Later(k, e, output, units...); err != nil {
		return err
	}
	return c.Flush()
}

// waiting is an output that waits to be recorded.
type waiting struct {
	hash, raw, output []byte
	units             []string
}

// The most that may wait. A transaction takes as long as it takes to make
// hundreds of small outputs, which can be made again if they are lost.
const (
	mostRecords = 200
	mostBytes   = 16 << 20
)

// Later is Put for outputs that need not be recorded at once: they wait for
// others, so that all share a transaction.
func (c *Cache) Later(k *Key, e Entry, output []byte, units ...string) error {
	raw, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("record %s: %w", e.Unit, err)
	}
	c.mu.Lock()
	c.waiting = append(c.waiting, waiting{[]byte(k.Hash()), raw, output, append(units, e.Unit)})
	c.bytes += len(raw) + len(output)
	full := len(c.waiting) >= mostRecords || c.bytes >= mostBytes
	c.mu.Unlock()
	if full {
		return c.Flush()
	}
	return nil
}

// Flush records the outputs that wait.
func (c *Cache) Flush() error {
	c.mu.Lock()
	records := c.waiting
	c.waiting, c.bytes = nil, 0
	c.mu.Unlock()
	if len(records) == 0 {
		return nil
	}
	err := c.db.Update(func(tx *bbolt.Tx) error {
		entries, outputs, latest := tx.Bucket(bucketEntries), tx.Bucket(bucketOutputs), tx.Bucket(bucketLatest)
		for _, r := range records {
			if err := entries.Put(r.hash, r.raw); err != nil {
				return err
			}
			if r.output != nil {
				if err := outputs.Put(r.hash, r.output); err != nil {
					return err
				}
			}
			for _, u := range r.units {
				if err := latest.Put([]byte(u), r.hash); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("record finished work in the cache: %w", err)
	}
	return nil
}

// Forget removes outputs and their records.
func (c *Cache) Forget(hashes []string) error {
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
		return fmt.Errorf("remove outputs from the cache: %w", err)
	}
	return nil
}
