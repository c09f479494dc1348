package rpc

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ServeHTTP answers a request of a client. It refuses a request with an unknown name in the Host field, and a request
// from a web page of an origin that is not allowed.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !h.known(w, r) {
		return
	}
	switch {
	case r.Method == http.MethodOptions:
		w.WriteHeader(http.StatusOK)
	case r.Method == http.MethodPost:
		h.post(w, r)
	case r.Method == http.MethodGet && strings.EqualFold(r.Header.Get("Upgrade"), "websocket"):
		h.socket(w, r)
	case r.Method == http.MethodGet:
		h.answer(w, r, question(r.URL.Query().Get), func() {})
	default:
		w.Header().Set("Allow", "GET, POST, OPTIONS")
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// Admit reports whether the sender of r, a request to another handler, may see the queue. If not, Admit has sent a response.
// It checks the Host and Origin fields as for calls, and the token in the Authorization field (RFC 6750, section 2.1).
func (h *Handler) Admit(w http.ResponseWriter, r *http.Request) bool {
	if !h.known(w, r) {
		return false
	}
	scheme, word, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if h.Token == "" || h.isToken(word) && strings.EqualFold(scheme, "Bearer") {
		shown(r.Context(), friend)
		return true
	}
	if word != "" {
		shown(r.Context(), stranger)
	}
	if word != "" && !h.punish(r.Context()) { // an empty word is no guess
		http.Error(w, errCrowd.Message, http.StatusServiceUnavailable)
		return false
	}
	w.Header().Set("WWW-Authenticate", "Bearer")
	http.Error(w, "the token of the daemon is needed", http.StatusUnauthorized)
	return false
}

// known reports whether the Host and Origin fields of r are allowed. If so, it sets the fields that allow the web page
// in Origin to read the response. If not, it has sent a response.
func (h *Handler) known(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	switch {
	case !h.knownHost(r):
		http.Error(w, "the name in the Host field is not one of this server", http.StatusForbidden)
	case !h.knownOrigin(r, origin):
		http.Error(w, "pages of this origin may not use this server", http.StatusForbidden)
	default:
		h.allow(w, r, origin)
		return true
	}
	return false
}

// knownHost reports whether the Host field of r is a loopback name, the address that the client connected to, or one of
// h.Hosts. Another name may come from a web page that uses DNS rebinding.
func (h *Handler) knownHost(r *http.Request) bool {
	host := hostname(r.Host)
	if slices.ContainsFunc(h.Hosts, func(name string) bool { return strings.EqualFold(name, host) }) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return strings.EqualFold(host, "localhost") || strings.HasSuffix(strings.ToLower(host), ".localhost")
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	return ip.IsLoopback() || local != nil && hostname(local.String()) == ip.String()
}

// hostname returns field, the value of a Host field, without the port.
func hostname(field string) string {
	if host, _, err := net.SplitHostPort(field); err == nil {
		return host
	}
	return strings.TrimSuffix(strings.TrimPrefix(field, "["), "]")
}

// extensions lists the URL schemes of browser extensions. Web pages have no such origin. The user gave an extension the token.
var extensions = []string{"chrome-extension://", "moz-extension://", "safari-web-extension://"}

// knownOrigin reports whether r comes from a program, from a page of this server, or from an allowed origin. Browsers
// may send Sec-Fetch-Site instead of Origin. If h has no token, this server has no pages, but WebSocket libraries of
// programs send its origin.
func (h *Handler) knownOrigin(r *http.Request, origin string) bool {
	if slices.Contains(h.Origins, "*") {
		return true
	}
	if origin == "" {
		return !crossSite(r)
	}
	scheme, host, _ := strings.Cut(origin, "://")
	own := strings.EqualFold(host, r.Host) && strings.HasPrefix(scheme, "http")
	if h.Token == "" {
		return slices.Contains(h.Origins, origin) || own && (scheme == "https") == (r.TLS != nil) && !crossSite(r)
	}
	return slices.Contains(h.Origins, origin) || own || slices.ContainsFunc(extensions,
		func(s string) bool { return strings.HasPrefix(origin, s) })
}

// crossSite reports whether a page of another origin made the request, according to the browser.
func crossSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site != "" && site != "none" && site != "same-origin"
}

// allow sets the response fields that allow a page of the given origin to read the response (CORS).
func (h *Handler) allow(w http.ResponseWriter, r *http.Request, origin string) {
	if origin == "" {
		return
	}
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", origin)
	header.Set("Vary", "Origin")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return
	}
	header.Set("Access-Control-Allow-Methods", "POST, GET, OPTIONS")
	header.Set("Access-Control-Max-Age", "1728000")
	if names := r.Header.Get("Access-Control-Request-Headers"); names != "" {
		header.Set("Access-Control-Allow-Headers", names)
	}
	if r.Header.Get("Access-Control-Request-Private-Network") == "true" {
		header.Set("Access-Control-Allow-Private-Network", "true")
	}
}

// post answers the calls in the body of a POST request. It ignores the Content-Type field.
func (h *Handler) post(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(h.patience)) // fails for an httptest.ResponseRecorder
	body, leave, err := h.intake.read(http.MaxBytesReader(w, r.Body, h.MostBytes),
		func() { control.SetReadDeadline(time.Unix(1, 0)) }, h.admits(r.Context()))
	defer leave()
	if e, unshown := errors.AsType[unshownError](err); unshown {
		w.Header().Set("Connection", "close")
		h.send(w, h.turnAway(r.Context(), body, e.guess))
		return
	}
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		http.Error(w, "the request has more than "+strconv.FormatInt(h.MostBytes, 10)+" bytes", http.StatusRequestEntityTooLarge)
		return
	}
	if errors.Is(err, errNoRoom) {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	if err != nil {
		http.Error(w, "the request is incomplete", http.StatusBadRequest)
		return // keep the deadline, because the server reads the rest of the body
	}
	control.SetReadDeadline(time.Time{})
	h.answer(w, r, body, leave)
}

// large is the size of a request in bytes above which memory is returned to the system afterwards. A request that adds
// ten thousand downloads leaves 40 MiB of garbage.
const large = 1 << 20

func (h *Handler) answer(w http.ResponseWriter, r *http.Request, body []byte, parsed func()) {
	long := len(body) > large
	reply := h.respond(r.Context(), body, parsed)
	body = nil
	h.send(w, reply)
	if long && reply.status == http.StatusOK {
		debug.FreeOSMemory()
	}
	if reply.after != nil {
		http.NewResponseController(w).Flush()
		reply.after()
	}
}

func (h *Handler) send(w http.ResponseWriter, r reply) {
	header := w.Header()
	header.Set("Content-Type", "application/json-rpc")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(r.body)))
	control := http.NewResponseController(w)
	control.SetWriteDeadline(time.Now().Add(6 * h.patience)) // the only time limit for a client that does not read
	defer control.SetWriteDeadline(time.Time{})
	w.WriteHeader(r.status)
	w.Write(r.body)
}

// question returns the request in the query of a GET: one call in the fields method, id and params, or a batch in
// params alone. field returns the value of a field. If the query cannot be decoded, the result is not a valid request.
func question(field func(string) string) []byte {
	params, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(field("params"), " ", "+"))
	if err != nil || len(params) > 0 && !json.Valid(params) {
		return encode(nil)
	}
	method, id := field("method"), field("id")
	if method == "" && len(params) > 0 {
		return params
	}
	call := map[string]any{"method": method}
	if id != "" {
		call["id"] = id
	}
	if len(params) > 0 {
		call["params"] = json.RawMessage(params)
	}
	return encode(call)
}
