package policy

import (
	"embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Settings has the values of the settings of a policy's choices, by name. A value is a time.Duration, float64, int,
// string, []string, []schema.Setting or bool.
type Settings map[string]any

// Duration returns a duration; 0 if it is not set.
func (s Settings) Duration(name string) time.Duration { d, _ := s[name].(time.Duration); return d }

// Number returns a number; 0 if it is not set.
func (s Settings) Number(name string) float64 { v, _ := s[name].(float64); return v }

// Fill sets the fields of a struct that have tags of arguments.
func (s Settings) Fill(into any) { schema.Fill(into, s) }

//go:embed settings.go
var source embed.FS

// described returns the arguments that the tags of a struct describe.
func described[T any]() []schema.Arg { return schema.Described[T](source) }

type quantumSetting struct {
	// How long a job runs before tfexp checks the order again; at least 1ms.
	//
	//	quantum = "1s"
	Quantum time.Duration `arg:"quantum,required,positive" least:"1ms"`
}

type feedbackSetting struct {
	// The time after which the level of a waiting job improves by one, again and again.
	//
	// Default: off.
	//
	//	feedback = "10s"
	Feedback time.Duration `arg:"feedback,positive"`
}

// RoundLength is the argument of all policies of rounds.
type RoundLength struct {
	// The length of a round; the policy decides at the start of each round; at least 1ms. Jobs that keep their devices
	// are not interrupted. A round in which nothing runs any more is over.
	//
	//	rounds = "360s"
	Length time.Duration `arg:"rounds,required,positive" least:"1ms"`
}

// Settings that several orders share, or that the scheduler itself uses.
var (
	// Quantum is the argument of orders under which a job is considered again at the end of each quantum.
	Quantum  = described[quantumSetting]()[0]
	feedback = described[feedbackSetting]()[0]
)

// listed separates the elements of a list in a text.
const listed = ", "

// parse parses the text of a value.
func parse(a schema.Arg, text string) (any, error) {
	if s, err := strconv.Unquote(text); err == nil {
		text = s
	}
	switch a.Type {
	case schema.Duration:
		return schema.ParseDuration(text)
	case schema.Number:
		return strconv.ParseFloat(text, 64)
	case schema.Integer:
		return strconv.Atoi(text)
	case schema.Bool:
		return strconv.ParseBool(text)
	case schema.Strings:
		return strings.Split(text, listed), nil
	case schema.StringMap:
		var all []schema.Setting
		for one := range strings.SplitSeq(text, listed) {
			name, value, _ := strings.Cut(one, " = ")
			all = append(all, schema.Setting{Name: name, Value: value})
		}
		return all, nil
	}
	return text, nil
}

// format returns the text of a value, which parse reads; empty for nil.
func format(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case []string:
		return strings.Join(v, listed)
	case []schema.Setting:
		all := make([]string, len(v))
		for i, s := range v {
			all[i] = s.Name + " = " + s.Value
		}
		return strings.Join(all, listed)
	}
	return fmt.Sprint(v)
}

// check returns an error if a value does not have the argument's type, or is out of its bounds.
func check(a schema.Arg, v any) error {
	var n float64
	ok := false
	switch v := v.(type) {
	case time.Duration:
		n, ok = v.Seconds(), a.Type == schema.Duration
	case float64:
		n, ok = v, a.Type == schema.Number
	case int:
		n, ok = float64(v), a.Type == schema.Integer
	case string:
		return mismatch(a, v, a.Type == schema.String)
	case bool:
		return mismatch(a, v, a.Type == schema.Bool)
	case []string:
		return mismatch(a, v, a.Type == schema.Strings)
	case []schema.Setting:
		return mismatch(a, v, a.Type == schema.StringMap)
	}
	if a.Positive && !(n > 0) || a.Min != nil && !(n >= *a.Min) || a.Max != nil && !(n <= *a.Max) {
		return fmt.Errorf("%s of %s is out of range", a.Name, format(v))
	}
	return mismatch(a, v, ok)
}

func mismatch(a schema.Arg, v any, ok bool) error {
	if ok {
		return nil
	}
	return fmt.Errorf("%s is a %s, not %T", a.Name, a.Type, v)
}

// MarshalJSON encodes each value as a text.
func (s Settings) MarshalJSON() ([]byte, error) {
	texts := make(map[string]string, len(s))
	for name, v := range s {
		texts[name] = format(v)
	}
	return json.Marshal(texts)
}

// UnmarshalJSON decodes the texts by the types of the registered arguments.
func (s *Settings) UnmarshalJSON(b []byte) error {
	var texts map[string]string
	if err := json.Unmarshal(b, &texts); err != nil {
		return err
	}
	*s = Settings{}
	for _, a := range OwnSettings() {
		text, ok := texts[a.Name]
		if !ok {
			continue
		}
		v, err := parse(a.Arg, text)
		if err != nil {
			return fmt.Errorf("setting %s: %w", a.Name, err)
		}
		(*s)[a.Name] = v
		delete(texts, a.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		return fmt.Errorf("setting %q: no policy reads it", name)
	}
	return nil
}
