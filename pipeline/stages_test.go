//go:build !race

package pipeline

import _ "github.com/tfexp/tfexp/stages/all"

const drawn = true
