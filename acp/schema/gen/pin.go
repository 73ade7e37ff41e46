package main

// pinned is the version of the npm package @agentclientprotocol/sdk whose schema the
// types are generated from.
const pinned = "2.4.0"
