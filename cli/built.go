package cli

import (
	"strings"

	"braid/internal/job"
	"braid/internal/plug/jetstream"
	"braid/internal/problem"
)

// leftOut describes the optional parts that this build of the program lacks.
func leftOut() (parts []string) {
	if !jetstream.In {
		parts = append(parts, problem.NoFleet)
	}
	if !job.HasPeers {
		parts = append(parts, problem.NoTorrent)
	}
	return parts
}

// leftOutNote returns the note about missing parts at the end of the help.
func leftOutNote(parts []string) string {
	text := ""
	for _, part := range parts {
		text += "\n" + strings.ToUpper(part[:1]) + part[1:] + ".\n"
	}
	return text
}

// checkBuilt returns an error if command needs an optional part that this build of the program lacks.
func checkBuilt(command string) error {
	if jetstream.In || command != "work" && command != "queue" {
		return nil
	}
	return problem.LeftOut(command, problem.NoFleet)
}
