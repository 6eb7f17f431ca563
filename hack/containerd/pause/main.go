// What the containers of the test cluster run: it waits until it gets a signal to end, or for the seconds of its argument.
package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGINT, syscall.SIGTERM)
	var over <-chan time.Time
	if len(os.Args) > 1 {
		seconds, err := time.ParseDuration(os.Args[1] + "s")
		if err != nil {
			os.Exit(2)
		}
		over = time.After(seconds)
	}
	select {
	case <-told:
	case <-over:
	}
}
