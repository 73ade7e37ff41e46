// Package stream bounds what programs outside the agent write as the result of a call:
// scripts, modules and providers (R104). The model is shown the first 50,000 characters
// and told where the rest is.
//
//	out := stream.New(rt)
//	defer out.Close()
//	exit, err := rt.Processes().Exec(ctx, program, out)
//	text, path := out.Text()
//
// It imports tools and starts no goroutines.
//
// # Requirements
//
// R104.
package stream
