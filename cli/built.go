package cli

import (
	"strings"

	"braid/internal/job"
	"braid/internal/plug/jetstream"
	"braid/internal/problem"
)

// leftOut returns the parts that this program was built without.
func leftOut() (parts []string) {
	if !jetstream.In {
		parts = append(parts, problem.NoFleet)
	}
	if !job.HasPeers {
		parts = append(parts, problem.NoTorrent)
	}
	return parts
}

// leftOutNote returns the note of the help about parts that the program was built without.
func leftOutNote(parts []string) string {
	text := ""
	for _, part := range parts {
		text += "\n" + strings.ToUpper(part[:1]) + part[1:] + ".\n"
	}
	return text
}

// checkBuilt returns an error for a command that this program was built without.
func checkBuilt(command string) error {
	if jetstream.In || command != "work" && command != "queue" {
		return nil
	}
	return problem.LeftOut(command, problem.NoFleet)
}
