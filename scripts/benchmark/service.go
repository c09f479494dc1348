//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// secret is the token of all services.
const secret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// A service is a program with a queue that aria2's remote control drives: braid daemon, or aria2c.
type service struct {
	command
	cmd    *exec.Cmd
	exited chan struct{}
	said   bytes.Buffer
	addr   string
	home   string // its state
	into   string // folder for downloads
	http   http.Client
}

// A starter starts a service.
type starter func(b *bench, ctx context.Context) (*service, error)

// startBraid starts a braid daemon with an empty queue.
func startBraid(b *bench, ctx context.Context) (*service, error) {
	return startService(ctx, b.dir, func(s *service, port string) error {
		state := filepath.Join(s.home, "state")
		s.command = command{b.braid, "daemon", "-q", "-d", s.into, "--state", state, "--rpc-listen-port", port}
		if err := os.Mkdir(state, 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(state, "token"), []byte(secret), 0o600)
	})
}

// startAria2 starts an aria2c with an empty queue.
func startAria2(b *bench, ctx context.Context) (*service, error) {
	return startService(ctx, b.dir, func(s *service, port string) error {
		s.command = append(append(command{"aria2c"}, alone(s.into)...), "--enable-rpc", "--rpc-listen-port="+port, "--rpc-secret="+secret,
			"--rpc-max-request-size=16M", aria2AtOnce)
		return nil
	})
}

// aria2AtOnce raises aria2's limit of concurrent downloads, which is 5 by default.
const aria2AtOnce = "-j16"

func startService(ctx context.Context, dir string, prepare func(s *service, port string) error) (s *service, err error) {
	addr, err := freePort()
	if err != nil {
		return nil, err
	}
	s = &service{addr: addr.String(), exited: make(chan struct{}), http: http.Client{Transport: &http.Transport{DisableKeepAlives: true}}}
	if s.home, err = os.MkdirTemp(dir, "service-"); err != nil {
		return nil, err
	}
	s.into = filepath.Join(s.home, "into")
	err = os.Mkdir(s.into, 0o755)
	if err == nil {
		err = prepare(s, strconv.Itoa(int(addr.Port())))
	}
	if err != nil {
		os.RemoveAll(s.home)
		return nil, err
	}
	s.cmd = exec.Command(s.command[0], s.command[1:]...)
	s.cmd.Stdout, s.cmd.Stderr, s.cmd.Env = &s.said, &s.said, environment(s.home)
	if err := s.cmd.Start(); err != nil {
		os.RemoveAll(s.home)
		return nil, err
	}
	go func() {
		s.cmd.Wait()
		close(s.exited)
	}()
	if err := await(ctx, s.addr, s.exited); err != nil {
		s.stop()
		return nil, fmt.Errorf("%s: %w\n%s", s.command, err, s.said.String())
	}
	return s, nil
}

// stop kills the service, whose queue is no longer needed.
func (s *service) stop() {
	s.cmd.Process.Kill()
	<-s.exited
	os.RemoveAll(s.home)
}

// call calls a method. The token is an ordinary parameter. It returns the time until the answer was read.
func (s *service) call(ctx context.Context, result any, method string, params ...any) (took time.Duration, err error) {
	body, err := request(method, params...)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.addr+"/jsonrpc", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	took = time.Since(began)
	if err != nil {
		return 0, err
	}
	if resp.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s %s: %s: %.200s", s.command[0], method, resp.Status, answer)
	}
	if err := json.Unmarshal(answer, &struct{ Result any }{result}); err != nil {
		return 0, fmt.Errorf("%s %s: %w", s.command[0], method, err)
	}
	return took, nil
}

func request(method string, params ...any) ([]byte, error) {
	return json.Marshal(map[string]any{"jsonrpc": "2.0", "id": "1", "method": method, "params": params})
}

// add adds URLs with the same options in one request. It returns the time that took.
func (s *service) add(ctx context.Context, urls []string, options map[string]string) (time.Duration, error) {
	calls := make([]any, len(urls))
	for i, url := range urls {
		calls[i] = map[string]any{"methodName": "aria2.addUri", "params": []any{"token:" + secret, []string{url}, options}}
	}
	var answers []json.RawMessage
	took, err := s.call(ctx, &answers, "system.multicall", calls)
	if err == nil && len(answers) != len(urls) {
		err = fmt.Errorf("%d of %d URLs were added", len(answers), len(urls))
	}
	for _, answer := range answers {
		if err == nil && !bytes.HasPrefix(answer, []byte("[")) { // otherwise it is a fault
			err = fmt.Errorf("a URL was not added: %s", answer)
		}
	}
	return took, err
}

// download adds URLs and waits until all are complete. It returns the time that took, including a sync of the disk
// unless dir is a tmpfs.
func (s *service) download(ctx context.Context, urls []string, sync bool) (time.Duration, error) {
	socket, err := s.dial(ctx)
	if err != nil {
		return 0, err
	}
	defer socket.CloseNow()
	began := time.Now()
	if _, err := s.add(ctx, urls, map[string]string{}); err != nil {
		return 0, err
	}
	for done := 0; done < len(urls); {
		method, err := receive(ctx, socket)
		switch {
		case err != nil:
			return 0, err
		case method == "aria2.onDownloadError":
			return 0, errors.New(method)
		case method == "aria2.onDownloadComplete":
			done++
		}
	}
	if sync {
		if err := exec.CommandContext(ctx, "sync", "-f", s.into).Run(); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

func (s *service) dial(ctx context.Context) (*websocket.Conn, error) {
	conn, _, err := websocket.Dial(ctx, "ws://"+s.addr+"/jsonrpc", nil)
	if err == nil {
		conn.SetReadLimit(-1)
	}
	return conn, err
}

// receive returns the method of the next message, which is empty for an answer. An answer with an error is returned as
// an error.
func receive(ctx context.Context, conn *websocket.Conn) (method string, err error) {
	_, data, err := conn.Read(ctx)
	if err != nil {
		return "", err
	}
	var message struct {
		Method string
		Error  *struct{ Message string }
	}
	err = json.Unmarshal(data, &message)
	if err == nil && message.Error != nil {
		err = errors.New(message.Error.Message)
	}
	return message.Method, err
}

// A use is the resource use of a process since its start.
type use struct {
	cpu       float64 // seconds
	rss, most float64 // MiB
	switches  float64 // context switches of all threads, a measure of wake-ups
}

func (s *service) use() (u use, err error) {
	proc := filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid))
	stat, err := os.ReadFile(filepath.Join(proc, "stat"))
	if err != nil {
		return u, err
	}
	_, after, _ := strings.Cut(string(stat), ") ") // proc(5): state is the third field, utime and stime are the fourteenth and the next
	fields := strings.Fields(after)
	for _, ticks := range fields[11:13] {
		n, err := strconv.ParseFloat(ticks, 64)
		if err != nil {
			return u, err
		}
		u.cpu += n / 100
	}
	tasks, err := filepath.Glob(filepath.Join(proc, "task", "*", "status"))
	if err != nil {
		return u, err
	}
	for _, task := range tasks {
		f, err := statusFields(task)
		if err != nil {
			return u, err
		}
		u.switches += f["voluntary_ctxt_switches"] + f["nonvoluntary_ctxt_switches"]
		u.rss, u.most = f["VmRSS"]/1024, f["VmHWM"]/1024 // of the process, in each
	}
	return u, nil
}

// statusFields returns the numeric fields of a status file (proc(5)).
func statusFields(path string) (map[string]float64, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	fields := map[string]float64{}
	for line := range strings.Lines(string(data)) {
		if words := strings.Fields(line); len(words) >= 2 {
			if n, err := strconv.ParseFloat(words[1], 64); err == nil {
				fields[strings.TrimSuffix(words[0], ":")] = n
			}
		}
	}
	return fields, nil
}
