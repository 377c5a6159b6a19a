package slurm

import "testing"

// TestAsksExclusive reads the option in the command, and not in the arguments of the script.
func TestAsksExclusive(t *testing.T) {
	for line, want := range map[string]struct {
		exclusive bool
		shared    string
	}{
		"sbatch --exclusive job.sh":                       {true, ""},
		"sbatch -n 4 -t 10 --exclusive -N 2 job.sh":       {true, ""},
		"sbatch -n4 --partition main --exclusive job.sh":  {true, ""},
		"srun --mem=4G --exclusive hostname":              {true, ""},
		"sbatch job.sh --exclusive":                       {false, ""},
		"sbatch --hold job.sh --exclusive":                {false, ""},
		"sbatch --parsable -n 4 job.sh --exclusive":       {false, ""},
		"sbatch --parsable -n 4 --wrap sleep 3":           {false, ""},
		"sbatch --exclusive=user job.sh":                  {false, "user"},
		"sbatch --exclusive=user --exclusive job.sh":      {true, ""},
		"salloc --no-shell --exclusive":                   {true, ""},
		"srun -- ./program --exclusive":                   {false, ""},
		"sbatch --job-name exclusive -J --exclusive j.sh": {false, ""},
		"": {false, ""},
	} {
		if exclusive, shared := AsksExclusive(line); exclusive != want.exclusive || shared != want.shared {
			t.Errorf("%q: %t, %q", line, exclusive, shared)
		}
	}
}
