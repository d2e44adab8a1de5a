package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	trailblaze "example/gen/trailblaze/v1"
	"example/gen/trailblaze/v1/trailblazev1connect"
)

func main() {
	address, keyFile := os.Args[1], os.Args[2]
	key, err := os.ReadFile(keyFile)
	if err != nil {
		log.Fatal(err)
	}
	commands := trailblazev1connect.NewTrailblazeCommandsClient(http.DefaultClient, address)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	ctx, call := connect.NewClientContext(ctx)
	call.RequestHeader().Set("Authorization", "Bearer "+strings.TrimSpace(string(key)))

	result, err := commands.Tap(ctx, &trailblaze.TapRequest{Id: proto.String("email")})
	if err != nil {
		// The call was not carried out. Its code is, for example, CodeNotFound.
		log.Fatal(connect.CodeOf(err), ": ", err)
	}
	// An action that failed is a result.
	fmt.Println(result.Success, result.Message)
}
