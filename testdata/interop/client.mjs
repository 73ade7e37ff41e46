// A client made of the official SDK. It reads a job from the file named by its argument,
// drives the agent through the job's steps, and prints what happened as one JSON object.
// It judges nothing: internal/e2e/interop/scenario_test.go does.
//
// The steps: {do: "prompt", text, mentions, answer, form, cancelOn}, {do: "mode", mode},
// {do: "option", option, value}, {do: "listen", ms}, {do: "close"}. A step that listens makes
// the file "listening" in the project, and then only reads for so long. mentions are {name, uri}, behind the text.
// answer is what the person says to every question of the turn: allow, reject, or cancel,
// which cancels the turn with the question open. form is what they fill in; of an address
// they say that they opened it. cancelOn cancels the turn at a sight: {file} when that file
// has content, {update, text} at the first update of that kind, which holds that text if one
// is given. The job's mcpServers are those of the session. A job with awaitServers asks /mcp until
// no server is connecting, before its steps: a prompt waits for a server only so long.
//
// A job with a session opens none: its steps are about that stored one. They are {do: "list"},
// {do: "load"}, {do: "resume"}, {do: "fork"}, after which the steps are about the copy, and
// {do: "delete"}.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { client, methods, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { methods as draft } from "@agentclientprotocol/sdk/unstable";
import { Files } from "./files.mjs";
import { Terminals } from "./terminals.mjs";
import { start } from "./wire.mjs";

const job = JSON.parse(await readFile(process.argv[2], "utf8"));

// The SDK reports what it cannot read on the console; that belongs into the report.
const complaints = [];
console.error = console.warn = (...args) => complaints.push(args.map(String).join(" "));

const files = new Files(job.buffers);
const terminals = new Terminals(job.env);
const wire = start(job.command, job.env, job.cwd);
let step = null; // the one that is running

const app = client({ name: "interop" })
  .onRequest(methods.client.session.requestPermission, ({ params }) => askPerson(params))
  .onNotification(methods.client.session.update, ({ params }) => {
    const on = step?.cancelOn;
    if (on?.update === params.update.sessionUpdate && JSON.stringify(params.update).includes(on.text ?? "")) {
      cancel();
    }
  });
if (job.capabilities.fs.readTextFile) {
  app.onRequest(methods.client.fs.readTextFile, ({ params }) => files.read(params));
}
if (job.capabilities.fs.writeTextFile) {
  app.onRequest(methods.client.fs.writeTextFile, ({ params }) => files.write(params));
}
if (job.capabilities.terminal) {
  app
    .onRequest(methods.client.terminal.create, ({ params }) => terminals.create(params))
    .onRequest(methods.client.terminal.output, ({ params }) => terminals.output(params))
    .onRequest(methods.client.terminal.waitForExit, ({ params }) => terminals.wait(params))
    .onRequest(methods.client.terminal.kill, ({ params }) => terminals.kill(params))
    .onRequest(methods.client.terminal.release, ({ params }) => terminals.release(params));
}
if (job.capabilities.elicitation) {
  app.onRequest(methods.client.elicitation.create, ({ params }) =>
    params.mode === "url" ? { action: "accept" } : { action: "accept", content: step.form },
  );
}

const connection = app.connect(wire.stream);
const agent = connection.agent;
let sessionId = job.session;

async function cancel() {
  delete step.cancelOn;
  await agent.notify(methods.agent.session.cancel, { sessionId });
}

async function askPerson(request) {
  const kind = { allow: "allow_once", reject: "reject_once" }[step.answer];
  if (step.answer === "cancel") {
    await cancel();
    return { outcome: { outcome: "cancelled" } };
  }
  const option = request.options.find((o) => o.kind === kind);
  return { outcome: { outcome: "selected", optionId: option.optionId } };
}

async function cancelWhenWritten(mine) {
  const path = join(job.cwd, mine.cancelOn.file);
  while (step === mine) {
    const text = await readFile(path, "utf8").catch(() => "");
    if (text.endsWith("\n")) {
      return cancel();
    }
    await sleep(5);
  }
}

function blocks(s) {
  return [{ type: "text", text: s.text }, ...(s.mentions ?? []).map((mention) => ({ type: "resource_link", ...mention }))];
}

function stored() {
  return { sessionId, cwd: job.cwd, mcpServers: job.mcpServers ?? [] };
}

function run(s) {
  switch (s.do) {
    case "prompt":
      return agent.request(methods.agent.session.prompt, { sessionId, prompt: blocks(s) });
    case "mode":
      return agent.request(methods.agent.session.setMode, { sessionId, modeId: s.mode });
    case "option":
      return agent.request(methods.agent.session.setConfigOption, { sessionId, configId: s.option, value: s.value });
    case "listen":
      return writeFile(join(job.cwd, "listening"), "").then(() => sleep(s.ms));
    case "close":
      return agent.request(methods.agent.session.close, { sessionId });
    case "list":
      return agent.request(methods.agent.session.list, { cwd: job.cwd });
    case "load":
      return agent.request(methods.agent.session.load, stored());
    case "resume":
      return agent.request(methods.agent.session.resume, stored());
    case "fork":
      return agent.request(draft.agent.session.fork, stored()).then((copy) => {
        sessionId = copy.sessionId;
        return copy;
      });
    case "delete":
      return agent.request(methods.agent.session.delete, { sessionId });
  }
  throw new Error(`no step ${s.do}`);
}

const initialized = await agent.request(methods.agent.initialize, {
  protocolVersion: PROTOCOL_VERSION,
  clientCapabilities: job.capabilities,
  clientInfo: { name: "interop", version: "1" },
});
let session;
if (!sessionId) {
  session = await agent.request(methods.agent.session.new, { cwd: job.cwd, mcpServers: job.mcpServers ?? [] });
  sessionId = session.sessionId;
}

for (let told = "connecting"; job.awaitServers && told.includes("connecting"); await sleep(50)) {
  const from = wire.lines.length;
  await run({ do: "prompt", text: "/mcp" });
  told = JSON.stringify(wire.lines.slice(from));
}

const steps = [];
for (const given of job.steps) {
  step = { ...given };
  const from = wire.lines.length;
  const watching = step.cancelOn?.file ? cancelWhenWritten(step) : undefined;
  const outcome = await run(step).then(
    (result) => ({ result }),
    (error) => ({ error: { code: error.code, message: error.message } }),
  );
  step = null;
  await watching;
  steps.push({ ...outcome, from, to: wire.lines.length });
}
const exit = await wire.stop();

console.log(
  JSON.stringify({
    initialized,
    session,
    steps,
    reads: files.reads,
    writes: files.writes,
    buffers: Object.fromEntries(files.buffers),
    terminals: terminals.report(),
    lines: wire.lines,
    complaints,
    exit,
  }),
);
