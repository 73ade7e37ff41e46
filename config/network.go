package config

import "time"

// Network says how commands in the sandbox reach hosts. Only the user sets it (T3).
type Network struct {
	// AskTimeout is how long a connection of a command waits for the user's answer about its
	// host; 0 means that it waits until the command ends.
	AskTimeout Duration `json:"ask_timeout"`
}

const defaultAskTimeout = 2 * time.Minute

func defaultNetwork() Network { return Network{AskTimeout: Duration{defaultAskTimeout}} }
