// Package need lets a test name its needs besides Go: an engine such as Docker, a Python library, a driver.
package need

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// EnvRequire is the environment variable that lists needs, separated by commas. A test without a listed need fails;
// otherwise it would be skipped.
const EnvRequire = "TFEXP_REQUIRE"

// This skips the test if missing is not nil. The message has the reason, and says how to get the missing thing. If
// TFEXP_REQUIRE lists what, the test fails instead.
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

// Long reports whether tests run in their long form (make long), with all seeds, workloads and experiments.
func Long() bool { return os.Getenv("TFEXP_LONG") != "" }

// Cases returns the number of cases for a test: all in the long form, else few.
func Cases(few, all int) int {
	if Long() {
		return all
	}
	return few
}
