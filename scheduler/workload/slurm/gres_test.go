package slurm

import (
	"fmt"
	"strings"
	"testing"
)

// Generic resources in the forms in which Slurm takes and prints them.
func TestParseGres(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "[] 0 []",
		"(null)":                        "[] 0 []",
		"gpu":                           "[{gpu  1 false}] 1 []",
		"gpu:2":                         "[{gpu  2 false}] 2 []",
		"GPU:A100:4":                    "[{gpu a100 4 false}] 4 [a100]",
		"gpu:a100":                      "[{gpu a100 1 false}] 1 [a100]",
		"gpu:a100_3g.20gb:2,gpu:1g.5gb": "[{gpu a100_3g.20gb 2 false} {gpu 1g.5gb 1 false}] 3 [a100_3g.20gb 1g.5gb]",
		"gpu:a100:no_consume:2":         "[{gpu a100 2 true}] 2 [a100]",
		"gpu:a100:4(S:0-1),nic:1":       "[{gpu a100 4 false} {nic  1 false}] 4 [a100]",
		"gpu:4(IDX:0,2-3)":              "[{gpu  4 false}] 4 []",
		"bandwidth:lustre:4G":           "[{bandwidth lustre 4294967296 false}] 0 []",
		"craynetwork:4,gpu:1k":          "[{craynetwork  4 false} {gpu  1024 false}] 1024 []",
		"gres:gpu:2":                    "[{gpu  2 false}] 2 []",
		"gres:gpu":                      "[{gpu  1 false}] 1 []",
		"gres/gpu:v100:3":               "[{gpu v100 3 false}] 3 [v100]",
		"billing=1,cpu=1,gres/gpu:v100=4,mem=4G,node=1": "[{gpu v100 4 false}] 4 [v100]",
		"cpu=8,gres/gpu=4,gres/gpu:v100=4":              "[{gpu  4 false} {gpu v100 4 false}] 4 [v100]",
		"gres/gpu:a=1,gres/gpu:b=2":                     "[{gpu a 1 false} {gpu b 2 false}] 3 [a b]",
		"gres/shard=3,gres/gpumem=8G":                   "[{shard  3 false} {gpumem  8589934592 false}] 0 []",
		"ngpus=2":                                       "[{gpu  2 false}] 2 []",
		"gpu:a100:b200:c":                               "error",
		"gres/gpu=many":                                 "error",
		"1=4,2=8192,4=1,5=9,6=1,7=2,8=3":                "[] 0 []",
		"1=1,2=4096,4=1,1001=2":                         "error",
		"1=1,9=2":                                       "error",
		"gpu:99999999999999999999":                      "error",
	} {
		list, err := ParseGres(text)
		n, types := AskedGPUs(list)
		got := fmt.Sprint(list, " ", n, " ", types)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s is %s, want %s (%v)", text, got, want, err)
		}
	}
}

// Resources are named, or written as the numbers that each cluster has.
func TestTracked(t *testing.T) {
	for text, want := range map[string]string{
		"cpu=4,mem=8G,node=1": "4 8G", "1=4,2=8192,4=1": "4 8192M", "CPU=4,MEM=8G": "4 8G", "gres/gpu=2, cpu=3": "3 ", "": " ", "1001=4,11=5": " ",
	} {
		if got := Tracked(text, "cpu") + " " + Tracked(text, "mem"); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if _, err := TRESName("1001"); err == nil || !strings.Contains(err.Error(), "sacctmgr show tres") {
		t.Errorf("the error is %v", err)
	}
}

// Memory as the versions of Slurm print it: of a node, of a core, of the job; with the flag of memory of each core in it.
func TestParseReqMem(t *testing.T) {
	const mib, gib = 1 << 20, 1 << 30
	for text, want := range map[string]string{
		"4000M": fmt.Sprint(4000*mib, " "), "4000": fmt.Sprint(4000*mib, " "), "4000m": fmt.Sprint(4000*mib, " "),
		"16Gn": fmt.Sprint(16*gib, " n"), "4000Mc": fmt.Sprint(4000*mib, " c"), "1.50G": fmt.Sprint(3*gib/2, " "),
		"512K": fmt.Sprint(512*1024, " "), "0": "0 ", "0n": "0 n", "2T": fmt.Sprint(2048*gib, " "),
		"2147487648Mn": fmt.Sprint(4000*mib, " c"), "2147487648M": fmt.Sprint(4000*mib, " c"), "2147487648": fmt.Sprint(4000*mib, " c"),
		"2097156Gn": fmt.Sprint(4*gib, " c"), "9223372036854779808M": fmt.Sprint(4000*mib, " c"),
		"9223372036854779808Mn": fmt.Sprint(4000*mib, " c"), "9007199254740996G": fmt.Sprint(4*gib, " c"),
		"many": "error", "-4M": "error", "4XB": "error", "4Mcc": "error",
	} {
		bytes, each, err := ParseReqMem(text, mib)
		got := fmt.Sprint(bytes, " ", string(each))
		if each == 0 {
			got = fmt.Sprint(bytes, " ")
		}
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s is %q, want %q (%v)", text, got, want, err)
		}
	}
}

// Large numbers have binary units.
func TestParseCount(t *testing.T) {
	for text, want := range map[string]string{
		"0": "0", "16": "16", "1K": "1024", "1.5k": "1536", "2M": "2097152", "": "error", "K": "error", "-1": "error", "1e3K": "error", "9999999999": "error",
		"1KK": "error", "NaNK": "error",
	} {
		n, err := ParseCount(text)
		got := fmt.Sprint(n)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}
