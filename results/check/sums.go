package check

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"
	"strings"

	"github.com/tfexp/tfexp/results/folder"
)

// listed is a line of SHA256SUMS.
type listed struct{ sum, path string }

func readSums(dir string) (list []listed, err error) {
	err = lines(dir, func(_ int, raw []byte) error {
		sum, path, _ := strings.Cut(strings.TrimSuffix(string(raw), "\n"), "  ")
		list = append(list, listed{sum, path})
		return nil
	}, "SHA256SUMS")
	return list, err
}

func sumOf(dir, path string) (string, error) {
	f, err := folder.Open(dir, filepath.FromSlash(path))
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
