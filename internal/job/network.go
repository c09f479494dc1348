package job

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strconv"
	"strings"

	"braid/address"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/web"
	"braid/source"
	"braid/source/httpsource"
)

// Proxies holds the options of the route to servers.
type Proxies struct {
	Proxy, NoProxy string
	Interface      string
}

// Apply sets the proxies and the network interface of c.
func (f *Proxies) Apply(c *httpsource.Client) error {
	rules, err := f.rules()
	if err != nil {
		return err
	}
	c.Outlet = source.Outlet{Device: f.Interface}
	if a, err := netip.ParseAddr(f.Interface); err == nil {
		c.Outlet = source.Outlet{Addr: a}
	} else if f.Interface != "" {
		if _, err := net.InterfaceByName(f.Interface); err != nil {
			return problem.Misuse("--interface "+f.Interface,
				"is neither an address nor a network interface of this machine",
				"list addresses and interfaces with the command ip address")
		}
	}
	c.Proxy = func(u *url.URL) (*url.URL, error) { return rules.For(u), nil }
	return nil
}

// rules returns the proxies of --proxy or, without that flag, of the environment.
func (f *Proxies) rules() (web.ProxyRules, error) {
	if f.Proxy != "" {
		proxy, err := web.ParseProxy(f.Proxy)
		if err != nil {
			return web.ProxyRules{}, problem.Misuse("--proxy", err.Error(), "")
		}
		except := f.NoProxy
		if except == "" {
			except = os.Getenv("no_proxy") + "," + os.Getenv("NO_PROXY")
		}
		return web.OneProxy(proxy, web.ParseNoProxy(except)), nil
	}
	rules, err := web.ProxiesFromEnvironment(os.Getenv)
	if wrong, ok := errors.AsType[*web.VariableError](err); ok {
		return rules, problem.Misuse(wrong.Name, wrong.Err.Error(), "correct the variable, or unset it to use no proxy")
	}
	if f.NoProxy != "" {
		rules.Except = web.ParseNoProxy(f.NoProxy)
	}
	return rules, err
}

// Trust holds options about TLS: trusted authorities, servers with certificates that are not verified, and the client's
// certificate.
type Trust struct {
	CACert                option.WordsValue
	Insecure              option.WordsValue
	ClientCert, ClientKey string
}

// apply sets the TLS configurations that c uses.
func (f *Trust) apply(c *httpsource.Client) (err error) {
	config := &tls.Config{}
	if config.RootCAs, err = f.roots(); err != nil {
		return err
	}
	if config.Certificates, err = f.certificates(); err != nil {
		return err
	}
	if config.RootCAs != nil || config.Certificates != nil {
		c.TLS = config
	}
	unchecked := config.Clone()
	unchecked.InsecureSkipVerify = true
	for _, words := range f.Insecure {
		for word := range strings.SplitSeq(words, ",") {
			host, err := serverName(strings.TrimSpace(word))
			if err != nil {
				return problem.Misuse("--insecure "+word, err.Error(),
					"name one host: the check of certificates cannot be disabled for all")
			}
			if c.TLSFor == nil {
				c.TLSFor = map[string]*tls.Config{}
			}
			c.TLSFor[host] = unchecked
		}
	}
	return nil
}

var errServer = errors.New("write HOST or HOST:PORT")

// serverName parses word, which is HOST or HOST:PORT. The host is returned in lower case and without a final dot.
func serverName(word string) (string, error) {
	host, port, err := net.SplitHostPort(word)
	if err != nil {
		host, port = strings.Trim(word, "[]"), ""
	} else if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", errServer
	}
	var known address.Hosts
	if err := known.Add(host); err != nil || strings.ContainsAny(host, "/*") {
		return "", errServer
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if port == "" {
		return host, nil
	}
	return net.JoinHostPort(host, port), nil
}

// roots returns the trusted certificate authorities, or nil for those of the system.
func (f *Trust) roots() (*x509.CertPool, error) {
	if len(f.CACert) == 0 {
		return nil, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	for _, path := range f.CACert {
		data, err := ReadFile("--cacert", path, mostKeyring)
		if err != nil {
			return nil, err
		}
		if !pool.AppendCertsFromPEM(data) {
			return nil, problem.Misuse("--cacert "+path, "the file has no certificate", "give a file of certificates in PEM")
		}
	}
	return pool, nil
}

// certificates returns the client's certificate, or nil if none is given.
func (f *Trust) certificates() ([]tls.Certificate, error) {
	if f.ClientCert == "" {
		if f.ClientKey != "" {
			return nil, problem.Misuse("--client-key", "no certificate for this key is given",
				"give the certificate with --client-cert FILE")
		}
		return nil, nil
	}
	keyFlag, key := "--client-key", f.ClientKey
	if key == "" {
		keyFlag, key = "--client-cert", f.ClientCert
	}
	pair, err := ReadKeyPair("--client-cert", f.ClientCert, keyFlag, key)
	return []tls.Certificate{pair}, err
}

// ReadKeyPair reads a certificate and its key from the files of two flags.
func ReadKeyPair(certFlag, certFile, keyFlag, keyFile string) (pair tls.Certificate, err error) {
	cert, err := ReadFile(certFlag, certFile, mostKeyring)
	if err != nil {
		return pair, err
	}
	key, err := ReadFile(keyFlag, keyFile, mostKeyring)
	if err != nil {
		return pair, err
	}
	if pair, err = tls.X509KeyPair(cert, key); err != nil {
		const hint = "give certificate and key in PEM, with the key of the first certificate; decrypt a key that has a " +
			"passphrase first"
		return pair, problem.Misuse(certFlag+" "+certFile, strings.TrimPrefix(err.Error(), "tls: "), hint)
	}
	return pair, nil
}
