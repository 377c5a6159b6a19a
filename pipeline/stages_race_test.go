//go:build race

package pipeline

// Pictures take most of the time of a run under the race detector; they and the report have tests of their own.
import _ "github.com/tfexp/tfexp/stages/all/numbers"

const drawn = false
