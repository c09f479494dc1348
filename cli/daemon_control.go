package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"braid/daemon"
	"braid/download"
	"braid/internal/job"
	"braid/internal/listen"
	"braid/internal/option"
	"braid/internal/problem"
	"braid/internal/render"
	"braid/metalink/metainfo"
	"braid/verify"
)

// A controlCommand controls a running daemon. It calls the RPC methods that all clients use, over the socket in the
// daemon's state folder.
type controlCommand struct {
	streams
	verb          string
	State         string
	JSON          bool
	All           bool
	Dir, Out      string
	SHA256        string
	Checksum      string
	Signature     option.WordsValue
	Mirror        option.WordsValue
	Paused, First bool
	token         string
	http          http.Client
}

func newControl(verb string) func(streams) (action, targets) {
	return func(s streams) (action, targets) {
		c := &controlCommand{streams: s, verb: verb}
		return c.run, targetsOf(c)
	}
}

func (c *controlCommand) run(ctx context.Context, words []string) error {
	if err := c.check(words); err != nil {
		return err
	}
	if err := c.connect(); err != nil {
		return err
	}
	switch c.verb {
	case "add":
		return c.add(ctx, words)
	case "status":
		return c.status(ctx, words)
	}
	return c.command(ctx, words)
}

func (c *controlCommand) check(words []string) error {
	several := len(words) > 1
	return firstMisuse([]wrongUse{
		{c.verb == "add" && len(words) == 0, "add", "no URL", "see braid add --help"},
		{c.verb != "add" && c.verb != "status" && (len(words) > 0) == c.All, c.verb, "give either names or --all",
			"write braid " + c.verb + " GID, with all or the first digits of the GID; list the downloads with braid status"},
		{several && c.Out != "", "-o", "this is the name of one file, but several files are given",
			"choose a folder for all files with -d FOLDER"},
		{several && c.SHA256+c.Checksum != "", "--sha256",
			"this is the digest of one file, but several files are given", "use a braid add command for each file"},
		{len(words)*len(c.Signature) > 1, "--signature",
			"this is the signature of one file, but several files are given", "use a braid add command for each file"},
		{several && len(c.Mirror) > 0, "--mirror", "this mirror has only one file, but several files are given", ""},
		{c.SHA256 != "" && c.Checksum != "", "--sha256", "contradicts --checksum", ""},
	})
}

// connect reads the daemon's token and prepares an HTTP client for the daemon's socket.
func (c *controlCommand) connect() (err error) {
	if c.State, err = daemonState(c.State); err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Join(c.State, tokenFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return problem.Local(c.verb, c.State, err)
	}
	c.token = strings.TrimSpace(string(data))
	c.http.Transport = &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return listen.Dial(ctx, c.State)
		}}
	return nil
}

// call calls an RPC method of aria2's interface and stores the answer in result. Errors name where, the object of the call.
func (c *controlCommand) call(ctx context.Context, where string, result any, method string, params ...any) error {
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method,
		"params": append([]any{"token:" + c.token}, params...)})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/jsonrpc", bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &problem.Problem{
			Kind: download.Other, What: c.verb, Where: where, Why: "no daemon is running with --state " + c.State,
			Hint: "start it with braid daemon, or name the state folder of another daemon with --state FOLDER",
		}
	}
	defer resp.Body.Close()
	answer := struct {
		Result any
		Error  *struct{ Message string }
	}{Result: result}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return &problem.Problem{
			Kind: download.Protocol, What: c.verb, Where: where, Why: "the daemon answered " + resp.Status,
		}
	}
	if answer.Error != nil {
		return c.refused(where, answer.Error.Message)
	}
	return nil
}

// refused converts the error message in the daemon's answer, why, to a problem with a hint.
func (c *controlCommand) refused(where, why string) error {
	f := &problem.Problem{Kind: download.Other, What: c.verb, Where: where, Why: why}
	switch {
	case why == "Unauthorized":
		f.Why = "the daemon with --state " + c.State + " requires a secret that is not in " + tokenFile + " in that folder"
		f.Hint = "this daemon was started as aria2c --rpc-secret: control it over its port, with that secret"
	case strings.HasPrefix(why, "dir: "):
		f.Kind, f.Hint = download.Usage,
			"choose a folder below the daemon's --root with -d, or start braid daemon with another --root FOLDER"
	case strings.HasPrefix(why, "GID ") && strings.HasSuffix(why, "is not unique"):
		f.Hint = "give more digits of the GID; list the downloads with braid status"
	case strings.HasPrefix(why, "GID "), strings.HasPrefix(why, "Invalid GID"):
		f.Hint = "list the downloads with braid status"
	}
	return f
}

// add adds the downloads in words to the daemon's queue and prints their GIDs.
func (c *controlCommand) add(ctx context.Context, words []string) error {
	options, err := c.options()
	if err != nil {
		return err
	}
	for i, word := range words {
		method, params, err := c.addition(word)
		if err != nil {
			return err
		}
		params = append(params, options)
		if c.First {
			params = append(params, i)
		}
		var added any
		if err := c.call(ctx, job.MaskWord(word), &added, method, params...); err != nil {
			return err
		}
		gids, several := added.([]any)
		if !several {
			gids = []any{added}
		}
		for _, gid := range gids {
			if err := c.tell(gid, map[string]any{"gid": gid, "url": job.MaskWord(word)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// addition returns the RPC method that adds the download of word, and the parameters for that call.
func (c *controlCommand) addition(word string) (method string, params []any, err error) {
	if !metainfo.IsMagnet(word) && job.IsLocalDocument(word) {
		doc, err := job.OpenDocument(word)
		if err != nil {
			return "", nil, downloadProblem(context.Background(), err)
		}
		data, err := job.ReadFile("document", word, 8<<20)
		if err != nil {
			return "", nil, err
		}
		text := base64.StdEncoding.EncodeToString(data)
		if doc.Torrent {
			return "aria2.addTorrent", []any{text, []string{}}, nil
		}
		return "aria2.addMetalink", []any{text}, nil
	}
	if !metainfo.IsMagnet(word) {
		if _, err := job.ParseURL(word); err != nil {
			return "", nil, err
		}
	}
	return "aria2.addUri", []any{append([]string{word}, c.Mirror...)}, nil
}

func (c *controlCommand) options() (map[string]string, error) {
	o := map[string]string{}
	sum := c.Checksum
	if c.SHA256 != "" {
		d, err := job.ParseSHA256(c.SHA256)
		if err != nil {
			return nil, problem.Misuse("--sha256", err.Error(), "")
		}
		sum = "sha-256=" + d.Hex()
	}
	if c.Dir != "" {
		dir, err := filepath.Abs(c.Dir)
		if err != nil {
			return nil, err
		}
		c.Dir = dir
	}
	for name, value := range map[string]string{"dir": c.Dir, "out": c.Out, "checksum": sum} {
		if value != "" {
			o[name] = value
		}
	}
	for _, path := range c.Signature {
		data, err := job.ReadFile("--signature", path, verify.MaxSignature)
		if err != nil {
			return nil, err
		}
		o[daemon.OptionSignature] = base64.StdEncoding.EncodeToString(data)
	}
	if c.Paused {
		o["pause"] = "true"
	}
	return o, nil
}

// tell prints line or, with --json, object.
func (c *controlCommand) tell(line any, object any) error {
	if c.JSON {
		lines := render.NewJSONWriter(c.out)
		lines.Write(object)
		return outputFailure(lines.Err())
	}
	return printLines(c.out, []string{fmt.Sprint(line)})
}

// command pauses, resumes or removes the entries with the given GIDs.
func (c *controlCommand) command(ctx context.Context, gids []string) error {
	if c.All {
		method := map[string]string{"pause": "aria2.pauseAll", "resume": "aria2.unpauseAll",
			"remove": "aria2.purgeDownloadResult"}[c.verb]
		return c.call(ctx, "--all", new(string), method)
	}
	var failed error
	for _, gid := range gids {
		var full string
		err := c.call(ctx, gid, &full, map[string]string{"pause": "aria2.pause", "resume": "aria2.unpause",
			"remove": "aria2.remove"}[c.verb], gid)
		if err != nil && c.verb == "remove" && !c.absent(err) { // the entry has already stopped
			err = c.call(ctx, gid, &full, "aria2.removeDownloadResult", gid)
		}
		if err == nil && c.JSON {
			err = c.tell("", map[string]any{"gid": gid, "done": c.verb})
		}
		if err != nil {
			fmt.Fprintln(c.err, render.ErrorLine(problemOf(ctx, err)))
			failed = reported(exitCode(problemOf(ctx, err)))
		}
	}
	return failed
}

// absent reports whether err means that the entry does not exist or that no daemon runs.
func (c *controlCommand) absent(err error) bool {
	f := problem.Of(err)
	return f.Hint != "" || strings.HasPrefix(f.Why, "GID ") || strings.HasPrefix(f.Why, "Invalid GID")
}
