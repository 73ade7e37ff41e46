// The official TypeScript SDK of Anthropic reads what the agent sent and was sent. It reads a
// job from the file named by its argument and prints what it saw as one JSON object; it
// judges nothing: internal/e2e/interop/anthropic_test.go does.
//
// The job's exchanges are {request, stream}: the body that the agent sent and the events that
// it got. For each the SDK is given the same parameters and has its request answered with the
// same events. The report has {request, message}: the body that the SDK sent, and the message
// that it made of the events. errors are what TypeScript says of the requests, as values of
// the SDK's own types.

import { readFile, writeFile, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";

const job = JSON.parse(await readFile(process.argv[2], "utf8"));
const report = { exchanges: [], errors: [] };

for (const { request, stream } of job.exchanges) {
  let sent = null;
  const client = new Anthropic({
    apiKey: "none",
    maxRetries: 0,
    fetch: async (url, init) => {
      sent = { path: new URL(url).pathname, headers: Object.fromEntries(new Headers(init.headers)), body: JSON.parse(init.body) };
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    },
  });
  const { stream: _, ...params } = request;
  const message = await client.messages.stream(params).finalMessage();
  report.exchanges.push({ request: sent, message });
}

// The compiler takes seconds: the short form of the tests does without it.
if (process.env.ACP_TEST_FULL === "1") {
  const { default: ts } = await import("typescript");
  // The file lies beside the SDK so that its import is found there.
  const file = join(fileURLToPath(new URL(".", import.meta.url)), "node_modules", `.requests-${process.pid}.ts`);
  const values = job.exchanges.map(({ request }) => JSON.stringify(request)).join(",\n");
  await writeFile(file, `import type { MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages";\n` +
    `export const requests: MessageCreateParamsStreaming[] = [\n${values}\n];\n`);
  try {
    const program = ts.createProgram([file], {
      strict: true, noEmit: true, skipLibCheck: true, target: ts.ScriptTarget.ES2022, lib: ["lib.es2022.d.ts", "lib.dom.d.ts"],
      module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [],
    });
    for (const found of ts.getPreEmitDiagnostics(program)) {
      report.errors.push(ts.flattenDiagnosticMessageText(found.messageText, "\n"));
    }
  } finally {
    await rm(file);
  }
}
console.log(JSON.stringify(report));
