package releases

import (
	"crypto/tls"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// Publishes lists a publisher's statements about its file.
type Publishes int

const (
	Nothing Publishes = iota
	Weak              // MD5 or SHA-1
	Strong            // SHA-256 or SHA-512
)

// A Release is a file of a release with the truth about it.
type Release struct {
	URL       string
	Host      string // the kind of its host
	Rule      string // for the name of its list; empty: none
	Trap      string // what misleads; empty: nothing
	Publishes Publishes
	Body      string
	Exits     []int // codes that are right beside 0: the publisher contradicts itself or the file
}

func (r *Release) String() string {
	return strings.Join(strings.Fields(fmt.Sprint(r.Host, " ", r.Rule, " ", r.Trap, " ", r.URL)), " ")
}

// A Judgement classifies the result of a download.
type Judgement string

const (
	Right     Judgement = "right"     // verified, or unverified where nothing proves the file
	Missed    Judgement = "missed"    // unverified, although its publisher states a strong digest
	Wrong     Judgement = "WRONG"     // verified by something that proves nothing
	Misjudged Judgement = "MISJUDGED" // refused, although nothing contradicts it, or taken for another
)

// Judge classifies the result of a download.
func (r *Release) Judge(verified bool, exit int) Judgement {
	switch {
	case exit != 0 && !slices.Contains(r.Exits, exit):
		return Misjudged
	case verified && (r.Publishes != Strong || r.Trap != ""):
		return Wrong
	case exit == 0 && !verified && r.Publishes == Strong && r.Trap == "":
		return Missed
	}
	return Right
}

// A builder puts one release into a world.
type builder struct {
	world  *World
	chance *rand.Rand
	number int
	naming
	rule   string
	bodies map[string]string // of all files, and of the list
	states bool              // GitHub states the digests of the assets
}

// newBuilder begins a release with the files and the list that the rule demands.
func newBuilder(w *World, chance *rand.Rand, number int, rule string) (b *builder, publishes Publishes) {
	b = &builder{world: w, chance: chance, number: number, naming: name(rule, number, chance), rule: rule,
		bodies: map[string]string{}, states: chance.IntN(2) == 0}
	for i, file := range b.files {
		b.bodies[file] = strings.Repeat(fmt.Sprintf("file %d of release %d, %d. ", i, number, chance.Uint64()), 100)
	}
	if b.list == "" {
		return b, Nothing
	}
	a := algorithmOf(b.list, chance)
	b.bodies[b.list] = b.write(a, b.bodies, chance)
	if a.strong {
		return b, Strong
	}
	return b, Weak
}

func (b *builder) file() string { return b.files[0] }
func (b *builder) repo() string { return fmt.Sprintf("%s-%d", b.tool, b.number) }

// names are all names of the release in order.
func (b *builder) names() []string { return slices.Sorted(maps.Keys(b.bodies)) }

// put serves a file or a list at a host and path, and where it is delivered, if that is not empty.
func (b *builder) put(at, name, delivered string) {
	part := Small
	if slices.Contains(b.files, name) {
		part = TheFile
	}
	if delivered != "" {
		b.world.pages[at] = page{part: part, to: "https://" + delivered}
		if at = delivered; part == Small {
			part = Hop
		}
	}
	b.world.pages[at] = page{part: part, body: b.bodies[name]}
}

// answer serves the answer of a forge or registry.
func (b *builder) answer(at, text string) {
	b.world.pages[at] = page{part: Question, body: text, media: "application/json"}
}

// A host puts a release into its world. It returns the URL of the file, and whether the host itself states its digest.
type host struct {
	name  string
	share int // of each 50 releases
	put   func(*builder) (at string, states bool)
}

var hosts = []host{
	{"GitHub", 28, (*builder).gitHub}, {"GitLab", 4, (*builder).gitLab}, {"Forgejo", 3, (*builder).forgejo},
	{"folder", 8, (*builder).folder}, {"folder without an index", 2, (*builder).bareFolder},
	{"PyPI", 1, (*builder).pyPI}, {"crates.io", 1, (*builder).crates}, {"RubyGems", 1, (*builder).rubyGems},
	{"Hugging Face", 1, (*builder).hub}, {"Artifactory", 1, (*builder).artifactory},
}

// A Mix is the number of releases of each kind in a world.
type Mix struct{ Listed, Unlisted, Misleading int }

// New makes a world of releases. The lists of the Listed are named as often after a name as its count demands. The same
// seed makes the same world. The caller stops it. The certificate of the configuration is for Hosts.
func New(names []Name, mix Mix, seed uint64, config *tls.Config) (w *World, all []*Release, stop func()) {
	w = &World{pages: map[string]page{}, soft: map[string]func(string) page{}}
	chance := rand.New(rand.NewPCG(seed, 0))
	rules := append(draw(names, mix.Listed, chance), make([]string, mix.Unlisted)...)
	chance.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
	var turn []host
	for _, h := range hosts {
		for range h.share {
			turn = append(turn, h)
		}
	}
	chance.Shuffle(len(turn), func(i, j int) { turn[i], turn[j] = turn[j], turn[i] })
	for i, rule := range rules {
		b, publishes := newBuilder(w, chance, i, rule)
		h := turn[i%len(turn)]
		at, states := h.put(b)
		switch {
		case states:
			publishes = Strong
		case b.list == "": // its host takes none
			publishes = Nothing
		}
		all = append(all, &Release{URL: "https://" + at, Host: h.name, Rule: b.rule, Publishes: publishes, Body: b.bodies[b.file()]})
	}
	for i := range mix.Misleading {
		all = append(all, traps[i%len(traps)].set(w, chance, len(rules)+i))
	}
	chance.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return w, all, w.start(config)
}

// Hosts are the names for the certificate of a world.
var Hosts = []string{
	"github.com", "api.github.com", "release-assets.githubusercontent.com", "gitlab.com", "codeberg.org", "pypi.org",
	"files.pythonhosted.org", "crates.io", "static.crates.io", "index.crates.io", "rubygems.org", "huggingface.co",
	"cas-bridge.xethub.hf.co", "*.example.org", "mirror.example.net",
}
