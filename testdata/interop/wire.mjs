// The agent's process, with a tee on both of its pipes: lines holds every line in the
// order in which this side wrote or read it, before anything has looked at it.

import { spawn } from "node:child_process";
import { ndJsonStream } from "@agentclientprotocol/sdk";

export function start(command, env, cwd) {
  const agent = spawn(command, [], { env, cwd, stdio: ["pipe", "pipe", "pipe"] });
  const lines = [];
  const fromAgent = splitter((line) => lines.push({ from: "agent", line }));
  const fromClient = splitter((line) => lines.push({ from: "client", line }));

  let stderr = "";
  agent.stderr.on("data", (chunk) => (stderr += chunk));
  const exited = new Promise((resolve) => {
    agent.on("error", (error) => resolve({ error: String(error) }));
    agent.on("close", (code, signal) => resolve({ code, signal }));
  });

  const input = new ReadableStream({
    start(controller) {
      agent.stdout.on("data", (chunk) => {
        fromAgent.push(chunk);
        controller.enqueue(chunk);
      });
      agent.stdout.on("end", () => controller.close());
    },
  });
  const output = new WritableStream({
    write(chunk) {
      fromClient.push(chunk);
      return new Promise((resolve, reject) => agent.stdin.write(chunk, (error) => (error ? reject(error) : resolve())));
    },
  });

  return {
    stream: ndJsonStream(output, input),
    lines,
    // stop closes the agent's stdin, which is how an editor ends it.
    async stop() {
      agent.stdin.end();
      const exit = await exited;
      return { ...exit, stderr, unfinished: fromAgent.rest() };
    },
  };
}

function splitter(emit) {
  let rest = Buffer.alloc(0);
  return {
    push(chunk) {
      rest = Buffer.concat([rest, chunk]);
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
        emit(rest.subarray(0, end).toString("utf8"));
        rest = rest.subarray(end + 1);
      }
    },
    rest: () => rest.toString("utf8"),
  };
}
