package releases

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

// A Name is the name of a list of checksums, as real releases have it. X stands for a name, a version or a platform.
type Name struct {
	Count int // how often it occurs
	Text  string
}

// ReadNames reads lines of a count, a tab and a name.
func ReadNames(r io.Reader) (names []Name, err error) {
	for lines := bufio.NewScanner(r); ; {
		if !lines.Scan() {
			return names, lines.Err()
		}
		if lines.Text() == "" || lines.Text()[0] == '#' {
			continue
		}
		count, text, ok := strings.Cut(lines.Text(), "\t")
		n, err := strconv.Atoi(count)
		if !ok || err != nil || n < 1 || text == "" || strings.ContainsAny(text, "/\\ ") {
			return nil, fmt.Errorf("%q: want a count, a tab and a name", lines.Text())
		}
		names = append(names, Name{n, text})
	}
}

// draw returns n names in random order, each as often as its count demands.
func draw(names []Name, n int, chance *rand.Rand) (drawn []string) {
	total, sum, next := 0, 0, 0
	for _, name := range names {
		total += name.Count
	}
	at := func(i int) int { return (2*i + 1) * total / (2 * n) }
	for _, name := range names {
		for sum += name.Count; next < n && at(next) < sum; next++ {
			drawn = append(drawn, name.Text)
		}
	}
	chance.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn
}

// A scope is the set of files that a list covers.
type scope int

const (
	ofAll  scope = iota // of the release
	ofFile              // one, after which it is named: tool.zip.sha256
	ofStem              // one, after which it is named without its ending: tool.sha256
)

var (
	ownList = regexp.MustCompile(`(?i)^(.*)(\.(?:sha-?(?:256|512|1)?(?:sum)?s?(?:\.txt)?|md5))$`)
	archive = regexp.MustCompile(`(?i)X\.X$|\.(?:exe|zip|gz|xz|tgz|deb|bin)$`)
	allOf   = regexp.MustCompile(`(?i)checksum|^sha|sums`)
	project = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9]*(?:-[a-z0-9]+)*)[_-](?:vX|X|[cC]hecksums|SHA256SUMS?)`)
)

// A naming has the names of a release's files and of its list.
type naming struct {
	tool, version string
	files         []string // the first is the one that is downloaded
	list          string   // empty: none
	of            scope
}

var systems = [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

// styles are ways to name files; %t is the tool, %v its version, %o and %a the platform.
var styles = []string{
	"%t_%v_%o_%a.tar.gz", "%t_%v_%o_%a.tar.gz", "%t-v%v-%o-%a.tar.gz", "%t-%o-%a", "%t_%v_%a.deb", "%t-%v-%o-%a.zip", "%t-%o-%a.exe",
	"%t-%v-%a-unknown-%o-musl.tar.xz", "%t.%o-%a", "%t-%v.%o.%a.tgz", "%t_v%v_%o_%a", "%t-%v.%a-%o.AppImage",
}

func fill(style string, tool, version string, system [2]string) string {
	return strings.NewReplacer("%t", tool, "%v", version, "%o", system[0], "%a", system[1]).Replace(style)
}

// name makes the names of a release, with a list named after the rule. An empty rule means no list.
func name(rule string, number int, chance *rand.Rand) naming {
	n := naming{tool: fmt.Sprintf("tool%d", number), version: fmt.Sprintf("%d.%d.%d", chance.IntN(4), chance.IntN(90), chance.IntN(9))}
	if m := project.FindStringSubmatch(rule); m != nil {
		n.tool = strings.ToLower(m[1])
	}
	style := styles[chance.IntN(len(styles))]
	for _, system := range systems {
		n.files = append(n.files, fill(style, n.tool, n.version, system))
	}
	m := ownList.FindStringSubmatch(rule)
	switch {
	case rule == "":
	case m != nil && m[1] == "X":
		n.of, n.list = ofFile, n.files[0]+m[2]
	case m != nil && strings.Contains(m[1], "X") && !allOf.MatchString(m[1]) && archive.MatchString(m[1]):
		n.files[0] = n.expand(m[1], "gz")
		n.of, n.list = ofFile, n.files[0]+m[2]
	case m != nil && strings.Contains(m[1], "X") && !allOf.MatchString(m[1]):
		stem := n.expand(m[1], "amd64")
		n.of, n.files[0], n.list = ofStem, stem+".tar.gz", stem+m[2]
	default:
		n.list = n.expand(rule, "txt")
	}
	return n
}

// expand puts the version, the platform and last for the X of a rule.
func (n naming) expand(rule, last string) string {
	count := strings.Count(rule, "X")
	for i := range count {
		word := []string{n.version, "linux", "amd64", "musl"}[min(i, 3)]
		if i > 0 && i == count-1 {
			word = last
		}
		rule = strings.Replace(rule, "X", word, 1)
	}
	return rule
}
