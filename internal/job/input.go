package job

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"braid/internal/option"
	"braid/internal/problem"
)

// MaxList is the longest list of files that is read: about three million of them.
const MaxList = 256 << 20

// An Input is a list of files to download: a file, or standard input for "-".
type Input struct {
	InputFile string
	Stdin     io.Reader
	Text      string `option:"-"` // that was read already; then InputFile is what it is called
}

// Read reads the list into memory, as standard input can be read only once; most bytes are enough.
func (l Input) Read(most int64) (string, error) {
	in := l.Stdin
	if l.Text != "" {
		return l.Text, nil
	}
	if l.InputFile != "-" {
		f, err := os.Open(l.InputFile)
		if err != nil {
			return "", problem.Local("list", l.String(), err)
		}
		defer f.Close()
		in = f
	}
	var b strings.Builder
	n, err := io.Copy(&b, io.LimitReader(in, most+1))
	switch {
	case err != nil:
		return "", problem.Local("list", l.String(), err)
	case n > most:
		return "", problem.Misuse(l.String(), "longer than "+option.SizeText(most), "take it apart")
	}
	return b.String(), nil
}

// String is what the list is called in messages.
func (l Input) String() string {
	switch l.InputFile {
	case "-":
		return "standard input"
	case "":
		return "the queue"
	}
	return l.InputFile
}

// place names a line of the list.
func (l Input) place(line int) string { return fmt.Sprintf("%s:%d", l, line) }

// at says which line and option of the list an error is about.
func (l Input) at(line int, option string, err error) error {
	f := problem.Of(err)
	parts := slices.DeleteFunc([]string{option, f.Where, f.Why}, func(s string) bool { return s == "" })
	return problem.Misuse(l.place(line), strings.Join(parts, ": "), f.Hint)
}
