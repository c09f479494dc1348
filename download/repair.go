package download

import (
	"context"
	"fmt"
	"time"

	"braid/byterange"
	"braid/download/speeds"
	"braid/source"
	"braid/verify"
)

// A past is what a source did in the sessions before.
type past struct {
	brought byterange.Set // what only it brought and is here
	bytes   int64
	busy    time.Duration
	banned  error // nil, or why it is not asked again
	other   bool  // it has another file
}

// maxRepairs is how often a file that came wholly and is wrong is mended, before all of it is fetched anew.
const maxRepairs = 3

// repair prepares another session that goes on with what is right of a file whose digest does not hold (rule 40): its
// pieces tell what is wrong or, if there are none, samples from other sources tell who lied.
func (g *getter) repair(ctx context.Context, s *session, wrong error) bool {
	if g.plan.repairs++; g.plan.repairs > maxRepairs || s.req.Stream != nil || g.plan.alone {
		return false
	}
	if !s.pieces.list.IsZero() { // they all hold
		g.plan.mistrust = true
		g.note("the pieces of %s contradict the digest of the whole file: they are not used any more", s.pieces.from)
	}
	switch {
	case g.pieces(ctx, s):
		g.note("%v; the pieces in %s tell where it is damaged", wrong, g.plan.piecesFrom)
	case g.accuse(ctx, s):
	default:
		return false
	}
	g.goOn(s)
	return true
}

// contradicted says that the document which the user named is wrong in itself (rule 42): all of its pieces hold, and the digest
// of the whole, which is from there too, does not. Other bytes would not mend that.
func (s *session) contradicted(wrong *verify.MismatchError) bool {
	d := s.req.Described
	return d != nil && !s.pieces.list.IsZero() && s.pieces.from == d.By && wrong.Claim.Field == d.By
}

// goOn lets the next session begin with what is here.
func (g *getter) goOn(s *session) {
	id := s.identity()
	g.plan.prior = &id
	if g.plan.past == nil {
		g.plan.past = map[string]*past{}
	}
	for _, o := range s.origins {
		p := &past{brought: o.brought, bytes: o.bytes, busy: o.busy, other: o.other}
		if o.banned {
			p.banned = o.err
		}
		g.plan.past[o.url.String()] = p
	}
}

// pieces fetches the documents that may have them, of those that were described and not asked for yet.
func (g *getter) pieces(ctx context.Context, s *session) bool {
	for !g.plan.mistrust {
		doc, ok := g.plan.nextDocument(s.file)
		if !ok {
			return false
		}
		g.plan.asked = append(g.plan.asked, doc.URL.String())
		t := describedBy(ctx, g.http, doc, s.optionsFor(doc.URL, s.req.namedBy(doc.URL, doc.By)), s.file, s.claims)
		if t.err != nil {
			g.note("%s is not used: %v", t.from, t.err)
			continue
		}
		s.file = t.file
		if p := t.file.Pieces; !p.IsZero() && p.Size() == s.size {
			g.plan.pieces, g.plan.piecesFrom = p, t.from
			return true
		}
	}
	return false
}

// distrust lets the next session do without pieces: when nobody is left as each source failed one, it is they that are
// wrong, and the digest of the whole decides.
func (g *getter) distrust(s *session) bool {
	if s.pieces.banned == 0 || g.plan.mistrust || s.req.Stream != nil || s.req.provenByPieces() {
		return false
	}
	g.plan.mistrust = true
	g.note("no source has the pieces that %s describes: they are not used any more", s.pieces.from)
	for _, o := range s.origins {
		o.banned, o.err = false, nil
	}
	g.goOn(s)
	return true
}

func (g *getter) note(format string, args ...any) { g.req.note(format, args...) }

// accuse finds out by samples who brought wrong bytes, bans them and forgets what they brought.
func (g *getter) accuse(ctx context.Context, s *session) bool {
	g.note("some of what came is wrong: samples from other sources are compared, to find out whose")
	found := false
	for _, c := range newSearch(s).run(ctx, s.size/sampleShare) {
		o := c.liar
		if !c.found || o != nil && o.banned {
			continue
		}
		set := &s.unknown
		if o != nil {
			o.banned, set = true, &o.brought
			o.err = &source.Error{URL: o.masked, Host: o.host, Fault: source.FaultMismatch,
				Err: fmt.Errorf("wrong bytes: those from %d to %d are not what %s has", c.at.Start, c.at.End-1, c.witness)}
			g.c.Speeds.Learn(time.Now(), speeds.Speed{Host: o.host}) // not remembered as fast
			g.observe(SourceDown{ID: o.id, URL: o.masked, Host: o.host, Err: o.err, Banned: true})
		} else {
			g.note("wrong bytes: those from %d to %d, of an earlier run, are not what %s has", c.at.Start, c.at.End-1, c.witness)
		}
		for r := range set.All() {
			if err := s.part.Void(r); err != nil {
				return false // the next run has the whole of it checked again
			}
		}
		*set, found = byterange.Set{}, true
	}
	return found
}
