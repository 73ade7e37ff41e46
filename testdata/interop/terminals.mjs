// An editor's terminals: programs by argv, their output kept up to a limit.

import { spawn } from "node:child_process";
import { RequestError } from "@agentclientprotocol/sdk";

export class Terminals {
  all = new Map();

  constructor(env) {
    this.env = env;
  }

  // report says of every terminal what was done with it.
  report() {
    return [...this.all.values()].map(({ id, output, exit, killed, released }) => ({ id, output, exit, killed, released }));
  }

  create({ command, args, env, cwd, outputByteLimit }) {
    const id = `terminal-${this.all.size + 1}`;
    const variables = Object.fromEntries((env ?? []).map(({ name, value }) => [name, value]));
    const child = spawn(command, args ?? [], { cwd: cwd ?? undefined, env: { ...this.env, ...variables } });
    const terminal = { id, child, output: "", truncated: false, exit: null, killed: false, released: false };
    const keep = (chunk) => {
      terminal.output += chunk;
      while (outputByteLimit != null && Buffer.byteLength(terminal.output) > outputByteLimit) {
        terminal.output = terminal.output.slice(1);
        terminal.truncated = true;
      }
    };
    child.stdout.setEncoding("utf8").on("data", keep);
    child.stderr.setEncoding("utf8").on("data", keep);
    terminal.exited = new Promise((resolve) => {
      child.on("error", (error) => resolve({ exitCode: 127, signal: null, error }));
      child.on("close", (exitCode, signal) => resolve({ exitCode, signal }));
    }).then(({ exitCode, signal }) => (terminal.exit = { exitCode, signal }));
    this.all.set(id, terminal);
    return { terminalId: id };
  }

  output({ terminalId }) {
    const { output, truncated, exit } = this.#get(terminalId);
    return exit ? { output, truncated, exitStatus: exit } : { output, truncated };
  }

  wait({ terminalId }) {
    return this.#get(terminalId).exited;
  }

  kill({ terminalId }) {
    const terminal = this.#get(terminalId);
    terminal.killed = true;
    terminal.child.kill("SIGKILL");
    return {};
  }

  release({ terminalId }) {
    const terminal = this.#get(terminalId);
    terminal.released = true;
    terminal.child.kill("SIGKILL");
    return {};
  }

  #get(id) {
    const terminal = this.all.get(id);
    if (!terminal || terminal.released) {
      throw RequestError.resourceNotFound(id);
    }
    return terminal;
  }
}
