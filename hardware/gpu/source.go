package gpu

// Library returns a source that uses NVIDIA's management library. The error wraps ErrNoDriver on a machine without
// the library. Package nvml sets Library; it is nil in builds without that package.
var Library func() (Source, error)

// Open returns the source for this machine's GPUs: the library, or else the driver's files and nvidia-smi.
func Open() Source {
	if Library != nil {
		if s, err := Library(); err == nil {
			return s
		}
	}
	return systemDriver
}
