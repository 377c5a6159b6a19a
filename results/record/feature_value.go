package record

import (
	"bytes"
	"encoding/json"
	"sync"
)

// FeatureValue is a value that a feature keeps with a cell, of the feature's type. In files it is the value's JSON.
type FeatureValue struct {
	mu    sync.Mutex // guards the fields below
	value any        // a pointer; nil until somebody asks for it
	raw   []byte     // of a file
}

// NewFeatureValue wraps a value so that it is kept with a cell.
func NewFeatureValue[T any](v *T) *FeatureValue { return &FeatureValue{value: v} }

// FeatureValueOf returns the value that is kept; nil without one, or where it is of another type. What comes from a file may be
// read as several types.
func FeatureValueOf[T any](k *FeatureValue) *T {
	if k == nil {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if v, ok := k.value.(*T); ok {
		return v
	}
	var v T
	if k.raw == nil || json.Unmarshal(k.raw, &v) != nil {
		return nil
	}
	k.value = &v
	return &v
}

// MarshalJSON returns the JSON of the value.
func (k *FeatureValue) MarshalJSON() ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.raw != nil {
		return k.raw, nil
	}
	return json.Marshal(k.value)
}

// UnmarshalJSON reads the output of MarshalJSON.
func (k *FeatureValue) UnmarshalJSON(raw []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.value, k.raw = nil, bytes.Clone(raw)
	return nil
}

// GobEncode and GobDecode write a cell down for another process.
func (k *FeatureValue) GobEncode() ([]byte, error) { return k.MarshalJSON() }

// GobDecode reads the output of GobEncode.
func (k *FeatureValue) GobDecode(raw []byte) error { return k.UnmarshalJSON(raw) }

// Equal reports whether two values have the same JSON.
func (k *FeatureValue) Equal(o *FeatureValue) bool {
	if k == nil || o == nil {
		return k == o
	}
	a, err := k.MarshalJSON()
	b, err2 := o.MarshalJSON()
	return err == nil && err2 == nil && bytes.Equal(a, b)
}
