package feedtext

// guess determines the charset of a text from its lines: of several candidates, the first one with the fewest invalid
// lines. So a line that was cut within a character does not change how a thousand other lines are decoded.
type guess struct {
	candidates []*Charset
	misfits    []int
	scratch    []byte
	// strange is set if the text declares an unknown charset.
	strange bool
}

// newGuess returns a guess for a text that declares the given charset; declared is empty without a declaration. The
// declared charset is the first candidate, followed by UTF-8, EUC-JP and CP932. Without a declaration, EUC-JP is the
// first candidate, because feeds need not declare it.
func newGuess(declared string) *guess {
	g := &guess{candidates: []*Charset{UTF8, EUCJP, CP932}}
	if declared == "" {
		g.candidates = []*Charset{EUCJP, UTF8, CP932}
	} else if c, ok := LookupCharset(declared); !ok {
		g.strange = true
	} else if c != UnknownCharset {
		g.candidates = append([]*Charset{c}, g.candidates...)
	}
	g.misfits = make([]int, len(g.candidates))
	return g
}

// first returns the candidate that is chosen if all lines are valid in it.
func (g *guess) first() *Charset { return g.candidates[0] }

// stateful reports whether lines of ASCII octets may encode other text in the first candidate.
func (g *guess) stateful() bool { return g.first() == ISO2022JP }

// observe updates the guess with a line.
func (g *guess) observe(line []byte) {
	if IsASCII(line) && !g.stateful() {
		return
	}
	for i, c := range g.candidates {
		var ok bool
		if ok, g.scratch = c.fits(line, g.scratch); !ok {
			g.misfits[i]++
		}
	}
}

// charset returns the best candidate so far.
func (g *guess) charset() *Charset {
	best := 0
	for i, n := range g.misfits {
		if n < g.misfits[best] {
			best = i
		}
	}
	if g.strange && g.misfits[best] > 0 {
		return UnknownCharset
	}
	return g.candidates[best]
}
