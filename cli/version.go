package cli

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
)

// What a release was made of, which the linker is told (scripts/release). Elsewhere it is empty, and what the go command
// knows of the checkout counts.
var releaseVersion, releaseCommit, releaseDate string

// build is what this program was built from.
type build struct {
	version  string
	revision string
	date     string // as 2026-11-21
	modified bool   // the checkout was not the revision
}

func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	b := buildOf(info)
	if releaseVersion != "" {
		b = build{version: releaseVersion, revision: releaseCommit, date: releaseDate}
	}
	return b
}

func buildOf(info *debug.BuildInfo) build {
	b := build{version: cmp.Or(strings.Trim(info.Main.Version, "()"), "devel")}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.revision = s.Value
		case "vcs.time":
			b.date, _, _ = strings.Cut(s.Value, "T")
		case "vcs.modified":
			b.modified = s.Value == "true"
		}
	}
	return b
}

// String is what --version prints: version, Go and platform, revision.
func (b build) String() string {
	notes := []string{runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
	if b.revision != "" {
		notes = append(notes, "revision "+b.revision[:min(12, len(b.revision))])
	}
	if b.modified {
		notes = append(notes, "modified")
	}
	return b.version + " (" + strings.Join(notes, ", ") + ")"
}
