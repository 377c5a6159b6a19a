package start

import "testing"

// TestDetaches finds the commands that go on after a script, and those that it waits for.
func TestDetaches(t *testing.T) {
	for text, want := range map[string]string{
		"nohup python3 train.py > log 2>&1 &":              "nohup",
		"nohup python3 train.py &\necho started":           "nohup",
		"nohup python3 train.py > log 2>&1 &\nwait":        "",
		"nohup python3 train.py":                           "",
		"screen -dmS run python3 train.py":                 "screen -d -m",
		"screen -S run -d -m python3 train.py":             "screen -d -m",
		"screen -ls":                                       "",
		"tmux new-session -d -s run 'python3 train.py'":    "tmux new-session -d",
		"tmux new -s run -d python3 train.py":              "tmux new-session -d",
		"tmux new -s run python3 train.py":                 "",
		"setsid -f python3 train.py":                       "setsid",
		"setsid python3 train.py &":                        "setsid",
		"setsid python3 train.py":                          "",
		"sbatch train.sbatch":                              "sbatch",
		"id=$(sbatch --parsable train.sbatch)":             "sbatch",
		"sbatch --wait train.sbatch":                       "",
		"qsub run.pbs":                                     "qsub",
		"qsub -sync y run.sge":                             "",
		"bsub < run.lsf":                                   "bsub",
		"docker run -d --rm me/train":                      "docker run -d",
		"docker run --rm --detach me/train":                "docker run -d",
		"docker run --rm me/train":                         "",
		"docker run --device=/dev/x me/train":              "",
		"python3 train.py &":                               "&",
		"python3 train.py & disown":                        "disown",
		"python3 a.py & python3 b.py & wait":               "",
		"python3 train.py 2>&1":                            "",
		"python3 train.py && echo done":                    "",
		"# sbatch train.sh\npython3 train.py # nohup me &": "",
	} {
		if got := detaches(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
