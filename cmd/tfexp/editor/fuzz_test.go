package editor

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments"
)

// framed returns the lines of a text as messages of the protocol.
func framed(text string) string {
	var b strings.Builder
	for body := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	return b.String()
}

// For any input, valid or malformed, the server answers, and it ends when its input ends.
func FuzzMessages(f *testing.F) {
	opened := `{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":"file:///e.hcl","text":` +
		`"job \"a\" {\n  command = [\"ü😀\"]\n  \n}\npolicy \"p\" { order = \"\" }"}}}`
	ask := func(method string, line, character int64) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"textDocument/%s","params":{"textDocument":{"uri":"file:///e.hcl"},`+
			`"position":{"line":%d,"character":%d}}}`, method, line, character)
	}
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}` + "\n" + `{"jsonrpc":"2.0","id":2,"method":"shutdown"}` +
			"\n" + `{"jsonrpc":"2.0","method":"exit"}`,
		opened + "\n" + ask("completion", 2, 2) + "\n" + ask("hover", 0, 1) + "\n" + ask("definition", 1, 1<<40),
		opened + "\n" + ask("completion", -1, -1) + "\n" + ask("hover", 1<<40, -5) + "\n" + ask("formatting", 0, 0),
		`{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":null}`, `{"params":[]}`, `[]`, `null`, ``, `{"id":{}}`,
		`{"jsonrpc":"2.0","method":"textDocument/didChange","params":{"textDocument":{"uri":"\u0000%zz"},"contentChanges":[{}]}}`,
	} {
		f.Add(text, true)
	}
	f.Add("Content-Length: 99999999999999999999\r\n\r\n{}", false)
	f.Add("Content-Length: -1\r\nContent-Length: 2\r\n\r\n{}", false)
	check := func(string, []byte) experiments.Diagnostics { return nil }
	f.Fuzz(func(t *testing.T, text string, whole bool) {
		if whole {
			text = framed(text)
		}
		ended := make(chan error, 1)
		go func() { ended <- Serve(t.Context(), bytes.NewReader([]byte(text)), io.Discard, "1", check) }()
		select {
		case <-ended:
		case <-time.After(20 * time.Second):
			t.Fatal("it waits for an editor that is gone")
		}
	})
}

// The server answers a malformed message with an error, and then continues with the next messages.
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
	// If a message has no length, its end is unknown.
	err := Serve(t.Context(), strings.NewReader("Length: 2\r\n\r\n{}"+framed(rest[1:])), new(bytes.Buffer), "1", nil)
	if err == nil {
		t.Error("a message without a length is passed over")
	}
}
