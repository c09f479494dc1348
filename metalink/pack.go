package metalink

import "encoding/binary"

// A packer writes a sequence of values: numbers as unsigned varints, and texts preceded by their lengths.
type packer struct {
	out    []byte
	last   string // the last URL that was written
	before Mirror // the last mirror that was written, without its URL
}

func (p *packer) number(n int) { p.size(int64(n)) }

func (p *packer) size(n int64) { p.out = binary.AppendUvarint(p.out, uint64(n)) }

func (p *packer) flag(set bool) {
	n := 0
	if set {
		n = 1
	}
	p.number(n)
}

func (p *packer) text(s string) {
	p.number(len(s))
	p.out = append(p.out, s...)
}

// packAll writes the number of values in all, and then each value by calling one.
func packAll[V any](p *packer, all []V, one func(*packer, V)) {
	p.number(len(all))
	for _, v := range all {
		one(p, v)
	}
}

// An unpacker reads values that a packer wrote.
type unpacker struct {
	rest   string
	last   string
	before Mirror
}

func (r *unpacker) number() int { return int(r.size()) }

func (r *unpacker) size() int64 {
	n, size := binary.Uvarint([]byte(r.rest[:min(len(r.rest), binary.MaxVarintLen64)]))
	r.rest = r.rest[size:]
	return int64(n)
}

func (r *unpacker) flag() bool { return r.number() == 1 }

func (r *unpacker) text() (s string) {
	n := r.number()
	s, r.rest = r.rest[:n], r.rest[n:]
	return s
}

// unpackAll reads values that packAll wrote.
func unpackAll[V any](r *unpacker, one func(*unpacker) V) (all []V) {
	n := r.number()
	if n == 0 {
		return nil
	}
	all = make([]V, n)
	for i := range all {
		all[i] = one(r)
	}
	return all
}
