package tasks_test

// An external test links in all features: one of them is this package.
import _ "github.com/tfexp/tfexp/stages/all"
