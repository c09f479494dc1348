package scheduler

import (
	"cmp"
	"time"

	"braid/byterange"
)

// write records bytes from host h. Bytes that are present already do not change (rule 2).
func (n *network) write(h int, r byterange.Range) {
	fresh := r.Len()
	for c := range n.have.Covered(r) {
		n.rep.duplicate += c.Len()
		fresh -= c.Len()
	}
	n.rep.brought[h] += r.Len()
	if lies := n.sc.hosts[h].lies; lies != nil && fresh > 0 && n.sc.piece > 0 {
		for g := range n.have.Gaps(r) {
			n.falsify(lies, g)
		}
	}
	n.have.Add(r)
	if n.got += fresh; n.rep.nine == 0 && n.got >= (n.sc.size-n.sc.cfg.Have.Len())*9/10 {
		n.rep.nine = n.now
	}
}

func (n *network) falsify(lies func(piece int64) bool, r byterange.Range) {
	for i := r.Start / n.sc.piece; i*n.sc.piece < r.End; i++ {
		if lies(i) {
			n.wrong.Add(r.Intersect(byterange.Range{Start: i * n.sc.piece, End: (i + 1) * n.sc.piece}))
		}
	}
}

// check begins the check of a piece; checks run one after the other.
func (n *network) check(a Check) {
	if !n.have.Contains(a.Range) {
		n.t.Fatalf("piece %d is to be checked and is not here", a.Piece)
	}
	ok := true
	for range n.wrong.Covered(a.Range) {
		ok = false
	}
	at := n.now
	if k := len(n.checks); k > 0 {
		at = max(at, n.checks[k-1].at)
	}
	at += time.Duration(float64(a.Range.Len()) / hashSpeedHere * float64(time.Second))
	n.checks = append(n.checks, check{a.Piece, ok, at})
}

// checked reports the results that are ready.
func (n *network) checked() {
	for len(n.checks) > 0 && n.checks[0].at <= n.now && !n.over() {
		c := n.checks[0]
		n.checks = n.checks[1:]
		if !c.ok {
			n.rep.lie = cmp.Or(n.rep.lie, n.now)
		}
		if c.ok {
			n.proven.Add(byterange.Range{Start: c.piece * n.sc.piece, End: min((c.piece+1)*n.sc.piece, n.sc.size)})
		}
		n.step(PieceChecked{Piece: c.piece, OK: c.ok})
	}
}

// discard removes bytes that are or may be wrong.
func (n *network) discard(r byterange.Range) {
	if !n.have.Contains(r) {
		n.t.Fatalf("%v is to be forgotten, of which some never came", r)
	}
	n.have.Remove(r)
	n.wrong.Remove(r)
	n.hashed = min(n.hashed, n.have.FirstGap(0))
}

// reads returns how fast the bytes at the front are consumed, in bytes a second.
func (n *network) reads() float64 {
	if n.sc.pipe > 0 {
		return n.sc.pipe
	}
	return hashSpeedHere
}

// consume makes the in-order hash or the reader of a stream consume bytes at the front.
func (n *network) consume(d time.Duration) {
	front := n.have.FirstGap(0)
	if n.sc.pipe > 0 && n.sc.piece > 0 { // bytes that may be revoked are not handed out
		front = n.proven.FirstGap(0)
	}
	n.hashed = max(n.hashed, min(front, n.sc.size, n.hashed+int64(n.reads()*d.Seconds())))
	step := int64(256 << 10)
	if n.sc.cfg.Window > 0 { // parts are uploaded
		step = 8 * mib
	}
	if n.sc.pipe > 0 && !n.over() && n.hashed-n.passed >= step {
		n.passed = n.hashed
		n.step(Consumed{Front: n.passed})
	}
}
