// An editor's files: the disk, and over it the buffers with unsaved text. A file without
// a buffer is saved when it is written, with one newline more, as some editors do; a file
// with a buffer stays unsaved.

import { readFile, writeFile } from "node:fs/promises";
import { RequestError } from "@agentclientprotocol/sdk";

export class Files {
  reads = [];
  writes = [];

  constructor(buffers) {
    this.buffers = new Map(Object.entries(buffers));
  }

  async read({ path, line, limit }) {
    this.reads.push(path);
    const text = this.buffers.get(path) ?? (await onDisk(path));
    if (text === null) {
      throw RequestError.resourceNotFound(path);
    }
    if (line == null && limit == null) {
      return { content: text };
    }
    const from = Math.max((line ?? 1) - 1, 0);
    const to = limit == null ? undefined : from + limit;
    return { content: text.split(/(?<=\n)/).slice(from, to).join("") };
  }

  async write({ path, content }) {
    this.writes.push({ path, content, diskBefore: await onDisk(path) });
    if (this.buffers.has(path)) {
      this.buffers.set(path, content);
    } else {
      await writeFile(path, content + "\n");
    }
    return {};
  }
}

async function onDisk(path) {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (error.code === "ENOENT") {
      return null;
    }
    throw error;
  }
}
