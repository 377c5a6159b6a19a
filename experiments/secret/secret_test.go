package secret

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Processes that run one after the other or at the same time get the same key, and only the user can read its file.
func TestKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tfexp")
	keys := make([]string, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			key, err := keyIn(dir)
			if err != nil {
				t.Error(err)
			}
			keys[i] = string(key)
		})
	}
	all.Wait()
	if len(slices.Compact(keys)) != 1 || len(keys[0]) != keyBytes {
		t.Errorf("keys %q", keys)
	}
	files, _ := os.ReadDir(dir)
	if info, err := files[0].Info(); err != nil || len(files) != 1 || info.Mode().Perm() != 0o600 {
		t.Errorf("the folder of the key has %v", files)
	}
	if err := os.WriteFile(filepath.Join(dir, "key"), []byte("abc\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := keyIn(dir); err == nil || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("a damaged key: %v", err)
	}
}

func TestHide(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	one, err := Hide("hunter2")
	if err != nil {
		t.Fatal(err)
	}
	again, _ := Hide("hunter2")
	other, _ := Hide("hunter3")
	if one != again || one == other || !Hides(one) || Hides(Shown) || Variable(one) == "" || Variable("x"+one) != "" {
		t.Errorf("tokens %s, %s, %s", one, again, other)
	}
	out, err := Reveal([]string{"a", "TOKEN=" + one, other})
	if want := []string{"a", "TOKEN=hunter2", "hunter3"}; err != nil || !slices.Equal(out, want) {
		t.Errorf("revealed %q, %v", out, err)
	}
	if _, err := Reveal([]string{"(sensitive:0123456789abcdef0123456789abcdef)"}); !errors.Is(err, ErrUnknown) {
		t.Errorf("an unknown token: %v", err)
	}
	if got := Redact("failed with hunter2"); got != "failed with "+Shown {
		t.Errorf("redacted: %s", got)
	}
}

// Logs are cut between lines, and one value can begin with another.
func TestRedact(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, value := range []string{"-----BEGIN-----\r\nMIIEow\r\nabc\n-----END-----\n", "seasoned", "seasoned salt", "salt"} {
		if _, err := Hide(value); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]string{
		"key MIIEow, abc\n-----END-----": "key (sensitive), abc\n(sensitive)",
		"a seasoned salt of seasoned":    "a (sensitive) of (sensitive)",
		"the end":                        "the end",
	} {
		if got := Redact(text); got != want {
			t.Errorf("%q is redacted to %q, want %q", text, got, want)
		}
	}
}

func TestArguments(t *testing.T) {
	args := []string{"tfexp", "run", "--var=token=a=b", "-var", "token=x\ny", "-var", " token = z", "-var=tokens=1", "a.hcl"}
	want := []string{"tfexp", "run", "--var=token=(sensitive)", "-var", "token=(sensitive)", "-var", " token =(sensitive)",
		"-var=tokens=1", "a.hcl"}
	if got := Arguments(args, []string{"token"}); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
