package slurm

import (
	"fmt"
	"testing"
)

func TestFeatures(t *testing.T) {
	for text, want := range map[string]string{
		"ib": "[ib] true", "ib&big": "[ib big] true", "a|b": "[a|b] true", "a|b&c": "[a|b c] true", "[a|b]": "[[a|b]] true", "ib&[a|b]": "[ib [a|b]] true", "[a|b]&ib": "[[a|b] ib] true",
		"[a]": "[a] true", "[a&b]": "[] false", "[a|b": "[] false", "a|[b|c]": "[] false", "[]": "[] false", "[a|]": "[] false",

		"a&b|c": "[] false", "[a*2&b*1]": "[] false", "(a&b)|c": "[] false", "a,b": "[] false", "a|": "[] false", "&a": "[] false",
	} {
		all, ok := Features(text)
		if got := fmt.Sprint(all, " ", ok); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
