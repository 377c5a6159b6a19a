// Package need lets a test declare its needs beyond Go: an engine such as
// Docker, a Python library, a driver.
package need

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// EnvRequire names what must be there, separated by commas: a test that needs
// one of these fails without it instead of being skipped.
const EnvRequire = "TFEXP_REQUIRE"

// This skips the test if missing is not nil, with the reason and how to get the
// missing thing. It fails the test if TFEXP_REQUIRE lists what.
func This(t testing.TB, what string, missing error, how string) {
	t.Helper()
	if missing == nil {
		return
	}
	if Required(what) {
		t.Fatalf("%s is required and missing: %v (%s)", what, missing, how)
	}
	t.Skipf("needs %s: %v (%s)", what, missing, how)
}

// Required reports whether TFEXP_REQUIRE lists what.
func Required(what string) bool {
	return slices.Contains(strings.Split(os.Getenv(EnvRequire), ","), what)
}

// Long reports whether tests run in their long form (make long): all seeds, all workloads, whole experiments.
func Long() bool { return os.Getenv("TFEXP_LONG") != "" }

// Cases returns how many cases a test tries: few, or all of them in the long form.
func Cases(few, all int) int {
	if Long() {
		return all
	}
	return few
}
