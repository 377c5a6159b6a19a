package gpu

// Library returns a source that asks NVIDIA's management library; the error wraps ErrNoDriver where there is none. Package
// nvml sets it, in programs that are built with it.
var Library func() (Source, error)

// Open returns the source of this machine's GPUs: the library, or the driver's files and nvidia-smi where it cannot be used.
func Open() Source {
	if Library != nil {
		if s, err := Library(); err == nil {
			return s
		}
	}
	return systemDriver
}
