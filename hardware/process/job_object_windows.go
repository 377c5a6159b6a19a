package process

import (
	"os"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"
)

// jobObject is a job object of Windows. All processes in it end when its last handle is closed, as at the end of
// tfexp.
type jobObject struct {
	mu  sync.Mutex
	job windows.Handle // 0 when it is closed
}

// newJobObject puts a process into a new job object. All processes that it starts from then on are in it too.
func newJobObject(p *os.Process) (*jobObject, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err == nil {
		var h windows.Handle
		if h, err = windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(p.Pid)); err == nil {
			err = windows.AssignProcessToJobObject(job, h)
			windows.CloseHandle(h)
		}
	}
	if err != nil {
		windows.CloseHandle(job)
		p.Kill()
		return nil, err
	}
	return &jobObject{job: job}, nil
}

func (c *jobObject) kill(*os.Process) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.job != 0 {
		windows.CloseHandle(c.job)
		c.job = 0
	}
}
