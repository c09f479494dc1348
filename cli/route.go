package cli

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"

	"github.com/urfave/cli/v2"

	"braid/internal/web"
	"braid/source"
	"braid/source/httpsource"
)

// routeFlags say how requests get to servers.
type routeFlags struct {
	proxy, noProxy string
	outlet         string
}

func (f *routeFlags) flags() []cli.Flag {
	return []cli.Flag{
		text(&f.proxy, groupWire, "ask through a proxy, `URL` as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT, with USER:PASSWORD@ before the host if it wants that, as in --proxy socks5://127.0.0.1:1080; without it http_proxy, https_proxy, ftp_proxy and all_proxy say which", "proxy"),
		text(&f.noProxy, groupWire, "ask `HOSTS` directly, as in --no-proxy example.org,10.0.0.0/8, or all with '*'; without it no_proxy says which", "no-proxy"),
		text(&f.outlet, groupWire, "connect from `ADDRESS|DEVICE`, an address of this machine or a network interface, as in --interface 192.0.2.7 or --interface wg0", "interface"),
	}
}

// apply makes the client go where the flags say.
func (f *routeFlags) apply(c *httpsource.Client) error {
	rules, err := f.rules()
	if err != nil {
		return err
	}
	c.Outlet = source.Outlet{Device: f.outlet}
	if a, err := netip.ParseAddr(f.outlet); err == nil {
		c.Outlet = source.Outlet{Addr: a}
	} else if f.outlet != "" {
		if _, err := net.InterfaceByName(f.outlet); err != nil {
			return misuse("--interface "+f.outlet, "neither an address nor a network interface of this machine", "ip address shows them")
		}
	}
	c.Proxy = func(u *url.URL) (*url.URL, error) { return rules.For(u), nil }
	return nil
}

// rules are what flags and environment say of proxies.
func (f *routeFlags) rules() (web.ProxyRules, error) {
	if f.proxy != "" {
		proxy, err := web.ParseProxy(f.proxy)
		if err != nil {
			return web.ProxyRules{}, misuse("--proxy", err.Error(), "")
		}
		except := f.noProxy
		if except == "" {
			except = os.Getenv("no_proxy") + "," + os.Getenv("NO_PROXY")
		}
		return web.OneProxy(proxy, web.ParseNoProxy(except)), nil
	}
	rules, err := web.ProxiesFromEnvironment(os.Getenv)
	if wrong, ok := errors.AsType[*web.VariableError](err); ok {
		return rules, misuse(wrong.Name, wrong.Err.Error(), "unset it if there is none")
	}
	if f.noProxy != "" {
		rules.Except = web.ParseNoProxy(f.noProxy)
	}
	return rules, err
}
