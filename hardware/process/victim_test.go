//go:build unix

package process

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
)

// victimEnv is a variable that makes the test binary run as a victim. Its value is the victim's folder.
const victimEnv = "PROCESS_TEST_VICTIM"

// stray returns a script whose child leaves the session and then loses its parent. It writes the process number of the
// child to a file.
func stray(path string) string {
	return fmt.Sprintf(`(setsid sh -c 'trap "" TERM HUP INT; echo $$ >%s; while :; do sleep 0.05; done' &) ; `, path)
}

// foundling returns a script whose child leaves the session, clears its environment and then loses its parent.
func foundling(path string) string {
	return fmt.Sprintf(`(env -i setsid sh -c 'trap "" TERM HUP INT; echo $$ >%s; while :; do sleep 0.05; done' &) ; `, path)
}

// waitOnly makes a victim only wait, with many threads.
const waitOnly = "wait"

// victimGroups is a variable; its value "none" disables control groups for the jobs of a victim.
const victimGroups = "PROCESS_TEST_GROUPS"

// victimDaemons is a variable that makes the job of a victim start background processes one after the other.
const victimDaemons = "PROCESS_TEST_DAEMONS"

// daemons returns a script that starts background processes until it is killed. They share nothing with the job but the
// name of a folder.
func daemons(dir string) string {
	return fmt.Sprintf(`while :; do
		(env -i setsid sh -c 'cd /; (sh -c "while :; do sleep 0.3; done; : %[1]s" &); exit' </dev/null >/dev/null 2>&1 &)
		sleep 0.02
	done; : %[1]s`, dir)
}

// victim runs jobs as tfexp does, until it is killed.
func victim(dir string) {
	if dir == waitOnly {
		for range 8 {
			go func() {
				runtime.LockOSThread()
				select {}
			}()
		}
		select {}
	}
	noGroups.Store(os.Getenv(victimGroups) == "none")
	if os.Getenv(victimDaemons) != "" {
		e, err := New([]launch.Job{sh(daemons(dir))}, Options{Registry: dir + "/registry"})
		if err == nil {
			err = e.Start(0, cores(0))
		}
		if err == nil {
			err = os.WriteFile(dir+"/guardian", fmt.Appendf(nil, "%d\n", guardianPID()), 0o666)
		}
		if err != nil {
			panic(err)
		}
		select {}
	}
	noMark := fmt.Sprintf(`env -i sh -c 'trap "" TERM HUP; echo $$ >%s/unmarked; while :; do sleep 0.05; done' & `, dir)
	e, err := New([]launch.Job{
		sh(stray(dir+"/stray") + foundling(dir+"/foundling") + noMark + "echo $$ >" + dir + "/main; sleep 1000; :"),
		sh("echo $$ >" + dir + "/paused; sleep 1000; :"),
	}, Options{Registry: dir + "/registry"})
	if err != nil {
		panic(err)
	}
	for i := range 2 {
		if err := e.Start(i, cores(0)); err != nil {
			panic(err)
		}
	}
	for {
		if info, err := os.Stat(dir + "/paused"); err == nil && info.Size() > 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if err := e.Pause(1); err != nil {
		panic(err)
	}
	if err := os.WriteFile(dir+"/guardian", fmt.Appendf(nil, "%d\n", guardianPID()), 0o666); err != nil {
		panic(err)
	}
	select {}
}

// guardianPID returns the process number of the guardian of this process.
func guardianPID() int {
	guard.mu.Lock()
	defer guard.mu.Unlock()
	return guard.link.pid
}
