// Package secret holds the values of sensitive variables. Descriptions, files and comparisons of tfexp contain a
// token, a keyed hash, in place of such a value. The values are only in the memory of the process, until an engine
// starts a job with them.
package secret

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tfexp/tfexp/results/folder"
)

// Shown replaces sensitive values in output.
const Shown = "(sensitive)"

// Environment is the prefix of environment variables that set variables of experiments.
const Environment = "TFEXP_VAR_"

// ErrUnknown is returned for a token whose value is not known to this process.
var ErrUnknown = errors.New("this process does not have the value of a sensitive variable that the job needs")

// token matches a token: "(sensitive:", 32 hexadecimal digits, ")".
var token = regexp.MustCompile(`\(sensitive:[0-9a-f]{32}\)`)

var (
	mu     sync.Mutex // guards values
	values = map[string]string{}
)

// Hide stores a value in memory and returns its token, an HMAC of the value with the key of this user. Equal values
// have equal tokens. It returns an error if the key cannot be read or made.
func Hide(value string) (string, error) {
	key, err := userKey()
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(value))
	text := "(sensitive:" + hex.EncodeToString(mac.Sum(nil)[:16]) + ")"
	mu.Lock()
	defer mu.Unlock()
	values[text] = value
	return text, nil
}

// Hides reports whether a text contains a token.
func Hides(text string) bool { return token.MatchString(text) }

// Reveal returns texts with the values in place of their tokens, for the start of a job. It returns ErrUnknown for an
// unknown token.
func Reveal(texts []string) ([]string, error) {
	out := make([]string, len(texts))
	var err error
	mu.Lock()
	defer mu.Unlock()
	for i, text := range texts {
		out[i] = text
		if strings.Contains(text, "(sensitive:") {
			out[i] = token.ReplaceAllStringFunc(text, func(t string) string {
				value, known := values[t]
				if !known {
					err = ErrUnknown
				}
				return value
			})
		}
	}
	return out, err
}

// Variable returns the name of the environment variable for a text that is a token, or "" for another text.
func Variable(text string) string {
	if token.FindString(text) != text || text == "" {
		return ""
	}
	return "TFEXP_" + strings.ToUpper(strings.NewReplacer("(", "", ":", "_", ")", "").Replace(text))
}

// Redact replaces sensitive values in a text, such as the last line of a job's log. It also replaces each line of a
// value, since logs are cut between lines. It keeps values and lines shorter than 4 bytes, which occur in any text.
func Redact(text string) string {
	mu.Lock()
	defer mu.Unlock()
	var hidden []string
	for _, value := range values {
		lines := strings.FieldsFunc(value, func(c rune) bool { return c == '\n' || c == '\r' })
		hidden = append(append(hidden, value), lines...)
	}
	slices.SortFunc(hidden, func(a, b string) int { return len(b) - len(a) }) // a value may be a part of another
	for _, value := range hidden {
		if len(value) >= 4 {
			text = strings.ReplaceAll(text, value, Shown)
		}
	}
	return text
}

// Arguments returns a command line without the values that it gives to the named variables.
func Arguments(args, names []string) []string {
	out := append([]string(nil), args...)
	for _, name := range names {
		given := regexp.MustCompile(`(?s)^((?:--?var=)?\s*` + regexp.QuoteMeta(name) + `\s*=).*`)
		for i := range out {
			out[i] = given.ReplaceAllString(out[i], "${1}"+Shown)
		}
	}
	return out
}

// keyBytes is the length of the key in bytes.
const keyBytes = 32

// userKey returns the key of this user from the user's configuration folder. The first call makes the key if it is
// missing.
var userKey = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("find the key of sensitive values: %w", err)
	}
	return keyIn(filepath.Join(dir, "tfexp"))
})

// keyIn reads the key in a folder, or makes one.
func keyIn(dir string) ([]byte, error) {
	path := filepath.Join(dir, "key")
	key, err := readKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeKey(dir, path); err == nil {
			key, err = readKey(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the key of sensitive values: %w", err)
	}
	return key, nil
}

func readKey(path string) ([]byte, error) {
	f, err := folder.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 4*keyBytes))
	if err != nil {
		return nil, err
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(key) != keyBytes {
		return nil, fmt.Errorf("%s is damaged: remove it, then tfexp makes a new key and runs all work with sensitive values again",
			path)
	}
	return key, nil
}

// makeKey writes a new key. If another process makes one at the same time, the first key is kept.
func makeKey(dir, path string) (err error) {
	if err := folder.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	key := make([]byte, keyBytes)
	rand.Read(key)
	own := fmt.Sprintf("%s.%d-%d", path, os.Getpid(), time.Now().UnixNano())
	f, err := folder.OpenFile(own, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(hex.EncodeToString(key) + "\n")
	if err = errors.Join(err, f.Close()); err == nil {
		err = folder.Link(own, path)
	}
	if errors.Is(err, fs.ErrExist) {
		err = nil
	}
	return errors.Join(err, folder.Remove(own))
}
