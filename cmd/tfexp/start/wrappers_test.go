package start

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/launch"
)

// TestDetaches distinguishes commands that still run after a script ends from commands that the script waits for.
func TestDetaches(t *testing.T) {
	for text, want := range map[string]string{
		"nohup python3 train.py > log 2>&1 &":                                  "nohup",
		"nohup python3 train.py &\necho started":                               "nohup",
		"nohup python3 train.py > log 2>&1 &\nwait":                            "",
		"nohup python3 train.py":                                               "",
		"screen -dmS run python3 train.py":                                     "screen -d -m",
		"screen -S run -d -m python3 train.py":                                 "screen -d -m",
		"screen -ls":                                                           "",
		"tmux new-session -d -s run 'python3 train.py'":                        "tmux new-session -d",
		"tmux new -s run -d python3 train.py":                                  "tmux new-session -d",
		"tmux new -s run python3 train.py":                                     "",
		"setsid -f python3 train.py":                                           "setsid",
		"setsid python3 train.py &":                                            "setsid",
		"setsid python3 train.py":                                              "",
		"sbatch train.sbatch":                                                  "sbatch",
		"id=$(sbatch --parsable train.sbatch)":                                 "sbatch",
		"sbatch --wait train.sbatch":                                           "",
		"qsub run.pbs":                                                         "qsub",
		"qsub -sync y run.sge":                                                 "",
		"bsub < run.lsf":                                                       "bsub",
		"docker run -d --rm me/train":                                          "docker run -d",
		"docker run --rm --detach me/train":                                    "docker run -d",
		"docker run --rm me/train":                                             "",
		"docker run --device=/dev/x me/train":                                  "",
		"python3 train.py &":                                                   "&",
		"python3 train.py & disown":                                            "disown",
		"python3 a.py & python3 b.py & wait":                                   "",
		"python3 train.py 2>&1":                                                "",
		"python3 train.py && echo done":                                        "",
		"# sbatch train.sh\npython3 train.py # nohup me &":                     "",
		"(python3 train.py &)":                                                 "&",
		"python3 train.py &\necho $! > pid\n":                                  "&",
		"python3 train.py > log 2>&1 & echo started":                           "&",
		"for s in 1 2 3; do python3 train.py --seed $s & done":                 "&",
		"for s in 1 2 3; do python3 train.py --seed $s & done; wait":           "",
		"python3 train.py &\nPID=$!\nwait $PID\n":                              "",
		"curl \"http://x/?a=1&b=2\"\npython3 train.py":                         "",
		"echo 'R & D'\npython3 train.py":                                       "",
		"python3 train.py 2>&1 | tee log":                                      "",
		"python3 train.py &> log":                                              "",
		"python3 train.py |& tee log":                                          "",
		"make && ./train && echo ok":                                           "",
		"exec 3>&1; python3 train.py >&3":                                      "",
		"bash -c 'python3 train.py &'":                                         "&",
		"ssh n1 'nohup python3 train.py > log 2>&1 &'":                         "nohup",
		"nohup bash run.sh </dev/null >/dev/null 2>&1 &":                       "nohup",
		"tmux new-session -d -s x; tmux send-keys -t x 'python3 train.py' C-m": "tmux new-session -d",
		"screen -d -m -S t bash -c 'python3 train.py'":                         "screen -d -m",
		"echo 'python3 train.py' | at now":                                     "at",
		"at -f run.sh now":                                                     "at",
		"at now <<< 'python3 train.py'":                                        "at",
		"condor_submit job.sub":                                                "condor_submit",
		"condor_submit job.sub && condor_wait job.log":                         "",
		"oarsub -S ./run.sh":                                                   "oarsub",
		"msub run.moab":                                                        "msub",
		"flux submit python3 train.py":                                         "flux submit",
		"flux run python3 train.py":                                            "",
		"sbatch -W run.sh":                                                     "",
		"id=$(sbatch --parsable run.sh)\nwhile squeue -h -j $id | grep -q .; do sleep 30; done": "",
		"srun python3 train.py":                                               "",
		"docker compose up -d train":                                          "docker compose up -d",
		"docker-compose up -d":                                                "docker compose up -d",
		"docker compose up":                                                   "",
		"systemctl --user start train.service":                                "systemctl start",
		"start-stop-daemon --start --background --exec /bin/train":            "start-stop-daemon",
		"daemonize /usr/bin/python3 train.py":                                 "daemonize",
		"python3 train.py < input.txt & disown %1":                            "disown",
		"if true; then\n  python3 train.py &\nfi\n":                           "&",
		"coproc python3 train.py":                                             "coproc",
		"exec python3 train.py \"$@\"":                                        "",
		"# python3 train.py &\npython3 train.py":                              "",
		"nohup python3 train.py \\\n  --epochs 3 \\\n  > log 2>&1 &\necho $!": "nohup",
		"nohup python3 train.py > log 2>&1\n":                                 "",
		"nohup python3 train.py > log 2>&1 < /dev/null & disown; sleep 1":     "nohup",
		"echo 'please wait'\nnohup python3 train.py > log &":                  "nohup",
		"bash -c 'python3 a.py & wait'":                                       "",
		"exec screen -L -Logfile out.log -dmS run bash -lc 'python train.py'": "screen -d -m",
		"docker run --gpus all \\\n  --shm-size 8g \\\n  -d me/train":         "docker run -d",
		"systemd-run --user --unit=train python train.py":                     "systemd-run",
		"systemd-run --user --scope python train.py":                          "",
		"systemd-run --wait --pipe python train.py":                           "",
		"ssh -f node1 'cd w && python train.py'":                              "ssh -f",
		"ssh node1 -- python train.py":                                        "",
		"pm2 start train.py":                                                  "pm2 start",
		"ray job submit --no-wait -- python train.py":                         "ray job submit --no-wait",
		"ray job submit -- python train.py":                                   "",
		"tsp python train.py":                                                 "tsp",
		"python3 train.py & tail --pid=$! -f /dev/null":                       "",
	} {
		if got := detaches(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestDetached finds such commands in Python programs.
func TestDetached(t *testing.T) {
	for source, want := range map[string]string{
		"import os\nos.system('python3 train.py &')\n":                                                     "&",
		"import os\nos.system(\"nohup python3 train.py &\")\n":                                             "nohup",
		"import subprocess\nsubprocess.Popen(['python3', 'train.py'])\n":                                   "subprocess.Popen",
		"import subprocess\np = subprocess.Popen(['python3', 'train.py'])\np.wait()\n":                     "",
		"import subprocess\nsubprocess.run(['sbatch', 'run.sh'])\n":                                        "sbatch",
		"import subprocess\nsubprocess.run(['sbatch', '--wait', 'run.sh'], check=True)\n":                  "",
		"import subprocess\nout = subprocess.check_output('sbatch run.sh', shell=True)\n":                  "sbatch",
		"import subprocess\nwith subprocess.Popen(['x'], stdout=-1) as p:\n    print(p.stdout)\n":          "",
		"import subprocess\nsubprocess.run(['python3', 'train.py'])\n":                                     "",
		"import os\npid = os.fork()\nif pid > 0:\n    os._exit(0)\nos.setsid()\n":                          "os.fork",
		"import os\nos.spawnlp(os.P_NOWAIT, 'python', 'python', 'train.py')\n":                             "os.P_NOWAIT",
		"import subprocess, sys\nsubprocess.Popen([sys.executable, 'train.py'], start_new_session=True)\n": "subprocess.Popen",
		"import submitit\nex = submitit.AutoExecutor('logs')\njob = ex.submit(main)\n":                     "submitit",
		"import submitit\nex = submitit.AutoExecutor('logs')\nprint(ex.submit(main).result())\n":           "",
		"print('R & D')\n": "",
	} {
		if got := detached("x.py", []byte(source)); got != want {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
}

// TestStartsOthers reads the programs of jobs that have ended.
func TestStartsOthers(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"submit.py": "import subprocess\nsubprocess.run(['sbatch', 'run.sh'])\n",
		"train.py":  "import subprocess\nboard = subprocess.Popen(['tensorboard'])\n",
		"run.sh":    "docker run --gpus all \\\n  -d me/train\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for command, want := range map[string]string{
		"python3 -u submit.py": "sbatch", "python3 train.py": "", "sh ./run.sh": "docker run -d", "bash -e ./run.sh": "docker run -d",
	} {
		said := startsOthers(&launch.Job{Argv: strings.Fields(command), Dir: dir})
		if (said == "") != (want == "") || !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", command, said, want)
		}
	}
}
