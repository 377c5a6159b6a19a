package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
)

// A DamagedError is returned for a file whose content is not in tfexp's format.
type DamagedError struct {
	Path string
	// Line is the line of the first mistake, from 1 on.
	Line   int
	Reason string // a phrase about the mistake
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("%s is damaged: line %d: %s", e.Path, e.Line, e.Reason)
}

// ReadJSON reads a JSON file below dir into the value that v points to. It returns the errors of ReadFile, or a
// *DamagedError.
func ReadJSON(dir string, v any, name ...string) error {
	raw, err := ReadFile(dir, name...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, v); err != nil {
		reason, offset := InWords(err)
		line := 1 + bytes.Count(raw[:min(max(0, offset), len(raw))], []byte("\n"))
		return &DamagedError{Path: filepath.Join(dir, filepath.Join(name...)), Line: line, Reason: reason}
	}
	return nil
}

// InWords returns an error of package json in plain words, without terms of Go. It also returns the number of bytes
// read before the error.
func InWords(err error) (reason string, offset int) {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return syntax.Error(), int(syntax.Offset)
	case errors.As(err, &kind):
		at := ""
		if kind.Field != "" {
			at = fmt.Sprintf("%q: ", kind.Field)
		}
		return fmt.Sprintf("%s%s stands where %s must be", at, kind.Value, sort(kind.Type)), int(kind.Offset)
	}
	return err.Error(), 0
}

// sort returns the name of the JSON values that a Go type holds.
func sort(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return sort(t.Elem())
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map, reflect.Interface:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number of at most 1.8e308"
	}
	return "a whole number of 64 bits or less"
}

// IsUnusable reports whether an error says that a file exists but tfexp cannot use it: it is damaged, not a regular
// file, too large, outside its folder, or has a second hard link.
func IsUnusable(err error) bool {
	var damaged *DamagedError
	return errors.As(err, &damaged) || errors.Is(err, ErrNotRegular) || errors.Is(err, ErrTooLarge) ||
		errors.Is(err, ErrOutside) || errors.Is(err, ErrLinked)
}

// AsideEnding is appended to the name of an unusable file.
const AsideEnding = ".damaged"

// SetAside renames an unusable file (or anything with its name) below dir, and returns the new name. It replaces a
// file that was renamed before.
func SetAside(dir, name string) (string, error) {
	aside := name + AsideEnding
	if err := RemoveAll(filepath.Join(dir, aside)); err != nil {
		return "", err
	}
	return aside, Rename(filepath.Join(dir, name), filepath.Join(dir, aside))
}
