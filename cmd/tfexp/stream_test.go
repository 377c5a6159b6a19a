package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
)

// A message that is none is answered with what is wrong with it, and the ones after it as ever.
func TestMalformedMessages(t *testing.T) {
	const rest = "\n" + `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}` +
		"\n" + `{"jsonrpc":"2.0","id":8,"method":"shutdown"}` + "\n" + `{"jsonrpc":"2.0","method":"exit"}`
	for _, c := range []struct{ message, code string }{
		{`{"jsonrpc":"2.0","id":1,"method"`, "-32700"},
		{`{"jsonrpc":"2.0","id":1} and more`, "-32700"},
		{``, "-32700"},
		{`{"params":[]}`, "-32600"},
		{`[{"jsonrpc":"2.0","id":1,"method":"shutdown"}]`, "-32600"},
	} {
		var out bytes.Buffer
		check := func(string, []byte) experiments.Diagnostics { return nil }
		if err := Serve(t.Context(), strings.NewReader(framed(c.message+rest)), &out, "1", check); err != nil {
			t.Errorf("%q: %v", c.message, err)
		}
		for _, want := range []string{`"error":{"code":` + c.code, `"id":null`, `"id":7`, `"id":8`} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%q: the answers lack %s: %s", c.message, want, out.String())
			}
		}
	}
	// Where a message without a length ends is not known.
	err := Serve(t.Context(), strings.NewReader("Length: 2\r\n\r\n{}"+framed(rest[1:])), new(bytes.Buffer), "1", nil)
	if err == nil {
		t.Error("a message without a length is passed over")
	}
}
