// Does what a test tells it on standard input, a line of JSON each, and tells what comes.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"sync"

	"github.com/Khan/genqlient/graphql"
	"github.com/gorilla/websocket"
)

type command struct {
	ID        string         `json:"id"`
	Stop      bool           `json:"stop"`
	Query     string         `json:"query"`
	Variables map[string]any `json:"variables"`
}

type dialer struct{ *websocket.Dialer }

func (d *dialer) DialContext(ctx context.Context, url string, header http.Header) (graphql.WSConn, error) {
	conn, _, err := d.Dialer.DialContext(ctx, url, header)
	return conn, err
}

// What genqlient generates for each subscription.
type response struct {
	Data   map[string]any `json:"data"`
	Errors []struct {
		Message string `json:"message"`
	} `json:"errors"`
}

func forward(channel any, raw json.RawMessage) error {
	var result response
	if err := json.Unmarshal(raw, &result); err != nil {
		// An error message has a list of errors in place of a result.
		if err := json.Unmarshal(raw, &result.Errors); err != nil {
			return err
		}
	}
	channel.(chan response) <- result
	return nil
}

var stdout sync.Mutex

func tell(what map[string]any) {
	stdout.Lock()
	defer stdout.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(what); err != nil {
		panic(err)
	}
}

func receive(id string, results chan response) {
	for result := range results {
		if len(result.Errors) > 0 {
			tell(map[string]any{"id": id, "error": result.Errors[0].Message})
		} else {
			tell(map[string]any{"id": id, "data": result.Data})
		}
	}
}

func main() {
	client := graphql.NewClientUsingWebSocket(
		"ws://"+os.Getenv("GATEWAY")+"/graphql",
		&dialer{websocket.DefaultDialer},
		graphql.WithConnectionParams(map[string]any{"token": os.Getenv("TOKEN")}),
	)
	faults, err := client.Start(context.Background())
	if err != nil {
		panic(err)
	}
	var running sync.Map
	go func() {
		for fault := range faults {
			running.Range(func(id, _ any) bool {
				tell(map[string]any{"id": id, "error": fault.Error()})
				return true
			})
		}
	}()
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var asked command
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			panic(err)
		}
		if asked.Stop {
			subscription, _ := running.LoadAndDelete(asked.ID)
			if err := client.Unsubscribe(subscription.(string)); err != nil {
				panic(err)
			}
			continue
		}
		results := make(chan response)
		request := &graphql.Request{Query: asked.Query, Variables: asked.Variables, OpName: "Said"}
		subscription, err := client.Subscribe(request, results, forward)
		if err != nil {
			panic(err)
		}
		running.Store(asked.ID, subscription)
		go receive(asked.ID, results)
	}
}
