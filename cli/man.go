package cli

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/cpuguy83/go-md2man/v2/md2man"

	"braid/internal/option"
	"braid/internal/problem"
)

// A manCommand is one run of "braid man", which scripts/man and builds of packages use.
type manCommand struct {
	Date string
	Gzip bool
}

func newMan(streams) (action, targets) {
	m := &manCommand{}
	return m.run, targetsOf(m)
}

func (m *manCommand) run(_ context.Context, words []string) error {
	if len(words) != 1 {
		return problem.Misuse("man", "needs exactly one folder", "see braid man --help")
	}
	b := thisBuild()
	program := option.Braid()
	program.Version, program.Date = b.version, b.date
	if m.Date != "" {
		program.Date = m.Date
	}
	for _, page := range program.Pages() {
		if err := m.write(filepath.Join(words[0], page.Name+".1"), []byte(roff(page.Text))); err != nil {
			return problem.Local("man", page.Name+".1", err)
		}
	}
	return nil
}

// asTyped escapes characters that roff would replace with typographic ones, so that readers can copy examples.
var asTyped = strings.NewReplacer(`\-`, `\-`, "-", `\-`, `\\`, `\e`, `\&'`, `\(aq`, "'", `\(aq`, "`", "\\`", "^",
	`\(ha`, "~", `\(ti`)

func roff(markdown string) string {
	title, text, _ := strings.Cut(string(md2man.Render([]byte(markdown))), "\n.SH ")
	// .nh: do not hyphenate words that users type. .ad l: do not stretch lines.
	return title + "\n.nh\n.ad l\n.SH " + asTyped.Replace(text)
}

// write writes data to path, compressed with --gzip. The gzip header has no name and no time, so the result is reproducible.
func (m *manCommand) write(path string, data []byte) error {
	if !m.Gzip {
		return os.WriteFile(path, data, 0o644)
	}
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	z.Write(data) // writes to a bytes.Buffer do not fail
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(path+".gz", b.Bytes(), 0o644)
}
