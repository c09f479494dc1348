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

// MaxList is the maximum size of a list in bytes, enough for about three million files.
const MaxList = 256 << 20

// An Input is a list of files to download. It is in the file InputFile or, if that is "-", on standard input.
type Input struct {
	InputFile string
	Stdin     io.Reader
	Text      string `option:"-"` // content of the list if it was already read; InputFile is then only its name
}

// Read returns the content of the list. It reads the whole list, because standard input can be read only once. A list
// of more than most bytes is an error.
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
		return "", problem.Misuse(l.String(), "is larger than "+option.SizeText(most), "split the list")
	}
	return b.String(), nil
}

// String returns the name of the list for messages.
func (l Input) String() string {
	switch l.InputFile {
	case "-":
		return "standard input"
	case "":
		return "the queue"
	}
	return l.InputFile
}

// place returns how messages name the given line of the list.
func (l Input) place(line int) string { return fmt.Sprintf("%s:%d", l, line) }

// at converts err to an error about option in the given line of the list.
func (l Input) at(line int, option string, err error) error {
	f := problem.Of(err)
	parts := slices.DeleteFunc([]string{option, f.Where, f.Why}, func(s string) bool { return s == "" })
	return problem.Misuse(l.place(line), strings.Join(parts, ": "), f.Hint)
}
