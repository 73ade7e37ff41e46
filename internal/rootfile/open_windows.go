package rootfile

// Nonblock is a flag that does nothing here: opening a file never waits.
const Nonblock = 0
