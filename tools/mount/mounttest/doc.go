// Package mounttest lets a test of a module see what the module did (R163).
//
// It owns [MockCoordinator], which mounts modules as the agent does, with real
// coordinators, and remembers what became of each.
//
//	mock := mounttest.New()
//	err := mock.Mount(ctx, "my-tool", myModule, `{"max_size": 1}`)
//	mock.Names()                             // ["my_tool"]
//	mock.Contributions(mount.EventsChannel)  // ["my-tool:started"]
//	mock.Close()                             // runs the cleanups
//
// It imports tools/mount and tools, and starts no goroutine. Only tests import
// it.
//
// # Requirements
//
// R163.
package mounttest
