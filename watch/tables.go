package watch

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"braid/antenna"
	"braid/internal/option"
)

// A file is a configuration as it is written.
type file struct {
	State      string   `toml:"state"`
	Parallel   count    `toml:"parallel"`
	Polls      count    `toml:"polls"`
	HostGap    span     `toml:"host-gap"`
	LimitRate  bulk     `toml:"limit-rate"`
	MaxSize    bulk     `toml:"max-size"`
	Metrics    string   `toml:"metrics"`
	LogFormat  string   `toml:"log-format"`
	LogLevel   string   `toml:"log-level"`
	UserAgent  string   `toml:"user-agent"`
	AllowHosts []string `toml:"allow-hosts"`
	Zone       string   `toml:"zone"`

	Feed    map[string]*feedTable  `toml:"feed"`
	Watch   map[string]*watchTable `toml:"watch"`
	Publish publishTable           `toml:"publish"`
}

// A feedTable is [feed.NAME].
type feedTable struct {
	URL         string       `toml:"url"`
	File        string       `toml:"file"`
	Kind        antenna.Kind `toml:"kind"`
	Every       span         `toml:"every"`
	Min         span         `toml:"min"`
	Max         span         `toml:"max"`
	Relay       bool         `toml:"relay"`
	Trust       []string     `toml:"trust"`
	HatenaTimes bool         `toml:"hatena-times"`
	Limits      limitsTable  `toml:"limits"`
	accessTable
}

// A limitsTable is [feed.NAME.limits].
type limitsTable struct {
	Bytes    bulk   `toml:"bytes"`
	Entries  plenty `toml:"entries"`
	Line     amount `toml:"line"`
	Value    amount `toml:"value"`
	Ratio    count  `toml:"ratio"`
	Time     span   `toml:"time"`
	Relayed  count  `toml:"relayed"`
	Updates  tally  `toml:"updates-a-day"`
	DayBytes quota  `toml:"bytes-a-day"`
}

// A watchTable is [watch.NAME].
type watchTable struct {
	URL             string   `toml:"url"`
	Glob            string   `toml:"glob"`
	Feeds           []string `toml:"feeds"`
	Dir             string   `toml:"dir"`
	Name            string   `toml:"name"`
	Require         Require  `toml:"require"`
	Keyring         []string `toml:"keyring"`
	Pin             []string `toml:"pin"`
	SMIMECA         []string `toml:"smime-ca"`
	AllowExpiredKey bool     `toml:"allow-expired-key"`
	Signature       []string `toml:"signature"`
	Mirror          []string `toml:"mirror"`
	Keep            int      `toml:"keep"`
	Run             []string `toml:"run"`
	OnFailure       []string `toml:"on-failure"`
	HookTime        span     `toml:"hook-time"`
	CheckEvery      span     `toml:"check-every"`
	LimitRate       bulk     `toml:"limit-rate"`
	MaxSize         bulk     `toml:"max-size"`
	AllowOlder      bool     `toml:"allow-older"`
	AllowLessProof  bool     `toml:"allow-less-proof"`
	NoMetalink      bool     `toml:"no-metalink"`
	Title           string   `toml:"title"`
	Author          string   `toml:"author"`
	Zone            string   `toml:"zone"`
	accessTable
}

// An accessTable is what a server wants to be told. Values of header-env and user-env are names of variables, those of header-file and
// user-file paths.
type accessTable struct {
	Header     []string          `toml:"header"`
	HeaderEnv  map[string]string `toml:"header-env"`
	HeaderFile map[string]string `toml:"header-file"`
	UserEnv    string            `toml:"user-env"`
	UserFile   string            `toml:"user-file"`
}

// A publishTable is [publish].
type publishTable struct {
	Dir      string `toml:"dir"`
	AgentURL string `toml:"agent-url"`
	Title    string `toml:"title"`
}

// A span is a time: "10m", "1h30m". A number without a unit is seconds, unless it is so small that minutes or hours may be meant.
type span time.Duration

func (s *span) UnmarshalText(text []byte) error {
	if isBare(text, 1000) {
		return fmt.Errorf(`write a time with its unit, as "%[1]ss", "%[1]sm" or "%[1]sh"`, text)
	}
	d, err := option.ParseTime(string(text))
	*s = span(d)
	return err
}

// isBare reports whether text is a number without a unit that is less than some other: it may be meant in another unit. Zero is zero.
func isBare(text []byte, less float64) bool {
	x, err := strconv.ParseFloat(string(text), 64)
	return err == nil && x > 0 && x < less
}

// An amount is a number of bytes: "500K", "2G".
type amount int64

func (a *amount) UnmarshalText(text []byte) error {
	n, err := option.ParseSize(string(text))
	if err == nil && n == 0 {
		err = option.ErrSize
	}
	*a = amount(n)
	return err
}

// A bulk is an amount of which a few bytes make no sense.
type bulk int64

func (b *bulk) UnmarshalText(text []byte) error {
	if isBare(text, 1024) {
		return fmt.Errorf(`write bytes with their unit, as "%[1]sK", "%[1]sM" or "%[1]sB"`, text)
	}
	var a amount
	err := a.UnmarshalText(text)
	*b = bulk(a)
	return err
}

const unlimited = "unlimited"

// A quota is an amount, or "unlimited", which is -1.
type quota int64

func (q *quota) UnmarshalText(text []byte) error {
	if string(text) == unlimited {
		*q = -1
		return nil
	}
	var b bulk
	if err := b.UnmarshalText(text); err != nil {
		return fmt.Errorf(`%w; or "unlimited"`, err)
	}
	*q = quota(b)
	return nil
}

// A tally is a number from 1 to a million, or "unlimited", which is -1.
type tally int

func (t *tally) UnmarshalText(text []byte) error {
	if string(text) == unlimited {
		*t = -1
		return nil
	}
	var c count
	if err := c.UnmarshalText(text); err != nil {
		return fmt.Errorf(`%w, or "unlimited"`, err)
	}
	*t = tally(c)
	return nil
}

// A count is a number from 1 to a million.
type count int

func (c *count) UnmarshalText(text []byte) error {
	var a amount
	if a.UnmarshalText(text) != nil || strings.Trim(string(text), "0123456789") != "" || a > 1_000_000 {
		return fmt.Errorf("write a number from 1 to 1000000")
	}
	*c = count(a)
	return nil
}

// A plenty is a number from 1 to a billion.
type plenty int

func (p *plenty) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 || n > 1_000_000_000 {
		return fmt.Errorf("write a number from 1 to 1000000000")
	}
	*p = plenty(n)
	return nil
}

var requirements = []string{string(RequireNothing), string(RequireDigest), string(RequireSignature)}

// UnmarshalText reads one of the words.
func (r *Require) UnmarshalText(text []byte) error {
	*r = Require(text)
	if !slices.Contains(requirements, string(text)) {
		return fmt.Errorf("write one of %s", strings.Join(requirements, ", "))
	}
	return nil
}

// tableOf is the type of the table that a key is in, and nil if there is none.
func tableOf(key []string) reflect.Type {
	t := reflect.TypeFor[file]()
	for i := 0; i < len(key)-1; i++ {
		f, ok := fieldOf(t, key[i])
		if !ok {
			return nil
		}
		t = f
		if t.Kind() == reflect.Map {
			t = t.Elem()
			if i++; i == len(key)-1 { // the name, which is free
				return nil
			}
		}
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		if t.Kind() != reflect.Struct {
			return nil
		}
	}
	return t
}

func fieldOf(t reflect.Type, name string) (reflect.Type, bool) {
	for _, f := range reflect.VisibleFields(t) {
		if f.Tag.Get("toml") == name {
			return f.Type, true
		}
	}
	return nil, false
}

// has reports whether a table may have a key of exactly that name.
func has(t reflect.Type, name string) bool {
	_, ok := fieldOf(t, name)
	return ok
}

// namesIn are the keys that a table may have.
func namesIn(t reflect.Type) (names []string) {
	if t == nil {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		if name := f.Tag.Get("toml"); name != "" {
			names = append(names, name)
		}
	}
	return names
}
