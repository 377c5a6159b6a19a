package instantiate_test

// An external test links in all features: some of them import this package.
import _ "github.com/tfexp/tfexp/stages/all"
