//go:build !unix

package program

import "os/exec"

// group leaves a program as it is: there are no groups of processes, and nothing that tells a program to end. It is made to.
func group(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { cmd.Process.Kill() }
