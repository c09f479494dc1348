package rpc

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"braid/internal/mask"
	"braid/internal/once"
	"braid/verify"
)

// values maps aria2's options that braid uses to the syntax of their values. Other options of aria2 are stored and
// returned, but have no effect.
var values = map[string]func() *regexp.Regexp{
	"split": number, "max-connection-per-server": number, "max-concurrent-downloads": count,
	"max-tries": count, "retry-wait": count, "timeout": number, "connect-timeout": number,
	"min-split-size": size, "max-download-limit": size, "max-overall-download-limit": size, "lowest-speed-limit": size,
	"continue": truth, "allow-overwrite": truth, "auto-file-renaming": truth, "remote-time": truth,
	"conditional-get": truth, "pause": truth,
	"enable-dht": truth, "check-certificate": truth,
	"follow-torrent": follow, "follow-metalink": follow,
	"seed-ratio": fraction, "seed-time": fraction,
	"checksum": checksum,
	"header":   once.Pattern(`^([!#$%&'*+.^_\x60|~0-9A-Za-z-]+:[^\x00-\x08\x0a-\x1f\x7f]*\n?)*$`),
	// a signature of the file, in base64; aria2 has no such option
	"signature": once.Pattern(`^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$`),
	"referer":   line, "user-agent": line, "out": line, "dir": line,
	"select-file": once.Pattern(`^[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*$`),
}

var (
	number   = once.Pattern(`^0*[1-9][0-9]{0,8}$`)
	count    = once.Pattern(`^[0-9]{1,9}$`)
	size     = once.Pattern(`^([0-9]{1,12}) *(([KkMm])[^\n]*)?$`) // aria2, too, ignores the text after the letter, as in "1 MB"
	fraction = once.Pattern(`^[0-9]{1,9}(\.[0-9]*)?$`)
	truth    = once.Pattern(`^(true|false)$`)
	follow   = once.Pattern(`^(true|false|mem)$`)
	line     = once.Pattern(`^[^\x00-\x08\x0a-\x1f\x7f]*$`)
	name     = once.Pattern(`^[a-z0-9][a-z0-9-]{0,62}$`)
)

// checksum matches a digest such as sha-256=9f86d0...
var checksum = once.Value(func() *regexp.Regexp {
	var any []string
	for _, a := range verify.Algorithms() {
		any = append(any, fmt.Sprintf("%s=[0-9a-f]{%d}", a, 2*a.Size()))
	}
	return regexp.MustCompile(`^(?i:` + strings.Join(any, "|") + `)$`)
})

// mine lists options that no client may set, because they name files of the user.
var mine = []string{"conf-path", "input-file", "load-cookies", "ca-certificate", "private-key", "log"}

// refused reports whether no client may set the option name to value. Options that run programs, expose the daemon or
// turn off the verification of certificates are refused.
func refused(name, value string) bool {
	return slices.Contains(mine, name) || strings.HasPrefix(name, "on-") || strings.HasPrefix(name, "rpc-") ||
		name == "check-certificate" && value != "true"
}

// proxies matches options that cannot be set for one download, because all downloads share the daemon's connections.
var proxies = once.Pattern(`^((all|http|https|ftp)-proxy(-user|-passwd)?|no-proxy)$`)

// OfAll reports whether the option name, if set to value, can only apply to all downloads.
func OfAll(name, value string) bool { return value != "" && proxies().MatchString(name) }

// sizes lists options with values that are stored and returned in bytes, as aria2 does.
var sizes = []string{"min-split-size", "max-download-limit", "max-overall-download-limit", "lowest-speed-limit"}

// inBytes converts a size such as 1M to a number of bytes. Other texts are returned unchanged.
func inBytes(text string) string {
	parts := size().FindStringSubmatch(text)
	if parts == nil {
		return text
	}
	n, _ := strconv.ParseInt(parts[1], 10, 64) // cannot fail: it has at most 12 digits
	switch strings.ToLower(parts[3]) {
	case "k":
		n <<= 10
	case "m":
		n <<= 20
	}
	return strconv.FormatInt(n, 10)
}

// mostOptions limits the number of options of a download.
const mostOptions = 300

// checked checks options for a download of uris and returns them in their stored form: with secrets instead of placeholders,
// sizes in bytes, and an absolute folder. had holds the options that the download already has. They count towards the limit.
func (v *visit) checked(options map[string]string, uris []string, had map[string]string) (map[string]string, error) {
	kept := map[string]string{}
	for key, value := range options {
		if !name().MatchString(key) {
			continue
		}
		if key == "check-certificate" && value != "true" {
			return nil, refuse("The option '--check-certificate' may only be true. " +
				"braid daemon --insecure HOST disables the check for one host.")
		}
		if refused(key, value) {
			return nil, refuse("Clients may not set the option '--%s' to this value.", key)
		}
		if OfAll(key, value) {
			return nil, refuse("The option '--%s' cannot be set for one download: "+
				"all use the proxies of the daemon (--proxy, or proxy = for a site in its settings).", key)
		}
		value, err := v.secrets.reveal(key, value, uris)
		if err != nil {
			return nil, err
		}
		value = strings.TrimSpace(value) // as in a list, so that what is checked is what is used
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

func (v *visit) getOption(p *params) (any, error) {
	g := p.gid(v.queue, 0)
	if p.err != nil {
		return nil, p.err
	}
	e, _ := v.queue.Entry(g)
	all := v.settings.all()
	v.room -= 1 + length(all, e.Options)>>10
	conceal(all, 0)
	for _, name := range together {
		delete(all, name)
	}
	delete(all, sessionOption)
	all["dir"] = v.settings.folderOf(&e)
	own := maps.Clone(e.Options)
	conceal(own, g)
	maps.Copy(all, own)
	return all, nil
}

func (v *visit) getGlobalOption(*params) (any, error) {
	all := v.settings.all()
	v.room -= 1 + length(all)>>10
	conceal(all, 0)
	for _, name := range together {
		all[name] = cmp.Or(all[name], "0")
	}
	return all, nil
}

// length returns the total number of bytes of the names and values of options.
func length(all ...map[string]string) (n int) {
	for _, options := range all {
		for name, value := range options {
			n += len(name) + len(value)
		}
	}
	return n
}

// together lists options that apply to all downloads as a whole.
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
			return nil, refuse("The download belongs to the watch %s; change its options in the watch's configuration. "+
				"Only max-download-limit can be set here.", mask.Quote(e.Watch, 100))
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
