package apt

import (
	"io"
	"os"

	"braid/byterange"
	"braid/download"
)

// A prefix is the beginning of a file under its own name while the rest of it comes. The bytes themselves are in
// NAME.part, in no order. Apt sees by the length of the file how far it is; and if all of this is killed and never runs
// again, apt's own transport goes on from there. The proven file takes its place.
type prefix struct {
	have     byterange.Set
	out, in  *os.File
	at       int64
	finished bool
}

// leastPrefix is the number of bytes from which on apt shows how far a file is.
const leastPrefix = 1 << 20

// hear is told of all events of the download. What goes wrong here is of no consequence for the file.
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
	case download.Complete: // a part file that is open gets its name only when it is read again
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

// open opens the files where they are not open yet.
func (p *prefix) open(name string) bool {
	if p.out != nil {
		return true
	}
	in, err := os.Open(name + ".part")
	if err != nil {
		return false
	}
	info, err := in.Stat()
	if named, failed := os.Lstat(name + ".part"); err != nil || failed != nil || !os.SameFile(info, named) || info.Size() < leastPrefix {
		in.Close() // or it is what a link leads to
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
