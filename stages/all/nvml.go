//go:build linux && cgo && nvml

package all

import _ "github.com/tfexp/tfexp/hardware/gpu/nvml"
