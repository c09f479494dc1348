package main

import (
	"bytes"
	"os"
	"path"
	"strings"
	"testing"
	"testing/fstest"
)

// A house is one row of the table of who may import whom.
type house struct {
	// pure packages are bytes and values in, values out: no network, files, logs, locks, chance or clock.
	pure bool
	// imports lists what the package may import beside the standard library: packages of this module
	// without the leading "braid/", and modules of others.
	imports []string
	// but lists packages that a pure one imports although they are not: for types that are handed over.
	but []string
}

// houses is the architecture (doc/design.md, "The house"). A package that is not listed fails the test,
// and so does a row without a package. Test files may import what they need.
var houses = map[string]house{
	"byterange":  {pure: true},
	"linkheader": {pure: true},
	"verify":     {pure: true, imports: []string{"internal/mask", "github.com/dunglas/httpsfv"}},
	"metalink": {pure: true, imports: []string{"internal/mask", "linkheader", "verify", "address",
		"golang.org/x/text/unicode/norm"}, but: []string{"net/http"}},
	"scheduler":         {pure: true, imports: []string{"byterange"}},
	"metalink/metainfo": {pure: true, imports: []string{"internal/mask", "metalink", "verify"}},

	"verify/signatures": {pure: true, imports: []string{"verify", "verify/minisign", "verify/openpgp", "verify/signify",
		"verify/smime", "verify/sshsig"}},
	"verify/minisign": {pure: true, imports: []string{"internal/mask", "verify", "internal/whole",
		"golang.org/x/crypto/blake2b", "golang.org/x/crypto/scrypt"}},
	"verify/signify": {pure: true, imports: []string{"internal/mask", "verify", "internal/whole"}},
	"verify/sshsig":  {pure: true, imports: []string{"internal/mask", "verify", "golang.org/x/crypto/ssh"}},
	"internal/whole": {pure: true},
	"verify/smime":   {pure: true, imports: []string{"verify"}},
	"verify/sums":    {pure: true, imports: []string{"internal/mask", "verify", "verify/signify"}},
	"verify/openpgp": {pure: true, imports: []string{"verify",
		"github.com/ProtonMail/go-crypto/openpgp/armor", "github.com/ProtonMail/go-crypto/openpgp/errors",
		"github.com/ProtonMail/go-crypto/openpgp/packet", "github.com/ProtonMail/go-crypto/openpgp/v2",
	}},

	"antenna/feed": {pure: true, imports: []string{"address"}},
	"antenna/formats": {pure: true, imports: []string{"antenna/feed", "antenna/hinadi", "antenna/indexpage",
		"antenna/lirs", "antenna/news", "antenna/releaseapi", "antenna/soif"}},
	"antenna/hinadi": {pure: true, imports: []string{"antenna/feed", "internal/feedtext"}},
	"antenna/lirs":   {pure: true, imports: []string{"antenna/feed", "internal/feedtext"}},
	"antenna/soif":   {pure: true, imports: []string{"antenna/feed", "internal/feedtext"}},
	"antenna/indexpage": {pure: true, imports: []string{
		"internal/once", "address", "antenna/feed", "internal/feedtext", "golang.org/x/net/html", "golang.org/x/net/html/charset",
	}},
	"antenna/releaseapi": {pure: true, imports: []string{"antenna/feed", "internal/feedtext"}},
	"internal/feedtext": {pure: true, imports: []string{"address", "antenna/feed", "golang.org/x/text/encoding",
		"golang.org/x/text/encoding/htmlindex", "golang.org/x/text/encoding/japanese"}},
	"antenna/release": {pure: true, imports: []string{"internal/once", "antenna/feed"}},

	"antenna": {imports: []string{
		"internal/once", "antenna/feed", "antenna/formats", "antenna/hinadi", "antenna/lirs", "antenna/news",
		"antenna/release", "linkheader",
		"internal/database", "internal/feedtext", "internal/fsys", "internal/markup", "internal/mask", "internal/web",
		"verify", "internal/option", "address",
		"go.etcd.io/bbolt", "go.etcd.io/bbolt/errors", "golang.org/x/net/html", "golang.org/x/net/html/charset",
	}},

	"source": {imports: []string{"byterange", "metalink", "metalink/metainfo", "verify", "address", "internal/mask",
		"internal/web"}},
	"source/httpsource": {imports: []string{
		"source", "byterange", "metalink", "verify", "internal/web",
		"address",
	}},
	"source/ftpsource": {imports: []string{"source", "byterange", "metalink", "address", "internal/web",
		"golang.org/x/net/proxy"}},
	"source/torrentsource": {imports: []string{
		"source", "byterange", "metalink", "metalink/metainfo", "address",
		"github.com/anacrolix/dht/v2", "github.com/anacrolix/log", "github.com/anacrolix/torrent",
		"github.com/anacrolix/torrent/metainfo", "github.com/anacrolix/torrent/storage",
	}},

	"antenna/news": {pure: true, imports: []string{
		"internal/once", "antenna/feed", "antenna/hinadi", "internal/feedtext",
		"github.com/mmcdole/gofeed", "github.com/mmcdole/gofeed/atom", "github.com/mmcdole/gofeed/extensions",
		"github.com/mmcdole/gofeed/json", "github.com/mmcdole/gofeed/rss",
		"golang.org/x/text/encoding", "golang.org/x/text/encoding/htmlindex", "golang.org/x/text/encoding/unicode",
		"golang.org/x/text/transform",
	}},

	"download": {imports: []string{
		"byterange", "internal/partfile", "download/limit", "download/state", "internal/edges", "internal/fsys",
		"internal/lookup", "internal/lookup/search", "internal/recheck", "internal/small", "internal/version", "internal/whole",
		"address", "internal/web", "metalink", "metalink/metainfo", "scheduler", "source", "source/ftpsource",
		"source/httpsource", "verify", "verify/signatures", "verify/sums",
	}},
	"download/limit": {imports: []string{"source", "golang.org/x/time/rate"}},
	"internal/edges": {imports: []string{"byterange", "internal/small", "metalink/metainfo", "source", "verify"}},
	"internal/recheck": {imports: []string{
		"byterange", "download/limit", "internal/fsys", "internal/partfile", "internal/small", "source",
	}},
	"internal/small":   {imports: []string{"byterange", "source"}},
	"internal/version": {pure: true, imports: []string{"verify"}},
	"internal/lookup": {pure: true, imports: []string{"internal/once", "address", "antenna/feed",
		"antenna/indexpage", "internal/mask", "verify", "verify/sums"}},
	"internal/lookup/search": {imports: []string{"address", "internal/lookup", "internal/small", "metalink", "source", "verify"}},
	"download/state":         {imports: []string{"source", "verify", "verify/signatures", "internal/fsys"}},
	"internal/partfile":      {imports: []string{"byterange", "verify", "internal/fsys", "address"}},

	"objectstore": {imports: []string{
		"download", "internal/fsys", "internal/web", "source", "verify", "github.com/minio/minio-go/v7",
		"github.com/minio/minio-go/v7/pkg/credentials",
	}},

	"daemon": {imports: []string{
		"byterange", "daemon/queue", "download", "download/limit", "internal/database", "internal/fsys",
		"internal/option", "internal/partfile", "internal/problem", "internal/report",
		"internal/web", "source", "go.etcd.io/bbolt",
	}},
	"daemon/queue": {pure: true, imports: []string{"byterange"}},
	"daemon/rpc": {imports: []string{
		"internal/once", "address", "byterange", "daemon/queue", "internal/mask", "internal/web", "metalink",
		"metalink/metainfo", "verify",
		"github.com/coder/websocket",
	}},
	"fleet": {pure: true},
	"fleet/jetstream": {imports: []string{
		"address", "fleet", "internal/fsys", "github.com/nats-io/nats-server/v2/server", "github.com/nats-io/nats.go",
		"github.com/nats-io/nats.go/jetstream",
	}},
	"daemon/page": {imports: []string{"internal/once", "daemon/queue", "fleet", "internal/mask", "internal/option",
		"internal/report"}},

	// Agents speak the protocols of programs that download by others.
	"agents/apt": {imports: []string{
		"internal/once", "byterange", "download", "download/limit", "download/state", "internal/fsys", "internal/web",
		"source", "source/httpsource", "verify",
	}},
	"agents/lfs": {imports: []string{"address", "download", "internal/fsys", "internal/partfile", "source",
		"source/httpsource", "verify"}},

	"serve": {imports: []string{
		"address", "byterange", "internal/fsys", "internal/mask", "linkheader", "metalink", "metalink/metainfo", "verify",
		"verify/signatures",
	}},

	"internal/report": {pure: true, imports: []string{"byterange", "download", "scheduler", "source", "verify",
		"internal/markup", "internal/option"}},

	"internal/problem": {pure: true, imports: []string{
		"download", "fleet", "internal/option", "internal/partfile", "internal/web", "metalink", "metalink/metainfo", "source",
	}, but: []string{"net", "syscall"}},
	"internal/job": {imports: []string{
		"address", "download", "download/limit", "download/state", "fleet", "internal/fsys", "internal/geoip",
		"internal/lookup", "internal/option",
		"internal/partfile", "internal/problem", "internal/web", "internal/worker", "metalink", "metalink/metainfo",
		"internal/plug/objectstore", "source", "source/httpsource", "source/torrentsource", "verify", "verify/signatures",
	}},

	"internal/service": {imports: []string{
		"daemon", "daemon/page", "daemon/queue", "daemon/rpc", "download", "download/limit", "fleet",
		"internal/plug/jetstream", "internal/database",
		"internal/fsys", "internal/job", "internal/listen", "internal/option", "internal/partfile", "internal/problem",
		"internal/watch", "metalink/metainfo", "source",
	}},

	"internal/render": {imports: []string{
		"byterange", "download", "internal/fsys", "internal/hook", "internal/mailbox", "internal/option",
		"internal/partfile", "internal/problem", "internal/report", "metalink", "source", "verify",
		"github.com/schollz/progressbar/v3", "golang.org/x/sys/windows", "golang.org/x/term",
	}},

	"internal/hook": {imports: []string{
		"download", "internal/fsys", "internal/mailbox", "internal/option", "internal/partfile", "internal/program",
		"internal/plug/objectstore", "source", "verify",
	}},

	"internal/mailbox": {},

	// Plugs stand between the program and the parts that it can be built without.
	"internal/plug/jetstream":   {imports: []string{"fleet", "fleet/jetstream", "internal/problem"}},
	"internal/plug/objectstore": {imports: []string{"download", "internal/problem", "objectstore"}},

	"internal/agents/aria2c": {imports: []string{
		"daemon/queue", "daemon/rpc", "download", "internal/fsys", "internal/job", "internal/option", "internal/problem",
		"internal/render", "internal/service", "metalink/metainfo", "source",
	}},

	"internal/hint": {imports: []string{
		"address", "download", "internal/option", "internal/partfile", "internal/problem", "metalink/metainfo",
		"internal/plug/objectstore", "source", "source/httpsource", "verify",
	}},

	"internal/stream": {imports: []string{
		"byterange", "internal/option", "source",
	}},

	"internal/follow": {pure: true, imports: []string{
		"internal/once", "address", "antenna/feed", "antenna/release", "internal/lookup", "verify", "verify/signatures",
		"github.com/BurntSushi/toml",
	}},

	"internal/watch": {imports: []string{
		"internal/once", "address", "antenna", "antenna/feed", "antenna/release", "daemon", "daemon/queue", "download",
		"download/limit", "download/state", "fleet",
		"internal/plug/jetstream", "internal/fsys", "internal/hint", "internal/job", "internal/listen", "internal/mask",
		"internal/option", "internal/partfile", "internal/problem", "internal/program", "internal/web", "internal/worker",
		"metalink", "internal/plug/objectstore", "source", "source/httpsource", "verify", "github.com/BurntSushi/toml",
		"golang.org/x/sys/unix",
	}},
	"internal/worker": {imports: []string{
		"internal/once", "antenna/release", "download", "download/limit", "download/state", "fleet",
		"internal/plug/jetstream", "internal/fsys", "internal/mask", "internal/partfile", "internal/problem",
		"internal/report", "internal/web", "metalink", "internal/plug/objectstore", "source", "verify",
	}},

	"cli": {imports: []string{
		"internal/once", "agents/apt", "agents/lfs", "antenna", "antenna/feed", "antenna/formats", "antenna/release",
		"daemon", "daemon/queue",
		"download", "fleet", "internal/plug/jetstream", "internal/agents/aria2c", "internal/feedtext",
		"internal/follow", "internal/fsys", "internal/hint",
		"internal/hook", "internal/job", "internal/listen", "internal/option", "internal/partfile", "internal/problem",
		"internal/render", "internal/service", "internal/stream", "internal/watch", "internal/worker", "metalink",
		"metalink/metainfo", "internal/plug/objectstore", "serve", "source", "source/httpsource", "verify", "verify/signatures",
		"github.com/cpuguy83/go-md2man/v2/md2man", "github.com/urfave/cli/v2", "golang.org/x/term",
	}},
	".": {imports: []string{"cli"}},

	"internal/database": {imports: []string{"internal/fsys", "internal/mask", "go.etcd.io/bbolt", "go.etcd.io/bbolt/errors"}},

	"internal/fsys":   {imports: []string{"golang.org/x/sys/unix", "golang.org/x/sys/windows"}},
	"address":         {pure: true, imports: []string{"golang.org/x/net/idna"}},
	"internal/geoip":  {imports: []string{"github.com/oschwald/maxminddb-golang/v2"}},
	"internal/listen": {imports: []string{"internal/problem"}},
	"internal/markup": {pure: true},
	"internal/mask":   {pure: true}, "internal/once": {pure: true, but: []string{"sync"}},
	"internal/option": {pure: true, imports: []string{"github.com/BurntSushi/toml", "address", "antenna/formats",
		"internal/once"}},
	"internal/program": {},
	"internal/web":     {imports: []string{"address", "internal/mask", "verify", "golang.org/x/net/publicsuffix"}},
	// No row may name these: they appear in _test.go files only.
	"internal/test/feedtest":   {imports: []string{"antenna/feed"}},
	"internal/test/mirrortest": {imports: []string{"byterange", "internal/test/ports", "verify"}},
	"internal/test/fsystest":   {imports: []string{"internal/fsys"}},
	"internal/test/proxytest":  {},
	"internal/test/pipes":      {},
	"internal/test/ports":      {},
	"internal/test/gotool":     {imports: []string{"golang.org/x/sys/unix"}},
	"internal/test/prooftest":  {imports: []string{"verify"}},
	"internal/test/leaktest":   {imports: []string{"go.uber.org/goleak"}},
	"internal/test/s3test": {imports: []string{"internal/test/gotool", "internal/test/ports",
		"github.com/minio/minio-go/v7", "github.com/minio/minio-go/v7/pkg/credentials",
		"github.com/minio/minio-go/v7/pkg/signer"}},
	"internal/test/geoiptest":  {},
	"internal/test/sourcetest": {imports: []string{"byterange", "source"}},
	"internal/test/oracle":     {}, "internal/test/worlds": {}, "internal/test/releases": {},
	"internal/test/torture": {imports: []string{"golang.org/x/sys/unix"}},
	"internal/test/ftptest": {imports: []string{"internal/test/ports", "golang.org/x/time/rate"}},
}

// workshop is the same for the module in scripts.
var workshop = map[string]house{
	"attest": {}, "pollbench": {}, "rulebook": {},
	"benchmark": {imports: []string{
		"github.com/aws/aws-sdk-go-v2/aws", "github.com/aws/aws-sdk-go-v2/aws/signer/v4",
		"github.com/aws/aws-sdk-go-v2/service/s3",
		"github.com/aws/aws-sdk-go-v2/service/s3/types", "github.com/coder/websocket",
	}},
	"guardcheck": {imports: []string{"scripts/rulebook"}},
	"ruletable":  {imports: []string{"scripts/rulebook"}},
}

// impure are the packages (with everything below them) that a pure package must not import.
var impure = []string{"net", "os", "log", "sync", "math/rand", "crypto/rand", "syscall", "io/ioutil", "testing"}

// pureAnyway are exceptions to impure.
var pureAnyway = []string{"net/url", "net/netip"}

// clock are the functions of package time that read the clock or wait for it.
var clock = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTicker", "NewTimer"}

const (
	module       = "braid"
	maxFileLines = 400
)

func TestImports(t *testing.T) {
	for folder, table := range map[string]map[string]house{".": houses, "scripts": workshop} {
		for _, problem := range checkHouse(os.DirFS(folder), table) {
			t.Errorf("%s: %s", folder, problem)
		}
	}
}

// TestHouseIsDrawn: doc/design.md names each package of the table, by its path or below another one of its row by its last name.
func TestHouseIsDrawn(t *testing.T) {
	page, err := os.ReadFile("doc/design.md")
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range houses {
		if pkg != "." && !bytes.Contains(page, []byte("`"+pkg+"`")) && !bytes.Contains(page, []byte(", `"+path.Base(pkg)+"`")) {
			t.Errorf("doc/design.md does not name %s", pkg)
		}
	}
}

// TestImportsCatches shows that each rule of the table bites.
func TestImportsCatches(t *testing.T) {
	table := map[string]house{
		".":                        {imports: []string{"a"}},
		"a":                        {pure: true, imports: []string{"b"}},
		"b":                        {},
		"internal/test/mirrortest": {},
	}
	good := fstest.MapFS{
		"main.go":        {Data: []byte("package main\nimport _ \"braid/a\"\n")},
		"main_test.go":   {Data: []byte("package main\nimport _ \"braid/internal/test/mirrortest\"\n")},
		"a/a.go":         {Data: []byte("package a\nimport (_ \"braid/b\"; \"time\"; _ \"net/url\")\nvar _ time.Time\n")},
		"b/b.go":         {Data: []byte("package b\nimport (_ \"os\"; \"time\")\nvar _ = time.Now\n")},
		"other/go.mod":   {Data: []byte("module other\n")},
		"other/other.go": {Data: []byte("package other\nimport _ \"unlisted.example\"\n")},
		"internal/test/mirrortest/server.go": {
			Data: []byte("package mirrortest\nimport _ \"net/http\"\n")},
		"a/testdata/x.go": {Data: []byte("not go")},
	}
	if got := checkHouse(good, table); len(got) > 0 {
		t.Fatalf("a house in order is refused: %q", got)
	}
	for _, tt := range []struct{ name, file, src, want string }{
		{"unlisted package", "c/c.go", "package c\n", "c: not in the table"},
		{"unlisted import", "b/x.go", "package b\nimport _ \"braid/a\"\n", "b/x.go: must not import braid/a"},
		{"foreign module", "b/x.go", "package b\nimport _ \"example.com/m\"\n", "b/x.go: must not import example.com/m"},
		{"mirrortest outside tests", "b/x.go", "package b\nimport _ \"braid/internal/test/mirrortest\"\n",
			"must not import braid/internal/test/mirrortest"},
		{"pure: os", "a/x.go", "package a\nimport _ \"os\"\n", "a/x.go: pure, must not import os"},
		{"pure: net/http", "a/x.go", "package a\nimport _ \"net/http\"\n", "pure, must not import net/http"},
		{"pure: log/slog", "a/x.go", "package a\nimport _ \"log/slog\"\n", "pure, must not import log/slog"},
		{"pure: sync/atomic", "a/x.go", "package a\nimport _ \"sync/atomic\"\n", "pure, must not import sync/atomic"},
		{"pure: math/rand/v2", "a/x.go", "package a\nimport _ \"math/rand/v2\"\n", "pure, must not import math/rand/v2"},
		{"pure: clock", "a/x.go", "package a\nimport \"time\"\nvar x = time.Now()\n", "a/x.go: pure, must not use time.Now"},
		{"pure: clock renamed", "a/x.go", "package a\nimport t \"time\"\nvar x = t.Since\n",
			"a/x.go: pure, must not use time.Since"},
		{"long file", "b/x_test.go", "package b\n" + strings.Repeat("\n", maxFileLines), "b/x_test.go: 401 lines"},
	} {
		bad := fstest.MapFS{tt.file: {Data: []byte(tt.src)}}
		for name, f := range good {
			bad[name] = f
		}
		if got := strings.Join(checkHouse(bad, table), "\n"); !strings.Contains(got, tt.want) {
			t.Errorf("%s: problems are %q, want one with %q", tt.name, got, tt.want)
		}
	}
	table["gone"], table["b"] = house{}, house{imports: []string{"a"}}
	got := checkHouse(good, table)
	if len(got) != 2 || !strings.Contains(got[0], "b: in the table it may import a, which") ||
		!strings.Contains(got[1], "gone: in the table, but") {
		t.Errorf("row without a package, and with an import too many: problems are %q", got)
	}
}
