package partfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"braid/byterange"
	"braid/internal/fsys"
	"braid/verify"
)

// childEnv makes the test binary a child process that downloads to the named folder until it is killed. With holdEnv it
// waits until its standard input is closed before it begins.
const (
	childEnv = "BRAID_PARTFILE_CHILD"
	holdEnv  = "BRAID_PARTFILE_HOLD"
)

const (
	childSize  = 16 << 20
	childBlock = 16 << 10
)

// child continues the download of x in dir, with four writers and some voids, and commits it. It prints a line for
// every block.
func child(dir string) error {
	f, err := Open(fsys.OS, dir, "x")
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Recover(context.Background()); err != nil {
		return err
	}
	resumed := f.Have()
	fmt.Println("resumed", resumed.Len())
	if os.Getenv(holdEnv) != "" {
		io.Copy(io.Discard, os.Stdin)
	}
	if err := f.Begin(Identity{URL: "https://a.example/x", Size: childSize}); err != nil {
		return err
	}
	if err := childWrite(f); err != nil {
		return err
	}
	check := verify.NewChecker(childSize, nil)
	if _, err := io.Copy(check, io.NewSectionReader(f, 0, childSize)); err != nil {
		return err
	}
	p, err := check.Proof()
	if err != nil {
		return err
	}
	fmt.Println("committing")
	return f.Commit(p, Final{})
}

func childWrite(f *File) error {
	want := content(childSize)
	errs := make([]error, 4)
	var blocks atomic.Int64
	var wg sync.WaitGroup
	for i := range errs {
		wg.Go(func() {
			quarter := byterange.Range{Start: int64(i) * childSize / 4, End: int64(i+1) * childSize / 4}
			for errs[i] == nil {
				have := f.Have()
				off := have.FirstGap(quarter.Start)
				if off >= quarter.End {
					return
				}
				_, errs[i] = f.WriteAt(want[off:min(off+childBlock, quarter.End)], off)
				switch n := blocks.Add(1); {
				case n%5 == 0:
					errs[i] = errors.Join(errs[i], f.Flush())
				case n%37 == 0:
					errs[i] = errors.Join(errs[i], f.Sync())
				case n%41 == 0:
					errs[i] = errors.Join(errs[i], voided(f, byterange.Range{Start: off - 1000, End: off + 3000}))
				}
				os.Stdout.WriteString("block\n")
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// childRun is a running child.
type childRun struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func startChild(t *testing.T, dir string, stdin *os.File, env ...string) childRun {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), childEnv+"="+dir), env...)
	cmd.Stderr = os.Stderr
	if stdin != nil {
		cmd.Stdin = stdin
	}
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	return childRun{cmd, bufio.NewScanner(out)}
}

// resumed returns the number of bytes that the child found, from its first line.
func (c childRun) resumed(t *testing.T) int {
	t.Helper()
	if !c.lines.Scan() {
		t.Fatal("the child says nothing")
	}
	n, err := strconv.Atoi(strings.TrimPrefix(c.lines.Text(), "resumed "))
	must(t, err)
	return n
}

// killAfter reads lines and then kills the child. It returns false if the child ended before.
func (c childRun) killAfter(t *testing.T, lines int) bool {
	t.Helper()
	for range lines {
		if !c.lines.Scan() {
			must(t, c.cmd.Wait())
			return false
		}
	}
	must(t, c.cmd.Process.Kill())
	for c.lines.Scan() {
	}
	if err := c.cmd.Wait(); err == nil {
		return false // the child was faster
	}
	return true
}

// A child is killed at twenty times. The bytes in its journal are right, few bytes are lost, the final name has the
// whole file or does not exist, and in the end the file is committed.
func TestKill_Rule6(t *testing.T) {
	dir := t.TempDir()
	want := content(childSize)
	const blocks = childSize / childBlock
	var kills, most int
	for kills < 20 {
		c := startChild(t, dir, nil)
		resumed := c.resumed(t)
		most = max(most, resumed)
		lines := rand.IntN(blocks / 4)
		if resumed == childSize {
			lines = rand.IntN(2)
		}
		if c.killAfter(t, lines) {
			kills++
		}
		if _, present, err := Target(fsys.OS, dir, "x"); err != nil {
			t.Fatal(err)
		} else if present {
			wantContent(t, in(dir, "x"), want)
			must(t, os.Remove(in(dir, "x")))
			continue
		}
		left := claimed(t, dir, want)
		if got := left.Len(); got < int64(resumed)-64<<10 {
			t.Errorf("the child found %d bytes and left %d", resumed, got)
		}
	}
	if most == 0 {
		t.Error("no child found anything")
	}
	c := startChild(t, dir, nil)
	c.resumed(t)
	for c.lines.Scan() {
	}
	must(t, c.cmd.Wait())
	wantContent(t, in(dir, "x"), want)
	wantFiles(t, dir, "x")
}

// claimed checks that every byte that can be taken over is right, without changing the files.
func claimed(t *testing.T, dir string, want []byte) byterange.Set {
	t.Helper()
	f := open(t, dir)
	defer crash(f)
	must(t, f.Recover(t.Context()))
	have := f.Have()
	for r := range have.All() {
		got := make([]byte, r.Len())
		if _, err := f.ReadAt(got, r.Start); err != nil || !bytes.Equal(got, want[r.Start:r.End]) {
			t.Fatalf("%v is claimed and wrong (%v)", r, err)
		}
	}
	return have
}
