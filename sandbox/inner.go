package sandbox

// InnerArg is the first argument that makes our binary go on confining a command from
// within a sandbox, see Inner.
const InnerArg = "__inner"
