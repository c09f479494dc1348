package cli

import (
	"io"
	"os"

	"github.com/urfave/cli/v2"

	"braid/serve"
)

// mirrorFlags say where copies lie.
type mirrorFlags struct {
	words cli.StringSlice
	file  string
}

const mostMirrors = 16 << 20

func (m *mirrorFlags) targets() targets {
	return targets{
		"mirror":  &m.words,
		"mirrors": &m.file,
	}
}

// read gives the mirrors that the command line names, and those that the file lists.
func (m *mirrorFlags) read() (named, listed []serve.Mirror, err error) {
	if m.file != "" {
		f, err := os.Open(m.file)
		if err != nil {
			return nil, nil, &failure{code: exitLocal, what: "mirrors", where: m.file, why: reason(err)}
		}
		defer f.Close()
		if listed, err = serve.ParseMirrors(io.LimitReader(f, mostMirrors)); err != nil {
			return nil, nil, misuse("--mirrors "+m.file, err.Error(), "")
		}
	}
	for _, word := range m.words.Value() {
		at, err := serve.ParseMirror(word)
		if err != nil {
			return nil, nil, misuse("--mirror "+maskWord(word), err.Error(), "")
		}
		named = append(named, at)
	}
	return named, listed, nil
}
