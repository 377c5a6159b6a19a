package compare

import (
	"path/filepath"
	"testing"
)

func TestNamesOfTwoFolders(t *testing.T) {
	for _, c := range []struct{ a, b, wantA, wantB string }{
		{"/r/before/fcfs_vs_rr", "/r/after/fcfs_vs_rr", "before", "after"},
		{"/r/x", "/r/y", "x", "y"},
		{"/r/x", "/r/x/y", "x", "x/y"},
		{"/a/1/r/x", "/a/2/s/x", "1/r", "2/s"},
		{"/r/x/", "/r/y/", "x", "y"},
		{"/x", "/r/x", "x", "r/x"},
		{"/r/x", "/x", "r/x", "x"},
		{"a", "b/../a", "a", "a"}, // below the working folder
	} {
		if a, b := distinct(filepath.FromSlash(c.a), filepath.FromSlash(c.b)); a != c.wantA || b != c.wantB {
			t.Errorf("%s and %s are %q and %q, want %q and %q", c.a, c.b, a, b, c.wantA, c.wantB)
		}
	}
}
