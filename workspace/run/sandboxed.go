package run

import (
	"context"
	"slices"
	"sync"
	"time"

	"acp-agent/internal/launch"
	"acp-agent/internal/netns"
	"acp-agent/internal/pathname"
	"acp-agent/sandbox"
	"acp-agent/tools"
)

// Outside is what of the places outside the session's directories a command may read, since the user allowed it.
type Outside struct {
	// Readable are files and directories, as they were when it was allowed.
	Readable []sandbox.File
	// Secrets and Objects lie in them: files that are hidden from each command, and directories that are hidden with
	// HidesObjects. Addresses are hidden with HidesAddresses.
	Secrets, Objects, Addresses []string
}

// Grant is what a call's commands may do beyond the default sandbox.
type Grant struct {
	// Outside is what they may read outside the session's directories.
	Outside Outside
	// Network opens the network (S4).
	Network bool
	// Connect decides about each host that the commands reach for through the agent's
	// proxy, where there can be one; nil leaves the network closed.
	Connect Connect
	// ConnectLater is Connect for a job, whose call is over: it asks no one.
	ConnectLater Connect
	// Login returns the user's login for a host that git in the commands asks for, where they have the proxy;
	// nil gives none.
	Login Login
	// LoginEnv are variables with a login, for the commands of the call and not for its jobs. Such a command finds no
	// programs of the project.
	LoginEnv []string
	// Listed says that Connect decides about the program's whole network, also where it is open
	// to all commands.
	Listed bool
	// Packages opens the package managers' directories, as Network does.
	Packages bool
	// GitConfig leaves the configuration of repositories writable (S3).
	GitConfig bool
	// Unasked says that the user was not asked about the commands: protected names are
	// kept from them, and what they change of those even so is moved aside (P5).
	Unasked bool
	// ReadsOnly says that the commands were found to change nothing, so that nothing
	// has to be compared after them.
	ReadsOnly bool
	// Reading leaves the commands nothing to write but a directory for temporary files
	// of their own.
	Reading bool
	// Held says that nothing lifts Reading now.
	Held bool
	// Bounded says that the commands run without a question because they only read:
	// they have less memory than others, and an end in time.
	Bounded bool
	// Secrets are what the commands must not read, where it was looked for that before.
	Secrets *SecretFiles
	// HidesObjects says that the commands must not read what git keeps of the content of files in the
	// session's directories, and in the repositories around them. It takes Reading.
	HidesObjects bool
	// HidesAddresses does the same for the files in which git keeps an address with a user and password.
	HidesAddresses bool
	// Unattended says that there is no user to ask for more.
	Unattended bool
	// Trusted says that the user trusts the project: commands find the programs that its
	// package managers put on the PATH (X1).
	Trusted bool
	// Unconfined leaves the sandbox out altogether: the user decided so, or the commands do
	// nothing but show the machine, which they would not see in one.
	Unconfined bool
	// Offline closes the network, also where it is open to all commands.
	Offline bool
	// Arguments says that the program's arguments come from a configuration, so that it
	// may read what they name.
	Arguments bool
	// Named says that the editor or the user named program and arguments, not a project:
	// it may read what they name in the machine's /tmp.
	Named bool
	// Caches says whose caches they are; see tools.Program.
	Caches string
}

// Grant sets what the call's commands may do from now on.
func (c *Commands) Grant(g Grant) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.grant = g
}

func (c *Commands) granted() Grant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grant
}

// confined is a command in its sandbox.
type confined struct {
	launch.Spec
	report  sandbox.Report
	grant   Grant
	network bool
	// clock is the command's time limit, proxy its proxy; nil when it has none.
	clock  *clock
	proxy  *commandProxy
	before *guard // nil when nothing has to be compared
	// timeout ends the command; 0 does not.
	timeout time.Duration
	bounded bool // see Grant.Bounded
	holds   bool // directories that hold secrets cannot be moved
	// release is called once, when nothing of the command is left.
	release func()
	// job is set of a command in the background, and is called when it has started.
	job func(*launch.Process)
}

// reportStart tells the job, if any, that the command runs.
func (c *confined) reportStart(p *launch.Process) {
	if c.job != nil {
		c.job(p)
	}
}

// confine puts a command into its sandbox. It waits until it is known which sandbox
// there is (S2), and refuses the command when it cannot have the one that it must.
func (r *Runner) confine(ctx context.Context, spec launch.Spec, g Grant) (confined, error) {
	g.Network = (g.Network || r.o.Sandbox.Network) && !g.Offline && !g.Listed
	q, err := r.request(ctx, spec, g)
	if err != nil {
		return confined{}, err
	}
	made, err := r.enclose(ctx, spec, g, q)
	if err != nil {
		return confined{}, err
	}
	mounts := made.report.Kind.HasView()
	made.holds = len(q.Held) > 0 && mounts
	made.before = q.guard
	if r.o.GitPrograms != nil && !g.ReadsOnly && g.Reading && !made.report.Confines() {
		made.before = r.newGuard(g.Unasked, r.search(searchQuery{names: g.Unasked}))
	}
	if made.before != nil {
		for i := range made.before.roots {
			made.before.roots[i].mounted = mounts
		}
	}
	return made, nil
}

// sandboxRequest is a request to the sandbox, and what this package does around it.
type sandboxRequest struct {
	sandbox.Request
	guard *guard // nil when nothing has to be compared
	// removeTmp removes the directory that was made for this command alone.
	removeTmp func()
}

// request says what a command needs of its sandbox, and remembers what it must not change.
func (r *Runner) request(ctx context.Context, spec launch.Spec, g Grant) (q sandboxRequest, err error) {
	q.Request = sandbox.Request{
		Level: r.o.Sandbox.Level, Network: g.Network, GitConfig: g.GitConfig, Reading: g.Reading,
		Caches: g.Caches, ViaProxy: r.usesProxy(ctx, g), Packages: g.Packages,
	}
	guards := r.o.GitPrograms != nil && !g.ReadsOnly && !g.Reading
	seen := r.search(searchQuery{secrets: r.hides(g) && g.Secrets == nil, reading: g.Reading, names: guards && g.Unasked})
	if err := r.hide(&q.Request, g, seen); err != nil {
		return q, err
	}
	if r.hides(g) {
		q.AroundSecrets, q.Around = r.outer.secrets(r.w.Roots[:r.w.Own], r.w.Protection.Hidden)
		q.Around = q.Around && len(q.Secrets)+len(q.AroundSecrets) <= maxMounted
	}
	if q.ViaProxy { // the sweep of the environment leaves it where the user passes it to commands
		q.SSHAgent = variable(spec.Env, sandbox.SSHAgentVariable)
	}
	q.removeTmp = r.addDirectories(&q.Request, spec, g)
	if guards {
		q.guard = r.newGuard(g.Unasked, seen)
		q.Protected = q.guard.mountable()
		if g.Unasked {
			q.Held = holdersOf(q.Secrets, q.Roots)
		}
	}
	return q, nil
}

// enclose makes the sandbox of a command, and its proxy when it has one.
func (r *Runner) enclose(ctx context.Context, spec launch.Spec, g Grant, q sandboxRequest) (confined, error) {
	box := r.o.Sandbox.Box
	if g.Unconfined {
		box, q.Level = nil, ""
	}
	c, err := box.Confine(ctx, q.Request)
	made := confined{Spec: spec, report: c.Report, grant: g, clock: &clock{}}
	var proxied []string
	leave := func() {}
	if err == nil && q.ViaProxy {
		var space *netns.Space
		if space, leave, err = r.namespaceFor(g, c.Report); err == nil {
			made.proxy, proxied, err = r.startProxy(g, made.clock, space)
		}
		if space != nil {
			made.Enter, made.Alone = space.Enter(), g.Listed
		}
		if g.Login != nil && variable(spec.Env, gitConfigCount) == "" {
			proxied = append(proxied, c.Report.Kind.GitLoginEnv()...)
		}
	}
	if err == nil {
		c.Policy.Proxy = made.proxy.loopbackPort()
		made.Policy, err = c.Policy.Encode()
	}
	proxy := made.proxy
	made.release = sync.OnceFunc(func() {
		proxy.close()
		leave()
		c.Release()
		if g.Reading {
			r.cleanups.Go(func() {
				q.removeTmp()
				r.prepareTmp()
			})
		}
	})
	if err != nil || ctx.Err() != nil {
		made.release()
	}
	if ctx.Err() != nil {
		return confined{}, context.Cause(ctx)
	}
	if err != nil {
		return confined{}, &tools.Error{
			Kind: tools.Unavailable, Err: err, Message: "the command cannot be confined: " + err.Error(),
		}
	}
	made.Env = replaceEnv(replaceEnv(spec.Env, c.Env), proxied)
	made.network = g.Network || !c.Report.Network
	return made, nil
}

// addDirectories adds to a request the directories that the command may use, and the program that
// it runs. removeTmp removes a directory that was made for this command alone.
func (r *Runner) addDirectories(request *sandbox.Request, spec launch.Spec, g Grant) (removeTmp func()) {
	for i, root := range r.w.Roots {
		if r.o.Sandbox.Box.GivenAbove(root.Path) {
			if info, err := root.Handle.Stat("."); err == nil {
				request.Checked = append(request.Checked, sandbox.File{Path: root.Path, Info: info})
			}
		}
		switch {
		case i < r.w.Own:
			request.Roots = append(request.Roots, root.Path)
			fallthrough
		case root.Write:
			request.Writable = append(request.Writable, root.Path)
		default:
			request.Readable = append(request.Readable, root.Path)
		}
	}
	for _, file := range g.Outside.Readable {
		request.Readable, request.Checked = append(request.Readable, file.Path), append(request.Checked, file)
	}
	request.Secrets = slices.Concat(request.Secrets, g.Outside.Secrets)
	if len(spec.Argv) > 0 {
		// A program may lie among our own files, as a module's does, or in the home.
		request.Programs = spec.Argv[:1]
		if g.Arguments {
			request.Arguments, request.Named = spec.Argv[1:], g.Named
		}
	}
	removeTmp = func() {}
	// A command that does not use the directory runs without it.
	if r.w.Private.Create() == nil {
		dir := r.w.Private.Path()
		request.Private, request.Scratch = dir, r.w.Private.Scratch()
		request.Tmp = r.w.Private.Tmp()
		request.Closed = r.w.Private.Closed()
		if g.Reading {
			request.Tmp, removeTmp = r.readingTmp()
		}
	}
	return removeTmp
}

// hides reports whether secrets are hidden from a command.
func (r *Runner) hides(g Grant) bool { return r.o.Sandbox.Box != nil && !g.Unconfined }

// hide adds to a request what must not be read, as a search saw it. A command that runs
// unasked because it only reads does not run where not all of that is known.
func (r *Runner) hide(request *sandbox.Request, g Grant, seen searchResult) error {
	most := maxMounted
	if g.Reading {
		most = maxSecrets
	}
	switch {
	case !r.hides(g):
		return nil
	case g.Secrets != nil:
		request.Secrets = g.Secrets.paths
		seen.objects, seen.addresses = g.Secrets.objects, g.Secrets.addresses
	case g.Reading && !g.Held && (!seen.whole || len(seen.secrets) > most):
		return &tools.Error{Kind: tools.Unavailable, Message: "the command cannot be confined: the session's directories are too large to be looked through for secrets"}
	}
	if g.Secrets == nil {
		request.Secrets = seen.secrets[:min(len(seen.secrets), most)]
	}
	if g.HidesObjects {
		request.Hidden = slices.Concat(seen.objects, r.outer.objects(r.w.Roots[:r.w.Own]), g.Outside.Objects)
	}
	if g.HidesAddresses {
		request.Hidden = slices.Concat(request.Hidden, seen.addresses, r.outer.addresses(r.w.Roots[:r.w.Own], r.w.Protection.Hidden), g.Outside.Addresses)
	}
	return nil
}

// Sandbox is what the session's commands are confined by, once that is known; open
// says that they have the network whatever they are.
func (r *Runner) Sandbox(ctx context.Context) (report sandbox.Report, open bool, err error) {
	if r.o.Sandbox.Box == nil {
		return sandbox.Report{Kind: sandbox.None}, true, nil
	}
	report, err = r.o.Sandbox.Box.Probe.Wait(ctx)
	return report, r.o.Sandbox.Network || !report.Network, err
}

// SandboxKnown is Sandbox without waiting; known is false where it is still to be found out.
func (r *Runner) SandboxKnown() (report sandbox.Report, known bool) {
	if r.o.Sandbox.Box == nil {
		return sandbox.Report{Kind: sandbox.None}, true
	}
	return r.o.Sandbox.Box.Probe.Known()
}

// systemDirs hold nothing of the user's, and no command in a sandbox can change them.
var systemDirs = []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/etc"}

// tmpDirs are a command's own under bubblewrap.
var tmpDirs = []string{"/tmp", "/var/tmp"}

// ShownOutside reports an absolute path outside the session's directories at which a command in
// a sandbox that was found sees nothing of the user's.
func (r *Runner) ShownOutside(report sandbox.Report, path string) bool {
	if !report.Confines() {
		return false
	}
	if home := r.o.Sandbox.Box.Home; home == "" || pathname.Contains(home, path) || pathname.Contains(path, home) {
		return false
	}
	dirs := systemDirs
	if report.Kind.HasView() {
		dirs = slices.Concat(dirs, tmpDirs)
	}
	return slices.ContainsFunc(dirs, func(dir string) bool { return pathname.Contains(dir, path) })
}

// SandboxExpected is Sandbox as far as it is known without waiting: as it was found, or else as
// the last process has found it.
func (r *Runner) SandboxExpected() (report sandbox.Report, known bool) {
	if report, known = r.SandboxKnown(); known {
		return report, true
	}
	return r.o.Sandbox.Box.Probe.Expected()
}

// replaceEnv returns env with the variables of own in the place of others of the
// same name.
func replaceEnv(env, own []string) []string {
	if len(own) == 0 {
		return env
	}
	names := map[string]bool{}
	for _, variable := range own {
		names[nameOf(variable)] = true
	}
	kept := slices.DeleteFunc(slices.Clone(env), func(variable string) bool { return names[nameOf(variable)] })
	return append(kept, own...)
}
