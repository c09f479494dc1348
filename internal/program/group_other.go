//go:build !unix

package program

import "os/exec"

// group does nothing: this system has no process groups and no signal to end a program, so the program is killed.
func group(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }
