package external

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Any answer of a program is either a valid answer of the protocol or an error with a short message.
func FuzzAnswers(f *testing.F) {
	for _, text := range []string{`{"type":"ready","protocol":1,"name":"x","ask":"waiting"}`,
		`{"type":"answer","do":[{"start":"a","cores":2,"on":"0-3,7","nodes":["n1"]}],"call_at_ns":5,"waits":{"a":"b"}}`,
		`{"do":[{"start":"a","pause":"b"}]}`, `{"do":null}{}`, `{"type":"end","state":{"x":1e999}}`, `[`, "\xff", `{"do":[{"on":"0-4294967295"}]}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var list decisionList
		if err := decodeAnswer(raw, &list); err != nil {
			if len(err.Error()) > 2000 || !utf8.ValidString(err.Error()) {
				t.Errorf("%d bytes are said of it", len(err.Error()))
			}
		}
		for i := range list.Do {
			verb, job, err := list.Do[i].verbAndJob()
			if err == nil && (verb == "" || job == "") {
				t.Errorf("%q of %q", verb, job)
			}
			var on cluster.CoreSet
			if on.UnmarshalText([]byte(list.Do[i].On)) == nil && on.Count() < 0 {
				t.Errorf("%q has %d cores", list.Do[i].On, on.Count())
			}
		}
		d := &programAdmitter{process: &policyProcess{}}
		if d.readState(raw) == nil && d.state != nil && !json.Valid(d.state) {
			t.Errorf("the state is %q", d.state)
		}
		var ready readyMessage
		_ = decodeAnswer(raw, &ready)
	})
}
