// The functions of the runtime in child_linux.go have no body: a file of assembly tells the compiler that they are elsewhere.
