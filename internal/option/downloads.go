package option

// ofDownloads are the options of braid get. Other commands share some of them.
var ofDownloads = []Option{
	{Names: "out o", Of: Get | Follow, First: Get, Also: InLine, Group: FileGroup, Kind: Word,
		Usage: "write to the file `NAME`; - is standard output: bytes are written in order as they arrive, " +
			"and only the exit code shows whether they were right"},
	{Names: "remote-name", Of: Get, Also: InLine, Group: FileGroup, Kind: Switch,
		Usage: "use the server's name for the file (Content-Disposition, or else the last part of the final URL), " +
			"as in braid get --remote-name 'https://example.org/download?id=7'"},
	{Names: "dir d P", Of: Get | Daemon | Follow, First: Get, Also: InLine | InWatch, Group: FileGroup, Kind: Word,
		Usage: "put files in `FOLDER`, which is created if missing"},
	{Names: "to", Of: Get, Also: InWatch, Group: FileGroup, Kind: Word,
		Usage: "put files into an object store, below `s3://BUCKET/PREFIX/`: an object appears there only after it " +
			"is verified. Location and credentials are in AWS_ENDPOINT_URL_S3, AWS_REGION, " +
			"AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or in ~/.aws"},
	{Names: "input-file i", Of: Get, First: Get, Group: FileGroup, Kind: Word,
		Usage: "also download the files in `LIST`; - is standard input. Each line has a URL, " +
			"then mirrors after tabs; indented lines below it have options like out=NAME or checksum=sha-256=HEX. " +
			"A line may also be a JSON object, {\"url\": \"https://example.org/a.iso\", \"out\": \"b.iso\"}"},
	{Names: "max-concurrent-downloads j", Of: Downloading &^ Work, Group: FileGroup, Kind: Word,
		Usage: "download `N|auto` files at once (default auto: more as long as that is faster, at most 64)"},
	{Names: "priority", Of: Get, Also: InLine | InWatch, Group: FileGroup, Kind: Choice, Words: "high|normal|low",
		Usage: "with --queue: start jobs with a higher priority first: `high|normal|low`, " +
			"as in braid get --queue embedded --priority high URL (default normal)"},
	{Names: "overwrite", Of: Downloading | Follow, First: Get, Also: InLine, ListName: "allow-overwrite", Group: FileGroup,
		Kind:  Switch,
		Usage: "replace an existing file once the new one is verified"},
	{Names: "rename", Of: Get, Also: InLine, ListName: "auto-file-renaming", Group: FileGroup, Kind: Switch,
		Usage: "if the file exists, use the next free name: disk.1.iso for disk.iso"},
	{Names: "continue c", Of: Downloading &^ Work, Group: FileGroup, Kind: Switch,
		Usage: "resume even if the server sends neither a digest nor a strong ETag, if samples of the bytes match; " +
			"also resume a file that another program began"},
	{Names: "refresh", Of: Get, Group: FileGroup, Kind: Switch,
		Usage: "resume the unfinished NAME from a new link, as in braid get --refresh -o disk.iso NEWURL. " +
			"Both must have the same strong digest, or the same host, size and strong ETag, " +
			"or with --continue the same size and samples; otherwise the exit code is 3, " +
			"and the unfinished file stays"},
	{Names: "no-clobber", Of: Get | Follow, Group: FileGroup, Kind: Switch,
		Usage: "if the file exists, keep it and exit with 0"},
	{Names: "if-newer N", Of: Get | Follow, Also: InLine, ListName: "conditional-get", Group: FileGroup, Kind: Switch,
		Usage: "replace an existing file if the server has a newer one, once that is verified; " +
			"otherwise exit with 0 (braid/versions in the user's state folder records the existing version)"},
	{Names: "allow-older", Of: Get, Also: InWatch, Group: FileGroup, Kind: Switch,
		Usage: "with -N, also replace the existing file by an older one"},
	{Names: "remote-time R", Of: Downloading, Also: InLine, Group: FileGroup, Kind: Switch,
		Usage: "set the file's date to the server's Last-Modified"},
	{Names: "file-allocation", Of: Downloading, Group: FileGroup, Kind: Choice,
		Usage: "`none|prealloc|falloc`: allocate disk space as bytes arrive (none, the default), " +
			"or before the download, as in --file-allocation falloc; prealloc starts only if the file system " +
			"supports that"},
	{Names: "max-size", Of: Downloading | Follow, Also: InWatch, Group: FileGroup, Kind: Size,
		Usage: "refuse files larger than `SIZE` (default 64G if the server does not send the length)"},
	{Names: "sha256", Of: Get | Probe | Verify | Add, First: Get, Also: InLine, Group: ProofGroup, Kind: Word,
		Usage: "the file must have this SHA-256, in `HEX`; mirrors are then used even if the server sends no digest"},
	{Names: "checksum", Of: Get | Probe | Verify, Also: InLine, Group: ProofGroup, Kind: Words,
		Usage: "the file must have this digest, `ALGORITHM=HEX`, such as sha-512=1f40fc...; " +
			"md5 and sha-1 are checked too, but prove nothing (repeatable)"},
	{Names: "checksums", Of: Get | Verify | Resume, First: Get, Group: ProofGroup, Kind: Word,
		Usage: "the file must have its digest in a list, `FILE|URL`, such as SHA256SUMS or NAME.sha256. " +
			"A list on disk counts as given by you; another one is as trustworthy as its connection. " +
			"With --key or --keyring the list must be signed"},
	{Names: "require", Of: Downloading | Follow, Also: InSite | InLine | InWatch, Group: ProofGroup, Kind: Choice,
		Usage: "`none|digest|signature`: what must be proven before the file gets its name (default none, " +
			"and signature with --keyring or --smime-ca)"},
	{Names: "no-lookup", Of: Downloading | Probe | Verify | Watch | Follow, Also: InSite | InLine | InWatch, Group: ProofGroup,
		Kind: Switch,
		Usage: "if the server sends no checksum, do not look for one beside the file (NAME.sha256, " +
			"SHA256SUMS and the like)"},
	{Names: "allow-less-proof", Of: Downloading, Also: InWatch, Group: ProofGroup, Kind: Switch,
		Usage: "accept a file if its server offers less proof than before: no longer a digest or signature"},
	{Names: "key", Of: Downloading | Verify | Follow, First: Get, Also: InSite | InWatch, Group: ProofGroup, Kind: Words,
		Usage: "require a good signature by a key in `FILE`, or by a key given as text: of OpenPGP, " +
			"minisign, signify or SSH, or the certificate of an authority (repeatable)"},
	{Names: "keyring", Of: Downloading | Verify | Follow, Also: InSite | InWatch, Group: ProofGroup, Kind: Words,
		Usage: "as --key, for a `FILE` of keys: OpenPGP keys as written by gpg --export, armored or not, " +
			"or keys of minisign, signify or SSH (repeatable)"},
	{Names: "pin", Of: Downloading | Verify | Follow, Also: InSite | InWatch, Group: ProofGroup, Kind: Words,
		Usage: "accept only signatures by the key with this `FINGERPRINT`, 40 hexadecimal digits (repeatable)"},
	{Names: "smime-ca", Of: Downloading | Verify | Follow, Also: InSite | InWatch, Group: ProofGroup, Kind: Words,
		Usage: "require an S/MIME signature that leads to a root certificate in `FILE`, in PEM (repeatable)"},
	{Names: "signature", Of: Get | Verify | Resume | Follow, Also: InWatch, Group: ProofGroup, Kind: Words,
		Usage: "a signature of the file, `FILE|URL|.ext`: .asc means the URL of the file with .asc appended; " +
			"signatures that the server names are always used (repeatable). With --checksums: of the list"},
	{Names: "allow-expired-key", Of: Downloading | Verify | Follow, Also: InSite | InWatch, Group: ProofGroup, Kind: Switch,
		Usage: "accept signatures by keys that have expired since, for archives"},
	{Names: "mirror", Of: Get | Add, First: Get, Also: InLine | InWatch, Group: SourcesGroup, Kind: Words,
		Usage: "a `URL` of the same file elsewhere (repeatable; for one file)"},
	{Names: "select", Of: Get, Group: SourcesGroup, Kind: Words,
		Usage: "download only the files of a Metalink document or torrent that match `GLOB`, " +
			"as in --select '*.iso' (repeatable)"},
	{Names: "no-metalink", Of: Downloading | Follow, Also: InLine | InWatch, Group: SourcesGroup, Kind: Switch,
		Usage: "ignore the server's mirrors, and save Metalink documents and torrents instead of their files"},
	{Names: "no-ftp", Of: Downloading, Group: SourcesGroup, Kind: Switch,
		Usage: "do not use FTP servers (ftp://, and ftps:// with TLS), as in braid get --no-ftp https://example.org/disk.iso"},
	{Names: "split s", Of: Downloading | LFS, Group: SourcesGroup, Kind: Number, Default: "16",
		Usage: "use at most `N` sources at once"},
	{Names: "max-connection-per-server x", Of: Downloading | LFS, Group: SourcesGroup, Kind: Number,
		Usage: "send at most `N` concurrent requests to one server (default 1, as RFC 6249 requires)"},
	{Names: "min-split-size", Of: Downloading | LFS, Group: SourcesGroup, Kind: Size,
		Usage: "request no range smaller than `SIZE`, as in --min-split-size 20M, except after a failure; " +
			"a file smaller than twice this size comes from one source (default: depends on measured speeds " +
			"and round-trip times)"},
	{Names: "limit-rate max-overall-download-limit", Of: Downloading | LFS | Follow, First: Get,
		Also: InSite | InWatch | InLine, ListName: "max-download-limit", Group: SourcesGroup, Kind: Rates,
		Usage: "download at most `RATE` bytes per second from all servers together, " +
			"also by the time of day as in --limit-rate '09:00-17:00 2M, 20M'; 0 is no limit, " +
			"even if the settings have one"},
	{Names: "host-rate", Of: Downloading | LFS, Also: InSite, Group: SourcesGroup, Kind: Number,
		Usage: "send at most `N` requests per second to one web server, for all files together, " +
			"as in --host-rate 2 (default: no limit)"},
	{Names: "host-limit-rate", Of: Downloading | LFS, Also: InSite, Group: SourcesGroup, Kind: Rate,
		Usage: "download at most `RATE` bytes per second from one server, for all files together, " +
			"as in --host-limit-rate 20M; 0 is no limit, even if the settings have one"},
	{Names: "no-remember", Of: Downloading, Group: SourcesGroup, Kind: Switch,
		Usage: "neither use nor store the speeds of servers (braid/hosts in the user's state folder), " +
			"and do not store the kinds of proof that URLs offer"},
	{Names: "location", Of: Downloading, Group: SourcesGroup, Kind: Word,
		Usage: "try mirrors in these countries first, `CC,...` as in --location jp,kr; the server, " +
			"the document or --geoip-db gives the country"},
	{Names: "geoip-db", Of: Downloading, Group: SourcesGroup, Kind: Word,
		Usage: "look up the country of mirrors in `FILE` (MaxMind format) if neither the server nor the document " +
			"gives it, as in --location jp --geoip-db GeoLite2-Country.mmdb; this resolves the names of mirrors " +
			"before use, but not behind a proxy"},
	{Names: "not-host", Of: Downloading, Also: InLine, Group: SourcesGroup, Kind: Words,
		Usage: "never use a mirror at `HOST`: a name with its subdomains, an address, a network, " +
			"or with --geoip-db a country (two letters), as in --not-host example.net,10.0.0.0/8,xx; " +
			"this includes links, documents and redirects (repeatable)"},
	{Names: "bittorrent", Of: Get | Serving, Group: PeersGroup, Kind: Choice,
		Usage: "`auto|only|off`: use BitTorrent peers, which then see your address, " +
			"for files with a known torrent: auto (default) if web servers are slow or missing, " +
			"without accepting connections, and never if a proxy is configured; only as in --bittorrent only " +
			"disk.torrent uses peers without web seeds, and bypasses any proxy; off uses no peers"},
	{Names: "seed-ratio", Of: Get | Daemon, Group: PeersGroup, Kind: Word,
		Usage: "after the download, upload to peers until they have received `N` times the file's size, as in " +
			"--seed-ratio 1.5 (default: stop after the download)"},
	{Names: "seed-time", Of: Get | Daemon, Group: PeersGroup, Kind: Time,
		Usage: "after the download, upload to peers for `TIME`, as in --seed-time 30m, or until --seed-ratio is " +
			"reached; 0 means no upload"},
	{Names: "peer-listen", Of: Get | Daemon, Group: PeersGroup, Kind: Word,
		Usage: "let peers connect to `[HOST]:PORT`, as in --peer-listen :6881 (default: no connections; " +
			"any port with --bittorrent only, --seed-ratio and --seed-time)"},
	{Names: "no-dht", Of: Get | Daemon, Group: PeersGroup, Kind: Switch,
		Usage: "find peers only through trackers, not through the distributed hash table (DHT) or other peers, " +
			"as in --no-dht disk.torrent"},
	{Names: "header H", Of: Requesting, Also: InSite | InLine | InWatch, Group: RequestsGroup, Kind: Words,
		Usage: "add a header `FIELD` 'Name: value' to requests to the URL's own server; only Accept, " +
			"Accept-Charset, Accept-Language and User-Agent are also sent to mirrors and redirect targets " +
			"(repeatable)"},
	{Names: "header-to", Of: Requesting, Group: RequestsGroup, Kind: Words,
		Usage: "send the fields of -H also to `HOST`, or only to one port with HOST:PORT, " +
			"as in --header-to cdn.example.org (repeatable)"},
	{Names: "referer", Of: Requesting, Also: InLine, Group: RequestsGroup, Kind: Word,
		Usage: "send `URL` as the Referer to the URL's own server, as in --referer https://example.org/downloads"},
	{Names: "user-agent U A", Of: Requesting | Serving | LFS | Follow, Also: InLine, Group: RequestsGroup, Kind: Word,
		Usage: "send `NAME` as the User-Agent"},
	{Names: "connect-timeout", Of: Requesting | Serving | LFS | Follow, Group: RequestsGroup, Kind: Time, Default: "10s",
		Usage: "give up connecting after `TIME`"},
	{Names: "allow-downgrade", Of: Requesting | Serving | Follow, Group: RequestsGroup, Kind: Switch,
		Usage: "follow redirects from https to http even without a digest"},
	{Names: "allow-host", Of: Requesting | Serving | LFS | Follow, Group: RequestsGroup, Kind: Words,
		Usage: "allow servers and documents to name `HOST`, a name, an address or a network such as 10.0.0.0/8. " +
			"Otherwise their URLs may not lead into private networks, unless the server itself is there (repeatable)"},
	{Names: "user u", Of: Requesting, Also: InLine, Group: RequestsGroup, Kind: Word,
		Usage: "`USER:PASSWORD` for the URL's own server, as in -u me:s3cret; sent by Digest if the server asks " +
			"for that, else by Basic"},
	{Names: "netrc-file", Of: Requesting | Serving | Follow, Group: RequestsGroup, Kind: Word,
		Usage: "look up names and passwords in `FILE`, for the URL's own server and for FTP servers of --mirror, " +
			"as in --netrc-file ~/work.netrc (default: the file in NETRC, else ~/.netrc)"},
	{Names: "no-netrc", Of: Requesting | Serving | Follow, Group: RequestsGroup, Kind: Switch,
		Usage: "do not read a netrc file"},
	{Names: "load-cookies", Of: Requesting, Group: RequestsGroup, Kind: Word,
		Usage: "send the cookies in `FILE` (Netscape format, as exported by browsers) that match the URL's own " +
			"server, as in --load-cookies cookies.txt"},
	{Names: "cacert", Of: Requesting | Serving | LFS | Follow, Also: InSite, Group: RequestsGroup, Kind: Words,
		Usage: "also trust the certificate authorities in `FILE`, in PEM, as in --cacert company.pem (repeatable)"},
	{Names: "insecure", Of: Requesting | Serving | LFS | Follow, Also: InSite, Group: RequestsGroup, Kind: Words,
		Usage: "do not check the certificate of `HOST` or HOST:PORT, as in --insecure nas.local:8443; " +
			"its responses are trusted only as over http (repeatable)"},
	{Names: "client-cert", Of: Requesting | LFS, Group: RequestsGroup, Kind: Word,
		Usage: "authenticate to the URL's own server with the certificate in `FILE`, in PEM, as in --client-cert me.pem"},
	{Names: "client-key", Of: Requesting | LFS, Group: RequestsGroup, Kind: Word,
		Usage: "the private key is in `FILE`, in PEM (default: the file of --client-cert)"},
	{Names: "proxy", Of: Requesting | Serving | LFS | Follow, Also: InSite, Group: RequestsGroup, Kind: Word,
		Usage: "use a proxy, `URL`, such as http://HOST:PORT, https://HOST:PORT or socks5://HOST:PORT, " +
			"with USER:PASSWORD@ before the host if needed, as in --proxy socks5://127.0.0.1:1080 (default: " +
			"http_proxy, https_proxy, ftp_proxy and all_proxy)"},
	{Names: "no-proxy", Of: Requesting | Serving | LFS | Follow, Group: RequestsGroup, Kind: Word,
		Usage: "contact `HOSTS` without a proxy, as in --no-proxy example.org,10.0.0.0/8; '*' is all hosts (default: no_proxy)"},
	{Names: "interface", Of: Requesting | Serving | LFS | Follow, Group: RequestsGroup, Kind: Word,
		Usage: "connect from `ADDRESS|DEVICE`, an address of this machine or a network interface, " +
			"as in --interface 192.0.2.7 or --interface wg0"},
	{Names: "no-referer", Of: Downloading, Also: InLine, Group: RequestsGroup, Kind: Switch,
		Usage: "do not send the original URL to mirrors"},
	{Names: "timeout", Of: Requesting | Serving | LFS | Follow, Group: RequestsGroup, Kind: Time, Default: "30s",
		Usage: "give up on a server that is silent for `TIME`"},
	{Names: "max-time", Of: Get | Resume | Follow, Group: RequestsGroup, Kind: Time,
		Usage: "stop after `TIME` in total, as in --max-time 2h; the received bytes are kept, and the same command resumes"},
	{Names: "tries", Of: Downloading | LFS | Follow, Group: RequestsGroup, Kind: Number,
		Usage: "give up a source after `N` tries without progress (default 20, and 5 until a server has answered)"},
	{Names: "retry-wait", Of: Downloading | LFS | Follow, Group: RequestsGroup, Kind: Time, Default: "1s",
		Usage: "wait `TIME` before the second try, then twice as long each time, up to 30s"},
	{Names: "quiet q", Of: Get | Verify | Meta | Resume | PartsRemove | Follow, First: Get, Group: OutputGroup, Kind: Switch,
		Usage: "print only errors"},
	{Names: "progress", Of: Get | Verify | Resume | Follow, Group: OutputGroup, Kind: Choice,
		Usage: "`bar|plain|none`: how to show progress (default: a bar on a terminal, else a line every 10s)"},
	{Names: "color", Of: Get | Verify | Resume | Follow, Group: OutputGroup, Kind: Choice,
		Usage: "`auto|always|never`: use colours, as in --color never (default auto: on a terminal, " +
			"unless NO_COLOR is set or TERM is dumb)"},
	{Names: "json", Of: Get | Verify | Resume | Follow, Group: OutputGroup, Kind: Switch,
		Usage: "write events to standard output, one JSON object per line"},
	{Names: "verbose v", Of: Get | Resume | Follow, Group: OutputGroup, Kind: Switch,
		Usage: "print the events of every source, and its state below the progress"},
	{Names: "on-complete", Of: Get | Follow, Group: OutputGroup, Kind: Word,
		Usage: "run `COMMAND` for each downloaded file, as in --on-complete 'tar xf {}': {} is its path, " +
			"and BRAID_FILE_PATH and other variables describe it; no shell is used"},
	{Names: "dry-run", Of: Get | Resume, Group: OutputGroup, Kind: Switch,
		Usage: "print what would be done without doing it, as in braid get --dry-run disk.meta4: name, size, " +
			"existing bytes, evidence, and mirrors in order; only header fields, documents and signatures are " +
			"requested; with --json an object per file"},
	{Names: "report", Of: Get | Resume, Group: OutputGroup, Kind: Word,
		Usage: "write a page about the download to `FILE`, as in --report why.html, also if it fails: " +
			"which mirror delivered which bytes when, how fast, and the causes of delays"},
}
