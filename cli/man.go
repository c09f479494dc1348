package cli

import (
	"braid/internal/option"
	"compress/gzip"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"
)

// manCommand is one run of "braid man".
type manCommand struct {
	date string
	gzip bool
}

// newMan is what scripts/man and packages run: "braid man FOLDER" writes the man pages.
func newMan(s streams) *cli.Command {
	m := &manCommand{}
	c := &cli.Command{
		Name: "man", Usage: "write the man pages into a folder", Hidden: true,
		Flags: flags(option.Man, targets{
			"date": &m.date,
			"gzip": &m.gzip,
		}),
		Action: func(c *cli.Context) error { return m.run(c.App, c.Args().Slice()) },
	}
	s.help(c, manual{
		usage:    "[FLAG]... FOLDER",
		examples: []string{"for man", "braid man --gzip ~/.local/share/man/man1"},
	})
	return c
}

func (m *manCommand) run(app *cli.App, words []string) error {
	if len(words) != 1 {
		return misuse("man", "one folder is needed", "braid man --help")
	}
	book := reference(app)
	if m.date != "" {
		book.Date = m.date
	}
	for _, page := range book.Pages() {
		if err := m.write(filepath.Join(words[0], page.Name+".1"), page.Text); err != nil {
			return &failure{code: exitLocal, what: "man", where: page.Name + ".1", why: reason(err)}
		}
	}
	return nil
}

// write makes a file. The compressed ones have neither name nor time in them, so that the same page makes the same file.
func (m *manCommand) write(path string, data []byte) error {
	if !m.gzip {
		return os.WriteFile(path, data, 0o644)
	}
	f, err := os.Create(path + ".gz")
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(data); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Close()
}
