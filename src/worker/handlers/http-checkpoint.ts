import type { IncomingMessage } from "node:http";
import type { Log } from "../../core/base/log.ts";
import { parseObject } from "../../core/base/parse-json.ts";
import type { ScheduledTask } from "../handler.ts";

// A request has the checkpoint of the last start, and its response can have one for the next start.

/** The header with a checkpoint, percent-encoded UTF-8, in both directions; also its name in a response of JSON. */
const CHECKPOINT_HEADER = "signalbox-checkpoint";
/** Maximum length of the header in a request: some servers take only 8 KiB of header lines. */
const MAX_HEADER_LENGTH = 4 * 1024;

/** The checkpoint of a task in its request, and the next one, which the response has in its header or in its JSON. */
interface HttpCheckpoint {
  /** Builds the header of the request; none if there is no checkpoint, or if it is too long. */
  buildHeader(): Record<string, string>;
  /** Takes the header lines of the response. */
  takeHeaders(answer: IncomingMessage): void;
  /** Takes a part of the body. */
  take(chunk: Buffer): void;
  /** Saves the checkpoint, if the response has one. @returns why it is not kept */
  save(): Promise<string | undefined>;
}

/** @param isInBody  whether the body of a request has the checkpoint: the header has only space for a short one */
export function createHttpCheckpoint(
  { checkpoint, id: schedule, run, saveCheckpoint }: ScheduledTask,
  log: Log,
  isInBody: boolean,
): HttpCheckpoint {
  let lines: readonly string[] = [];
  let body: Buffer[] | undefined;

  /** Returns why the next request cannot have a checkpoint. */
  const findExcess = (text: string) => {
    const { length } = encodeText(text);
    if (isInBody || length <= MAX_HEADER_LENGTH) return undefined;
    return `percent-encoded it has ${length} bytes, and without "body: task" a request has space for ${MAX_HEADER_LENGTH}`;
  };

  /** @returns an empty text if there is none */
  const findInBody = () => {
    const { [CHECKPOINT_HEADER]: found } = parseObject(Buffer.concat(body ?? []).toString());
    return typeof found === "string" ? found : (JSON.stringify(found ?? undefined) ?? "");
  };

  return {
    buildHeader() {
      if (checkpoint === undefined) return {};
      const value = encodeText(checkpoint);
      if (value.length <= MAX_HEADER_LENGTH) return { [CHECKPOINT_HEADER]: value };
      const why = findExcess(checkpoint);
      if (why !== undefined) log.warn("a request does not have its checkpoint", { schedule, run, why });
      return {};
    },

    takeHeaders({ headers, headersDistinct }) {
      lines = headersDistinct[CHECKPOINT_HEADER] ?? [];
      if (lines.length === 0 && isJson(headers["content-type"])) body = [];
    },

    take(chunk) {
      body?.push(chunk);
    },

    async save() {
      try {
        const [line, ...more] = lines;
        if (more.length > 0) throw new Error(`the response has ${1 + more.length} of them`);
        const text = line === undefined ? findInBody() : decodeHeader(line);
        if (text === "" || text === checkpoint) return undefined;
        const excess = findExcess(text);
        if (excess !== undefined) throw new Error(excess);
        await saveCheckpoint(text);
        return undefined;
      } catch (error) {
        const { message: why } = error as Error;
        log.warn("a checkpoint is not kept, an earlier one stays", { schedule, run, why });
        return why;
      }
    },
  };
}

function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

function isJson(type = ""): boolean {
  return /^application\/([\w.-]+\+)?json\s*(;|$)/i.test(type);
}

/** @throws Error if the value is not text in UTF-8 */
function decodeHeader(value: string): string {
  try {
    // Node gives each byte as a character.
    return decodeURIComponent(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(value, "latin1")));
  } catch (cause) {
    throw new Error("it is not percent-encoded UTF-8", { cause });
  }
}
