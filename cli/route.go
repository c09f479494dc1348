package cli

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"

	"braid/internal/web"
	"braid/source"
	"braid/source/httpsource"
)

// routeFlags say how requests get to servers.
type routeFlags struct {
	proxy, noProxy string
	outlet         string
}

func (f *routeFlags) targets() targets {
	return targets{
		"proxy":     &f.proxy,
		"no-proxy":  &f.noProxy,
		"interface": &f.outlet,
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
