package experiments

import (
	"bytes"
	_ "embed"
)

//go:embed starter.hcl
var starter []byte

// Starter returns a commented experiment of that name, which runs as it is
// and in less than a minute.
func Starter(name string) []byte {
	return bytes.Replace(starter, []byte(`experiment "starter"`), []byte(`experiment "`+name+`"`), 1)
}
