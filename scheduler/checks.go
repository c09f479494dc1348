package scheduler

import (
	"slices"

	"braid/byterange"
)

// checks records which pieces can be checked, were checked or are disputed. For each mirror, it records which present
// bytes of that mirror passed no check. Only methods of checks make bytes present, or missing again.
type checks struct {
	clock    *clock
	actions  *actions
	mirrors  *mirrors
	ranges   *ranges
	requests *requests
	pieces   pieces
}

// gain records bytes as present, and requests the checks of pieces that are complete now. It returns the number of
// bytes that were not present before. from is nil if the fetch is unknown.
func (c *checks) gain(r byterange.Range, from *mirror) (fresh int64) {
	if from == nil {
		fresh = c.ranges.gain(r, nil)
	} else {
		fresh = c.ranges.gain(r, &from.unproven)
	}
	c.check(r)
	return fresh
}

// discard makes the present bytes of r missing again.
func (c *checks) discard(r byterange.Range) {
	for had := range c.ranges.here.Covered(r) {
		c.actions.add(Discard{had})
	}
	c.ranges.lose(r)
	c.requests.reserveAgain(r)
}

// check requests the checks of the pieces that overlap r and are complete now.
func (c *checks) check(r byterange.Range) {
	for _, check := range c.pieces.complete(&c.ranges.here, r) {
		c.actions.add(check)
	}
}

// piecesKnown begins to check the pieces in ev, including pieces that are present. Only the first description is used.
func (c *checks) piecesKnown(ev PiecesKnown) {
	if c.pieces.length == 0 {
		c.pieces = newPieces(ev, c.ranges.size)
		c.check(byterange.Range{Start: 0, End: c.ranges.size})
	}
}

// pieceChecked handles ev, the result of a check. A mirror that delivered all of a wrong piece is banned.
func (c *checks) pieceChecked(ev PieceChecked) {
	piece, ok := c.pieces.checked(ev)
	if !ok {
		return
	}
	var from mirrors
	for _, m := range *c.mirrors {
		for range m.unproven.Covered(piece) {
			from = append(from, m)
			break
		}
	}
	only := len(from) == 1 && from[0].unproven.Contains(piece)
	switch {
	case ev.OK:
		c.cleared(piece, from, only)
	case only:
		c.discard(piece)
		c.ban(from[0])
	default:
		c.discard(piece)
		c.pieces.dispute(piece, from)
	}
	for _, m := range from {
		m.unproven.Remove(piece)
	}
}

// cleared handles a piece that is right. If the piece is disputed between two mirrors, and one of them has now
// delivered the whole piece correctly, the other mirror is banned.
func (c *checks) cleared(piece byterange.Range, from mirrors, only bool) {
	by := c.pieces.resolve(piece)
	if !only || len(by) != 2 {
		return
	}
	if i := slices.Index(by, from[0]); i >= 0 && !by[1-i].gone() {
		c.ban(by[1-i])
	}
}

// ban ends the use of m. The bytes of m are missing again, except for pieces that were proven or are being checked.
func (c *checks) ban(m *mirror) {
	c.actions.add(Ban{m.id})
	if m.running != nil {
		c.requests.cancel(m.running, ReasonWrongBytes)
	}
	m.becomeBanned()
	var lost []byterange.Range
	for r := range m.unproven.All() {
		for gap := range c.pieces.asked.Gaps(r) {
			lost = append(lost, gap)
		}
	}
	for _, r := range lost {
		c.discard(r)
		m.unproven.Remove(r)
	}
}

// repair makes m fetch a disputed piece, and reports whether it did. After an interrupted answer, m fetches the rest.
func (c *checks) repair(m *mirror) bool {
	for i := range c.pieces.disputed {
		d := &c.pieces.disputed[i]
		p := d.piece
		if c.pieces.asked.Contains(p) || c.ranges.busy(p) || d.belongsToAnother(m, c.clock.now) {
			continue
		}
		if d.sole != m {
			c.restartPiece(d, m)
		}
		c.requests.start(m, byterange.Range{Start: c.ranges.first(p.Start), End: p.End}, false, ReasonPiece)
		m.running.becomeExclusive(d.reached)
		return true
	}
	return false
}

// restartPiece makes all of a disputed piece missing, and assigns it to m.
func (c *checks) restartPiece(d *disputed, m *mirror) {
	if d.sole != nil {
		d.reached = max(d.reached, c.ranges.first(d.piece.Start))
	}
	d.sole = m
	c.discard(d.piece)
	for _, o := range *c.mirrors {
		o.unproven.Remove(d.piece)
	}
}
