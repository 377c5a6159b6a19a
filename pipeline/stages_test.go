package pipeline

import _ "github.com/tfexp/tfexp/stages/all"
