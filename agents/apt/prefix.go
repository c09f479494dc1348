package apt

import (
	"io"
	"os"

	"braid/byterange"
	"braid/download"
)

// A prefix is the received beginning of a file, stored under the file's own name during the download. apt measures the
// progress by the length of that file. All received bytes are in NAME.part, in any order. If the process is killed and
// not started again, apt's own transport continues after the prefix. At the end the verified file replaces the prefix.
type prefix struct {
	have     byterange.Set
	out, in  *os.File
	at       int64
	finished bool
}

// leastPrefix is the minimum size of a prefix.
const leastPrefix = 1 << 20

// hear handles an event of the download. Errors are ignored, because the file does not depend on the prefix.
func (p *prefix) hear(e download.Event, name string) {
	switch e := e.(type) {
	case download.Resumed:
		p.have = e.Have
	case download.Brought:
		for _, piece := range e.Pieces {
			p.have.Add(piece.Range)
		}
	case download.Restarted:
		p.close()
		*p = prefix{}
		os.Remove(name)
		return
	case download.Complete: // the prefix is closed, because an open partial file is read again before it is renamed
		p.close()
	}
	end := p.have.FirstGap(0)
	if p.finished || end < leastPrefix || end <= p.at || !p.open(name) {
		return
	}
	n, err := io.Copy(p.out, io.NewSectionReader(p.in, p.at, end-p.at))
	if p.at += n; err != nil {
		p.finished = true
	}
}

// open opens the files if they are not open.
func (p *prefix) open(name string) bool {
	if p.out != nil {
		return true
	}
	in, err := os.Open(name + ".part")
	if err != nil {
		return false
	}
	info, err := in.Stat()
	if named, failed := os.Lstat(name + ".part"); err != nil || failed != nil || !os.SameFile(info, named) ||
		info.Size() < leastPrefix {
		in.Close() // NAME.part is a link, or was replaced meanwhile
		return false
	}
	out, err := create(name)
	if err != nil {
		in.Close()
		p.finished = true
		return false
	}
	p.in, p.out = in, out
	return true
}

func (p *prefix) close() {
	if p.out != nil {
		p.out.Close()
		p.in.Close()
		p.out = nil
	}
	p.finished = true
}
