package rpc_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"

	"braid/daemon/queue"
	"braid/daemon/rpc"
)

// A guarded is an engine that downloads and stores nothing.
type guarded struct {
	sync.Mutex
	*queue.Queue
}

func (g *guarded) Do(_ context.Context, f func(*queue.Queue) error) error {
	g.Lock()
	defer g.Unlock()
	return f(g.Queue)
}

func (*guarded) Subscribe() (<-chan queue.Notice, func()) { return nil, func() {} }

func Example() {
	engine := &guarded{Queue: queue.New(1)}
	s := httptest.NewServer(rpc.New(engine, rpc.Options{Root: "/srv/files", Token: "s3cret"}))
	defer s.Close()
	call := func(body string) {
		resp, err := http.Post(s.URL, "", bytes.NewReader([]byte(body)))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer resp.Body.Close()
		answer, _ := io.ReadAll(resp.Body)
		fmt.Println(resp.StatusCode, string(answer))
	}
	call(`{"jsonrpc":"2.0","id":1,"method":"aria2.addUri","params":["token:s3cret",["https://example.org/disk.iso"],{"gid":"00000000000000aa"}]}`)
	call(`{"jsonrpc":"2.0","id":2,"method":"aria2.tellStatus","params":["token:s3cret","aa",["status"]]}`)
	call(`{"jsonrpc":"2.0","id":3,"method":"aria2.tellWaiting","params":["token:s3cret",0,10,["gid","status","dir"]]}`)
	call(`{"jsonrpc":"2.0","id":4,"method":"aria2.addUri","params":["token:s3cret",["https://example.org/disk.iso"],{"dir":"/etc"}]}`)
	// Output:
	// 200 {"id":1,"jsonrpc":"2.0","result":"00000000000000aa"}
	// 400 {"id":2,"jsonrpc":"2.0","error":{"code":1,"message":"GID aa is not found"}}
	// 200 {"id":3,"jsonrpc":"2.0","result":[{"dir":"/srv/files","gid":"00000000000000aa","status":"waiting"}]}
	// 400 {"id":4,"jsonrpc":"2.0","error":{"code":1,"message":"dir: \"/etc\" is outside /srv/files, the folder of all downloads."}}
}
