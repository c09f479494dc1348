package rpc

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"braid/daemon/queue"
	"braid/internal/mask"
	"braid/verify"
)

// values are what options of aria2's must look like that braid heeds. Others are kept and given back, and do nothing.
var values = map[string]func() *regexp.Regexp{
	"split": number, "max-connection-per-server": number, "max-concurrent-downloads": count,
	"max-tries": count, "retry-wait": count, "timeout": number, "connect-timeout": number,
	"min-split-size": size, "max-download-limit": size, "max-overall-download-limit": size, "lowest-speed-limit": size,
	"continue": truth, "allow-overwrite": truth, "auto-file-renaming": truth, "remote-time": truth, "conditional-get": truth, "pause": truth,
	"enable-dht": truth, "check-certificate": truth,
	"follow-torrent": follow, "follow-metalink": follow,
	"seed-ratio": fraction, "seed-time": fraction,
	"checksum":  checksum,
	"header":    pattern(`^([!#$%&'*+.^_\x60|~0-9A-Za-z-]+:[^\x00-\x08\x0a-\x1f\x7f]*\n?)*$`),
	"signature": pattern(`^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`), // braid's own: of the file, in base64
	"referer":   line, "user-agent": line, "select-file": pattern(`^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$`),
}

var (
	number   = pattern(`^0*[1-9][0-9]{0,8}$`)
	count    = pattern(`^[0-9]{1,9}$`)
	size     = pattern(`^([0-9]{1,12}) *(([KkMm])[^\n]*)?$`) // aria2 reads no further than the first letter: "1 MB"
	fraction = pattern(`^[0-9]{1,9}(\.[0-9]*)?$`)
	truth    = pattern(`^(true|false)$`)
	follow   = pattern(`^(true|false|mem)$`)
	line     = pattern(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)
	name     = pattern(`^[a-z0-9][a-z0-9-]{0,62}$`)
)

// checksum is a digest, as sha-256=9f86d0...
var checksum = sync.OnceValue(func() *regexp.Regexp {
	var any []string
	for _, a := range verify.Algorithms() {
		any = append(any, fmt.Sprintf("%s=[0-9a-f]{%d}", a, 2*a.Size()))
	}
	return regexp.MustCompile(`^(?i:` + strings.Join(any, "|") + `)$`)
})

// pattern is an expression that is read when it is needed: most runs of the program have no daemon.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// mine are options that a client may not set: they run programs, name files of the user, or open the daemon to others.
var mine = []string{"conf-path", "input-file", "load-cookies", "ca-certificate", "private-key", "log"}

// refused reports whether a client may not set an option to a value.
func refused(name, value string) bool {
	return slices.Contains(mine, name) || strings.HasPrefix(name, "on-") || strings.HasPrefix(name, "rpc-") || name == "check-certificate" && value != "true"
}

// proxies are options that no download has alone: all have the connections of the daemon.
var proxies = pattern(`^((all|http|https|ftp)-proxy(-user|-passwd)?|no-proxy)$`)

// OfAll reports whether an option with this value is one that no download has alone.
func OfAll(name, value string) bool { return value != "" && proxies().MatchString(name) }

// sizes are options that are told in bytes, as by aria2.
var sizes = []string{"min-split-size", "max-download-limit", "max-overall-download-limit", "lowest-speed-limit"}

// inBytes is the number of bytes of a size.
func inBytes(text string) string {
	parts := size().FindStringSubmatch(text)
	if parts == nil {
		return text
	}
	n, _ := strconv.ParseInt(parts[1], 10, 64) // 12 digits
	switch strings.ToLower(parts[3]) {
	case "k":
		n <<= 10
	case "m":
		n <<= 20
	}
	return strconv.FormatInt(n, 10)
}

// mostOptions is how many a download may have.
const mostOptions = 300

// checked are options as they are kept: with the secrets that a placeholder stands for, and the folder from its root
// on. The URIs are those that they are for; those that are there already count as well.
func (v *visit) checked(options map[string]string, uris []string, had map[string]string) (map[string]string, error) {
	kept := map[string]string{}
	for key, value := range options {
		if !name().MatchString(key) {
			continue
		}
		if key == "check-certificate" && value != "true" {
			return nil, refuse("The option '--check-certificate' may only be true: certificates are checked. braid daemon --insecure HOST leaves that of one host unchecked.")
		}
		if refused(key, value) {
			return nil, refuse("A client may not set the option '--%s' to this.", key)
		}
		if OfAll(key, value) {
			return nil, refuse("The option '--%s' is not for one download: all have the proxies of the daemon (--proxy, or proxy = for a site in its settings).", key)
		}
		value, err := v.reveal(key, value, uris)
		if err != nil {
			return nil, err
		}
		if form := values[key]; form != nil && value != "" && !form().MatchString(value) {
			return nil, refuse("We encountered a problem while processing the option '--%s'.", key)
		}
		if slices.Contains(sizes, key) {
			value = inBytes(value)
		}
		kept[key] = value
	}
	all := maps.Clone(kept)
	maps.Copy(all, had)
	if len(all) > mostOptions {
		return nil, refuse("More than %d options.", mostOptions)
	}
	return kept, v.handler.place(kept)
}

// folder is where downloads go whose options do not say it.
func (v *visit) folder() string {
	return cmp.Or(v.queue.Global()["dir"], v.handler.Given["dir"], v.handler.Root)
}

// folderOf is where the file of an entry goes. That of a watch has the folder that the watch says.
func (v *visit) folderOf(e *queue.Entry) string {
	if e.Watch != "" && e.Path != "" {
		return filepath.Dir(e.Path)
	}
	return cmp.Or(e.Options["dir"], v.folder())
}

// saysNothing reports whether an option is as it would be without: clients add a download once more with all options
// that they were told.
func (v *visit) saysNothing(name, value string) bool {
	now, ok := usual[name]
	return ok && value == cmp.Or(v.queue.Global()[name], v.handler.Given[name], now)
}

// all are the options of all downloads.
func (v *visit) all() map[string]string {
	all := maps.Clone(usual)
	maps.Copy(all, v.handler.Given)
	if v.handler.Limit != nil {
		all[together[1]] = digits(v.handler.Limit())
	}
	maps.Copy(all, v.queue.Global())
	all["dir"] = v.folder()
	maps.DeleteFunc(all, refused)
	return all
}

// usual are what clients show for what was not said.
var usual = map[string]string{
	"allow-overwrite": "false", "auto-file-renaming": "true", "check-certificate": "true", "conditional-get": "false", "continue": "false",
	"enable-dht": "true", "follow-metalink": "true", "follow-torrent": "true", "max-connection-per-server": "1", "max-download-limit": "0",
	"max-tries": "5", "min-split-size": "1048576", "remote-time": "false", "retry-wait": "0", "seed-ratio": "1.0", "split": "16",
}

func (v *visit) getOption(p *params) (any, error) {
	g := p.gid(v.queue, 0)
	if p.err != nil {
		return nil, p.err
	}
	e, _ := v.queue.Entry(g)
	all := v.all()
	v.room -= 1 + length(all, e.Options)>>10
	conceal(all, 0)
	for _, name := range together {
		delete(all, name)
	}
	delete(all, sessionOption)
	all["dir"] = v.folderOf(&e)
	own := maps.Clone(e.Options)
	conceal(own, g)
	maps.Copy(all, own)
	return all, nil
}

func (v *visit) getGlobalOption(*params) (any, error) {
	all := v.all()
	v.room -= 1 + length(all)>>10
	conceal(all, 0)
	for _, name := range together {
		all[name] = cmp.Or(all[name], "0")
	}
	return all, nil
}

// length is how many bytes options have.
func length(all ...map[string]string) (n int) {
	for _, options := range all {
		for name, value := range options {
			n += len(name) + len(value)
		}
	}
	return n
}

// together are options of all downloads that no single one has.
var together = []string{"max-concurrent-downloads", "max-overall-download-limit"}

func (v *visit) changeOption(p *params) (any, error) {
	g, options := p.gid(v.queue, 0), p.options(1, true)
	if p.err != nil {
		return nil, p.err
	}
	e, _ := v.queue.Entry(g)
	options, err := v.checked(options, e.URIs, e.Options)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"pause", "gid", sessionOption} {
		delete(options, name)
	}
	for name := range options {
		if e.Watch != "" && name != "max-download-limit" {
			return nil, refuse("The download is of the watch %s, whose configuration has its options. max-download-limit can be set here.", mask.Quote(e.Watch, 100))
		}
	}
	return done, v.queue.Change(g, options)
}

func (v *visit) changeGlobalOption(p *params) (any, error) {
	options := p.options(0, true)
	if p.err != nil {
		return nil, p.err
	}
	options, err := v.checked(options, nil, v.queue.Global())
	if err != nil {
		return nil, err
	}
	v.queue.ChangeGlobal(options)
	return done, nil
}
