package watch

import (
	"fmt"
	"reflect"

	"braid/antenna"
	"braid/internal/option"
)

// file is the configuration file.
type file struct {
	State      string   `toml:"state"`
	Parallel   count    `toml:"parallel"`
	Polls      count    `toml:"polls"`
	HostGap    span     `toml:"host-gap"`
	HostRate   count    `toml:"host-rate"`
	HostLimit  bulk     `toml:"host-limit-rate"`
	LimitRate  rates    `toml:"limit-rate"`
	Lowest     *floor   `toml:"lowest-speed-limit"`
	MaxSize    bulk     `toml:"max-size"`
	Metrics    string   `toml:"metrics"`
	LogFormat  string   `toml:"log-format"`
	LogLevel   string   `toml:"log-level"`
	UserAgent  string   `toml:"user-agent"`
	AllowHosts []string `toml:"allow-hosts"`
	NotHosts   []string `toml:"not-hosts"`
	GeoIPDB    string   `toml:"geoip-db"`
	Zone       string   `toml:"zone"`

	Feed    map[string]*feedTable  `toml:"feed"`
	Watch   map[string]*watchTable `toml:"watch"`
	Publish publishTable           `toml:"publish"`
}

// feedTable is the table [feed.NAME].
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

// limitsTable is the table [feed.NAME.limits].
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

// anchorKeys are the keys of [watch.NAME] about signatures.
type anchorKeys struct {
	Key             []string `toml:"key"`
	Keyring         []string `toml:"keyring"`
	Pin             []string `toml:"pin"`
	SMIMECA         []string `toml:"smime-ca"`
	AllowExpiredKey bool     `toml:"allow-expired-key"`
	Signature       []string `toml:"signature"`
}

// watchTable is the table [watch.NAME].
type watchTable struct {
	anchorKeys
	releaseKeys
	URL            string   `toml:"url"`
	Glob           string   `toml:"glob"`
	Feeds          []string `toml:"feeds"`
	Dir            string   `toml:"dir"`
	To             string   `toml:"to"`
	Name           string   `toml:"name"`
	Require        Require  `toml:"require"`
	Priority       Priority `toml:"priority"`
	Mirror         []string `toml:"mirror"`
	FeedMirrors    bool     `toml:"feed-mirrors"`
	Keep           *int     `toml:"keep"`
	Run            []string `toml:"run"`
	OnFailure      []string `toml:"on-failure"`
	HookTime       span     `toml:"hook-time"`
	CheckEvery     span     `toml:"check-every"`
	AnyNews        bool     `toml:"any-news"`
	LimitRate      rates    `toml:"limit-rate"`
	MaxSize        bulk     `toml:"max-size"`
	AllowOlder     bool     `toml:"allow-older"`
	AllowLessProof bool     `toml:"allow-less-proof"`
	NoMetalink     bool     `toml:"no-metalink"`
	NoLookup       bool     `toml:"no-lookup"`
	Title          string   `toml:"title"`
	Author         string   `toml:"author"`
	Zone           string   `toml:"zone"`
	accessTable
}

// accessTable holds header fields and credentials. The values of header-env and user-env are names of variables. The
// values of header-file and user-file are paths.
type accessTable struct {
	Header     []string          `toml:"header"`
	HeaderEnv  map[string]string `toml:"header-env"`
	HeaderFile map[string]string `toml:"header-file"`
	UserEnv    string            `toml:"user-env"`
	UserFile   string            `toml:"user-file"`
}

// publishTable is the table [publish].
type publishTable struct {
	Dir      string `toml:"dir"`
	AgentURL string `toml:"agent-url"`
	Title    string `toml:"title"`
}

// The types of values, from the table of options.
type (
	span   = option.PeriodValue
	amount = option.SizeValue
	bulk   = option.BulkValue
	rates  = option.RatesValue
	count  = option.NumberValue
	plenty = option.EntriesValue
)

const unlimited = "unlimited"

// floor is an amount of bytes, where "0" means none.
type floor int64

func (f *floor) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*f = 0
		return nil
	}
	return (*bulk)(f).UnmarshalText(text)
}

// quota is an amount of bytes, or "unlimited", stored as -1.
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

// tally is a number from 1 to a million, or "unlimited", stored as -1.
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

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Require) UnmarshalText(text []byte) error {
	choice := option.ChoiceValue{Words: option.WordsOf("require")}
	err := choice.Set(string(text))
	*r = Require(choice.Word)
	return err
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *Priority) UnmarshalText(text []byte) error {
	choice := option.ChoiceValue{Words: option.WordsOf("priority")}
	err := choice.Set(string(text))
	*p = Priority(choice.Word)
	return err
}

// tableOf returns the type of the table that contains a key, or nil if no such table exists.
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
			if i++; i == len(key)-1 { // the name of a feed or watch, which the user chooses
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

// namesIn returns the names of the keys that a table may have.
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
