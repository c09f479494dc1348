package apt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

const prSetNoNewPrivs = 38 // prctl(2)

// enter changes the user of the whole process from root to the user of apt's sandbox, irrevocably. A process that is
// not run by root keeps its user, as in apt.
func enter(name string) error {
	if _, _, errno := syscall.AllThreadsSyscall6(syscall.SYS_PRCTL, prSetNoNewPrivs, 1, 0, 0, 0, 0); errno != 0 &&
		errno != syscall.ENOTSUP && errno != syscall.EINVAL {
		return fmt.Errorf("the sandbox: no new privileges: %w", errno) // cgo does not support it; EINVAL means an old kernel
	}
	if name == "" || name == "root" || os.Getuid() != 0 && os.Geteuid() != 0 {
		return nil
	}
	u, err := user.Lookup(name)
	if err != nil {
		return fmt.Errorf("the sandbox: no user %s, so root privileges cannot be dropped", name)
	}
	uid, err := strconv.Atoi(u.Uid)
	gid, wrong := strconv.Atoi(u.Gid)
	if err != nil || wrong != nil || uid == 0 {
		return fmt.Errorf("the sandbox: the user %s has the ID %s, which drops no privileges", name, u.Uid)
	}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"groups", func() error { return syscall.Setgroups([]int{gid}) }},
		{"group", func() error { return syscall.Setresgid(gid, gid, gid) }},
		{"user", func() error { return syscall.Setresuid(uid, uid, uid) }},
	} {
		if err := step.do(); err != nil {
			return fmt.Errorf("the sandbox: the %s of %s: %w", step.what, name, err)
		}
	}
	if err := entered(uid, gid); err != nil {
		return fmt.Errorf("the sandbox: %w", err)
	}
	for variable, value := range map[string]string{"HOME": u.HomeDir, "USER": name, "USERNAME": name, "LOGNAME": name,
		"SHELL": "/bin/sh"} {
		os.Setenv(variable, value)
	}
	return nil
}

// entered returns an error unless every thread has the user and the group, no other groups, and cannot return to root.
func entered(uid, gid int) error {
	if os.Getuid() != uid || os.Geteuid() != uid || os.Getgid() != gid || os.Getegid() != gid {
		return errors.New("the user ID did not change")
	}
	if syscall.Setuid(0) == nil || syscall.Setgid(0) == nil && gid != 0 {
		return errors.New("root privileges could be regained")
	}
	threads, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil || len(threads) == 0 {
		return nil // without /proc only the process can be checked
	}
	for _, name := range threads {
		status, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // the thread has ended
		}
		if err != nil {
			return err
		}
		if err := enteredThread(status, strconv.Itoa(uid), strconv.Itoa(gid)); err != nil {
			return err
		}
	}
	return nil
}

// enteredThread checks the status of a thread (proc(5)).
func enteredThread(status []byte, uid, gid string) error {
	for line := range bytes.Lines(status) {
		name, value, _ := strings.Cut(string(line), ":")
		words := strings.Fields(value)
		is := map[string]string{"Uid": uid, "Gid": gid, "Groups": gid}[name]
		if is != "" && slices.ContainsFunc(words, func(w string) bool { return w != is }) {
			return fmt.Errorf("a thread still has %s %s", name, strings.Join(words, " "))
		}
	}
	return nil
}
