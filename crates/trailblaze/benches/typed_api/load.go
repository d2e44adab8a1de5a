// Calls HasText over gRPC for two seconds, on eight connections with one call at a time each. Prints the calls per second.
package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const connections, duration = 8, 2 * time.Second

func main() {
	address, key := os.Args[1], os.Args[2]
	var calls atomic.Int64
	var working sync.WaitGroup
	begin := time.Now()
	for range connections {
		working.Go(func() {
			transport := &http.Transport{Protocols: new(http.Protocols)}
			transport.Protocols.SetUnencryptedHTTP2(true)
			for time.Since(begin) < duration {
				call(transport, address, key)
				calls.Add(1)
			}
		})
	}
	working.Wait()
	fmt.Println(float64(calls.Load()) / time.Since(begin).Seconds())
}

func call(transport *http.Transport, address, key string) {
	body := bytes.NewReader([]byte("\x00\x00\x00\x00\x09\x0a\x07Sign in"))
	request, _ := http.NewRequest("POST", address+"/trailblaze.v1.TrailblazeCommands/HasText", body)
	request.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "Authorization": {"Bearer " + key}}
	response, err := transport.RoundTrip(request)
	if err != nil {
		log.Fatal(err)
	}
	answer, err := io.ReadAll(response.Body)
	response.Body.Close()
	if string(answer) != "\x00\x00\x00\x00\x02\x08\x01" || response.Trailer.Get("Grpc-Status") != "0" {
		log.Fatal(answer, response.Header, response.Trailer, err)
	}
}
