//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// measure runs c once, records its wall time and peak memory, and removes out.
func (s *series) measure(ctx context.Context, out string, c command) error {
	defer os.Remove(out)
	// What an earlier run learned about the mirrors must not help this one.
	home, err := os.MkdirTemp("", "braid-bench-home-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home)
	var output bytes.Buffer
	cmd := exec.CommandContext(ctx, c[0], c[1:]...)
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.Env = environment(home)
	start := time.Now()
	err = cmd.Run()
	s.seconds = append(s.seconds, time.Since(start).Seconds())
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", c, err, output.String())
	}
	s.output = output.Bytes()
	s.cpu = append(s.cpu, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	if u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.rss = max(s.rss, int64(u.Maxrss)<<10) // Linux counts KiB
	}
	return nil
}

// environment makes a program use home in place of the user's folders.
func environment(home string) []string {
	return append(os.Environ(), "XDG_CACHE_HOME="+home, "XDG_STATE_HOME="+home, "XDG_CONFIG_HOME="+home)
}

func writeRandom(f *os.File, size int64) error {
	_, err := io.CopyN(f, rand.NewChaCha8([32]byte{}), size)
	return err
}

// digest returns the value of a Digest field (RFC 3230) for the file.
func digest(root string) (string, error) {
	sum, err := sumOf(root)
	return "SHA-256=" + base64.StdEncoding.EncodeToString(sum), err
}

func hexDigest(root string) (string, error) {
	sum, err := sumOf(root)
	return hex.EncodeToString(sum), err
}

// sumOf returns the SHA-256 of the file.
func sumOf(root string) ([]byte, error) {
	f, err := os.Open(filepath.Join(root, fileName))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}
