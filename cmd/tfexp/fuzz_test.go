package main

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/experiments"
)

// framed are messages as they pass on standard input, a line each in the text.
func framed(text string) string {
	var b strings.Builder
	for body := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(&b, "Content-Length: %d\r\n\r\n%s", len(body), body)
	}
	return b.String()
}

// Whatever an editor sends, whole messages or broken ones, the server answers or ends when the editor is gone.
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
