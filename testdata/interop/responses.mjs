// The official TypeScript SDK of OpenAI reads what the agent sent and was sent in the
// Responses API, and is a client of the same strict server. It reads a job from the file
// named by its argument and prints what it saw as one JSON object; it judges nothing:
// internal/e2e/interop/responses_test.go does.
//
// The job's exchanges are {request, stream}: the body that the agent sent and the events that
// it got. For each the SDK is given the same parameters and has its request answered with the
// same events. The report has {request, response}: the body that the SDK sent, and the response
// that it made of the events. errors are what TypeScript says of the requests, as values of
// the SDK's own types.
//
// With an address the SDK has a task of its own there, as its documentation shows it: all
// items of an answer go back in the next request, without their status of reasoning. steps are
// the types of items that it got.

import { readFile, writeFile, rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import OpenAI from "openai";

const job = JSON.parse(await readFile(process.argv[2], "utf8"));
const report = { exchanges: [], errors: [], steps: [] };

for (const { request, stream } of job.exchanges) {
  let sent = null;
  const client = new OpenAI({
    apiKey: "none",
    maxRetries: 0,
    fetch: async (url, init) => {
      sent = { path: new URL(url).pathname, body: JSON.parse(init.body) };
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    },
  });
  const { stream: _, ...params } = request;
  const response = await client.responses.stream(params).finalResponse();
  report.exchanges.push({ request: sent, response });
}

if (job.address) {
  const client = new OpenAI({ apiKey: "none", maxRetries: 0, baseURL: job.address });
  const input = [{ type: "message", role: "user", content: "go" }];
  for (let i = 0; i < job.steps; i++) {
    const response = await client.responses.stream({
      model: "gpt-test-9", input, store: false, include: ["reasoning.encrypted_content"],
      tools: [{ type: "function", name: "read", parameters: { type: "object" }, strict: false }],
    }).finalResponse();
    report.steps.push(response.output.map(({ type }) => type).join(" "));
    for (const { parsed_arguments: _, status, ...item } of response.output) {
      if (item.content) item.content = item.content.map(({ parsed: _, ...part }) => part);
      input.push(item.type === "reasoning" ? item : { ...item, status });
    }
    for (const item of response.output.filter(({ type }) => type === "function_call")) {
      input.push({ type: "function_call_output", call_id: item.call_id, output: "done" });
    }
  }
}

// The compiler takes seconds: the short form of the tests does without it.
if (process.env.ACP_TEST_FULL === "1") {
  const { default: ts } = await import("typescript");
  // The file lies beside the SDK so that its import is found there.
  const file = join(fileURLToPath(new URL(".", import.meta.url)), "node_modules", `.responses-${process.pid}.ts`);
  const values = job.exchanges.map(({ request }) => JSON.stringify(request)).join(",\n");
  await writeFile(file, `import type { ResponseCreateParamsStreaming } from "openai/resources/responses/responses";\n` +
    `export const requests: ResponseCreateParamsStreaming[] = [\n${values}\n];\n`);
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
