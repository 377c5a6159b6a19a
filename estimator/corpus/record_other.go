//go:build !linux

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "record: the corpus is recorded on Linux")
	os.Exit(1)
}
