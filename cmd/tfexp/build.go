package main

import (
	"runtime"
	"runtime/debug"
)

// Build is how this binary was built.
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a tree with changes
	Time     string `json:"time,omitempty"`     // of the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ThisBuild returns how this binary was built, as far as its Go linker wrote it down.
func ThisBuild() Build {
	b := Build{Version: "devel", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
