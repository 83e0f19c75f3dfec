import type { IncomingMessage } from "node:http";
import type { Log } from "../../base/log.ts";
import { parseObject } from "../../base/parse-json.ts";
import type { ScheduledTask } from "../handler.ts";

// A request has the checkpoint of the last start, and its response can have one for the next start.

/** The header with a checkpoint, percent-encoded UTF-8, in both directions; also its name in a response of JSON. */
const NAME = "signalbox-checkpoint";
/** Maximum length of the header in a request: some servers take only 8 KiB of header lines. */
const LONGEST = 4 * 1024;

interface HttpCheckpointOptions {
  log: Log;
  /** Whether the body of a request has the checkpoint: the header has only space for a short one. */
  isInBody: boolean;
}

/** The checkpoint of a task in its request, and the next one, which the response has in its header or in its JSON. */
export class HttpCheckpoint {
  readonly #task: ScheduledTask;
  readonly #options: HttpCheckpointOptions;
  #headers: readonly string[] = [];
  #body: Buffer[] | undefined;

  constructor(task: ScheduledTask, options: HttpCheckpointOptions) {
    this.#task = task;
    this.#options = options;
  }

  /** Builds the header of the request; none if there is no checkpoint, or if it is too long. */
  buildHeader(): Record<string, string> {
    const { checkpoint, id: schedule, run } = this.#task;
    if (checkpoint === undefined) return {};
    const value = encodeText(checkpoint);
    if (value.length <= LONGEST) return { [NAME]: value };
    const why = this.#findExcess(checkpoint);
    if (why !== undefined)
      this.#options.log.warn("a request does not have its checkpoint", { schedule, run, why });
    return {};
  }

  /** Takes the header lines of the response. */
  takeHeaders({ headers, headersDistinct }: IncomingMessage): void {
    this.#headers = headersDistinct[NAME] ?? [];
    if (this.#headers.length === 0 && isJson(headers["content-type"])) this.#body = [];
  }

  /** Takes a part of the body. */
  take(chunk: Buffer): void {
    this.#body?.push(chunk);
  }

  /** Saves the checkpoint, if the response has one. @returns why it is not kept */
  async save(): Promise<string | undefined> {
    const { checkpoint, id: schedule, run } = this.#task;
    try {
      const [header, ...more] = this.#headers;
      if (more.length > 0) throw new Error(`the response has ${1 + more.length} of them`);
      const text = header === undefined ? this.#findInBody() : decodeHeader(header);
      if (text === "" || text === checkpoint) return undefined;
      const excess = this.#findExcess(text);
      if (excess !== undefined) throw new Error(excess);
      await this.#task.saveCheckpoint(text);
      return undefined;
    } catch (error) {
      const { message: why } = error as Error;
      this.#options.log.warn("a checkpoint is not kept, an earlier one stays", { schedule, run, why });
      return why;
    }
  }

  /** @returns an empty text if there is none */
  #findInBody(): string {
    const { [NAME]: found } = parseObject(Buffer.concat(this.#body ?? []).toString());
    return typeof found === "string" ? found : (JSON.stringify(found ?? undefined) ?? "");
  }

  /** Returns why the next request cannot have a checkpoint. */
  #findExcess(text: string): string | undefined {
    const { length } = encodeText(text);
    if (this.#options.isInBody || length <= LONGEST) return undefined;
    return `percent-encoded it has ${length} bytes, and without "body: task" a request has space for ${LONGEST}`;
  }
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
