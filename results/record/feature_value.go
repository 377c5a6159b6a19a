package record

import (
	"bytes"
	"encoding/json"
	"sync"
)

// FeatureValue is a value, of a type of a feature, that is stored with a cell. In files it is JSON.
type FeatureValue struct {
	mu    sync.Mutex // guards the fields below
	value any        // pointer to the value; nil until the first use
	raw   []byte     // JSON from a file
}

// NewFeatureValue returns a FeatureValue that holds *v.
func NewFeatureValue[T any](v *T) *FeatureValue { return &FeatureValue{value: v} }

// FeatureValueOf returns the stored value as a *T. It returns nil without a value, or if the value has another type.
// JSON from a file can be read as several types.
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

// GobEncode encodes the value for another process.
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
