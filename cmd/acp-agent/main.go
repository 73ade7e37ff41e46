package main

import (
	"os"

	"acp-agent/internal/app"
)

func main() { os.Exit(app.Main(app.StandIns{})) }
