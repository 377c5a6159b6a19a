package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// tailBytes is the number of bytes at the end of a log that Tail reads.
const tailBytes = 4 << 10

// Tail returns the last lines of a log below dir without control characters; "" if there is no log.
func Tail(dir string, lines int, name ...string) (string, error) {
	f, err := Open(dir, name...)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	start := max(0, info.Size()-tailBytes)
	raw, err := io.ReadAll(io.NewSectionReader(f, start, tailBytes))
	if err != nil {
		return "", fmt.Errorf("read log: %w", err)
	}
	all := strings.Split(strings.TrimRight(string(raw), "\n"), "\n")
	if start > 0 && len(all) > 1 {
		all = all[1:] // only the end of the first line was read
	}
	all = all[max(0, len(all)-lines):]
	text := strings.ToValidUTF8(strings.Join(all, "\n"), "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, text), nil
}
