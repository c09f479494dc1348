package partfile_test

import (
	"context"
	"fmt"
	"os"

	"braid/byterange"
	"braid/internal/partfile"
	"braid/verify"
)

// A program writes some bytes of a file and ends. The next one continues, and commits the file when all bytes are
// proven.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	id := partfile.Identity{URL: "https://example.org/hello.txt", Size: 11, ETag: `"1"`}

	f, err := partfile.Open(nil, dir, "hello.txt")
	if err == nil {
		err = f.Begin(id)
	}
	if err == nil {
		_, err = f.WriteAt([]byte("world"), 6)
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		fmt.Println(err)
		return
	}

	if f, err = partfile.Open(nil, dir, "hello.txt"); err != nil {
		fmt.Println(err)
		return
	}
	defer f.Close()
	if prior, ok := f.Prior(); !ok || prior.URLSum != id.URLSum {
		fmt.Println("another file")
		return
	}
	if err := f.Recover(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("here:", f.Have())
	for gap := range f.Have().Gaps(byterange.Range{End: id.Size}) {
		fmt.Println("missing:", gap)
	}
	if err := f.Begin(id); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := f.WriteAt([]byte("hello "), 0); err != nil {
		fmt.Println(err)
		return
	}
	err = f.Commit(verify.Unchecked(id.Size), partfile.Final{}) // nothing to verify it with, stated explicitly
	fmt.Println("in place:", err == nil)
	// Output:
	// here: 6-10
	// missing: 0-5
	// in place: true
}
