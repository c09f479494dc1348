package download

import (
	"slices"

	"braid/internal/partfile"
	"braid/verify"
)

// digests is the table of the known digests of one version of the file, in the order of their arrival. Each claim has
// one row. Digests of mirrors are not in the table, because they are about the mirrors' copies.
type digests []digest

// A digest is a row of the table: a claim, the parties that gave the claim, and the use of the claim.
type digest struct {
	verify.Claim
	by  giver
	use use
}

// A giver is a set of parties that gave a digest. The digests of the asked server have the empty set, unless another
// party gave the same claim.
type giver uint8

const (
	theUser giver = 1 << iota // in the request or in a list that the user named, for this run or for an earlier run
	theHost                   // the host of the URL itself in this run, also in its redirects
	aList                     // a list beside the file, which was found before the current lookup

	theServer giver = 0 // the asked server, in this run or in an earlier run
)

// A use states how a digest is used. The file must have the digests that count: those that yield, stand or count.
type use uint8

const (
	noted  use = iota // has no use except by its givers (see by), or was forgotten
	ties              // shows that the bytes of an earlier run, which found the digest beside the file, are of this file
	denied            // kept for a later run: the server stated it in an earlier run; the user contradicts or outranks it
	yields            // counts until contradicted: of an earlier request, or of a server that has stated other digests since
	stands            // counts: of the server in an earlier run, of which the server has repeated no strong digest in this run
	counts
)

// counted returns a table of claims that count as digests of the server.
func counted(claims []verify.Claim) (t digests) {
	t.add(theServer, counts, claims)
	return t
}

// where returns the claims of each row that matches.
func (t digests) where(matches func(digest) bool) (claims []verify.Claim) {
	for _, d := range t {
		if matches(d) {
			claims = append(claims, d.Claim)
		}
	}
	return claims
}

// used returns the digests that have one of the uses.
func (t digests) used(uses ...use) []verify.Claim {
	return t.where(func(d digest) bool { return slices.Contains(uses, d.use) })
}

// by returns the digests that a party in g gave, whatever their use.
func (t digests) by(g giver) []verify.Claim {
	return t.where(func(d digest) bool { return d.by&g != 0 })
}

// counting returns the digests that the file must have: those of authorities.
func (t digests) counting() []verify.Claim { return t.used(yields, stands, counts) }

// firm returns the counting digests that are not yielding.
func (t digests) firm() []verify.Claim { return t.used(stands, counts) }

// ofServer returns the firm digests that only the server gave.
func (t digests) ofServer() []verify.Claim { return without(t.firm(), t.by(theUser)) }

// firsthand returns the counting digests that the user, or the host of the URL itself, gave in this run.
func (t digests) firsthand() []verify.Claim {
	return t.where(func(d digest) bool {
		return d.use >= yields && d.by&theHost != 0 || d.use > yields && d.by&theUser != 0
	})
}

// add adds claims of g with the use u. It lowers no use, and does not change the use of a claim that counts.
func (t *digests) add(g giver, u use, claims []verify.Claim) {
	for _, c := range claims {
		i := slices.IndexFunc(*t, func(d digest) bool { return d.Claim == c })
		if i < 0 {
			i = len(*t)
			*t = append(*t, digest{Claim: c})
		}
		d := &(*t)[i]
		if d.by |= g; d.use < yields {
			d.use = max(d.use, u)
		}
	}
}

// state adds claims, which the server states in this run.
func (t *digests) state(claims []verify.Claim) {
	t.outdate(claims)
	t.add(theServer, counts, claims)
}

// outdate makes digests of an earlier run yielding if the server now states claims, because both may be of different
// versions. Only the bytes show whether digests of different algorithms agree. A digest that came over a more trusted
// channel than claims does not become yielding. If the server states a strong digest of the earlier run again, all its
// digests of that run count like digests of this run.
func (t digests) outdate(claims []verify.Claim) {
	standing := t.used(stands)
	again, compared := verify.Strong(common(standing, claims)), sharesAlgorithm(standing, claims)
	deniedAgain := verify.Strong(common(t.used(denied), claims))
	for i := range t {
		d := &t[i]
		old := backed(claims, d.Channel, verify.Signed)
		switch {
		case d.use == stands && again, d.use == yields && slices.Contains(claims, d.Claim):
			d.use = counts
		case d.use == stands && !compared && old:
			d.use = yields
		case d.use == denied && !deniedAgain && old:
			d.use = noted
		}
	}
}

// forget ends the uses of all digests that have them.
func (t digests) forget(uses ...use) {
	for i, d := range t {
		if slices.Contains(uses, d.use) {
			t[i].use, t[i].by = noted, d.by&^theUser
		}
	}
}

// takeBack ends the uses of all digests except the user's of this run, because the server has contradicted itself.
func (t digests) takeBack() {
	for i, d := range t {
		if d.use > ties && (d.use < counts || d.by&theUser == 0) {
			t[i].use, t[i].by = noted, d.by&^theUser
		}
	}
}

// recall adds the digests in prior, the sealed journal of an earlier run, to those of the request, trust, and of the
// server in this run. Signed digests count only as digests of the server, because their signer may not be trusted now.
// The digests of the earlier request become yielding.
func (t *digests) recall(prior partfile.Identity, trust []verify.Claim) {
	said, yielding, standing, refused := t.ofServer(), earlier(yieldingOf(prior), trust), standingOf(prior), prior.Denied
	if !verify.Strong(common(trust, standing)) {
		doubtful := outranked(standing, trust)
		standing, refused = without(standing, doubtful), join(refused, doubtful)
	}
	t.add(theServer, yields, yielding)
	t.add(theUser, yields, without(yielding, without(yielding, prior.Given())))
	t.add(theServer, stands, earlier(standing, trust))
	t.add(theServer, denied, refused)
	t.add(aList, noted, prior.Looked)
	t.outdate(said)
}
