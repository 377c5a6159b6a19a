package pipeline

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
	// JobsBytes is the size of the jobs.csv that the views left.
	JobsBytes int64 `json:"jobs_bytes,omitempty"`
}

// cache is the content-addressed store of finished work. It is written by one
// process at a time, which holds the lock of the experiment's folder.
type cache struct {
	db *bbolt.DB

	mu      sync.Mutex // guards what follows
	waiting []waiting
	bytes   int // of waiting
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
	return errors.Join(c.flush(), c.db.Close())
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

// each calls visit for every recorded output, in the order of their hashes.
func (v cacheView) each(visit func(hash string, e entry)) {
	if v.entries == nil {
		return
	}
	_ = v.entries.ForEach(func(hash, raw []byte) error {
		var e entry
		if json.Unmarshal(raw, &e) == nil {
			visit(string(hash), e)
		}
		return nil
	})
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
// units, with all that were left for later. It must only be called when the
// output's files are durable, or are known by their sizes to be whole.
func (c *cache) put(k *Key, e entry, output []byte, units ...string) error {
	if err := c.later(k, e, output, units...); err != nil {
		return err
	}
	return c.flush()
}

// waiting is an output that is to be recorded.
type waiting struct {
	hash, raw, output []byte
	units             []string
}

// How much is left for later: a transaction takes as long as hundreds of small
// outputs, which can be had again if they are lost.
const (
	mostRecords = 200
	mostBytes   = 16 << 20
)

// later is put for outputs that need not be recorded at once: they wait for
// others, so that they share a transaction.
func (c *cache) later(k *Key, e entry, output []byte, units ...string) error {
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
		return c.flush()
	}
	return nil
}

// flush records all that waits.
func (c *cache) flush() error {
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
