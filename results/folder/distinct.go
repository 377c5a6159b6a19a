package folder

import (
	"path/filepath"
	"strings"
)

// Distinct returns short names of two folders: their paths without the common beginning and end.
func Distinct(a, b string) (string, string) {
	parts := func(dir string) []string {
		if abs, err := filepath.Abs(dir); err == nil {
			dir = abs
		}
		return strings.Split(filepath.ToSlash(dir), "/")
	}
	p, q := parts(a), parts(b)
	for len(p) > 1 && len(q) > 1 && p[0] == q[0] {
		p, q = p[1:], q[1:]
	}
	for len(p) > 1 && len(q) > 1 && p[len(p)-1] == q[len(q)-1] {
		p, q = p[:len(p)-1], q[:len(q)-1]
	}
	return strings.Join(p, "/"), strings.Join(q, "/")
}
