import { clean } from "../../base/text.ts";

/** Bytes of the tail that is kept in etcd. */
const TAIL_BYTES = 1024;
/** Bytes that are kept for it: escape sequences and secrets that the window cuts must be gone before the tail begins. */
const WINDOW_BYTES = 8 * 1024;
/** A line is passed on in pieces of at most so many characters. */
const LINE_LENGTH = 2_000;
/** Characters of one run that are passed on, and what a line costs beside its own; the tail has the end of the rest. */
const PASSED = 64 * 1024;
const LINE_COST = 100;

/** What is done with the output of one run while it comes. */
export interface OutputOptions {
  /** Never shown: passwords of this worker's own settings. */
  secrets: readonly string[];
  /** Gets every line, made harmless. */
  onLine(line: string): void;
  /** What follows this mark on a line is the host's word on a module, and no output. */
  mark?: string | undefined;
}

/** What a host of modules writes before its word; nobody writes it by accident. */
export function markOf(run: string): string {
  return `\x1e${run} `;
}

/** A run's output: passed on line by line, and its end kept. Takes the same memory however much comes. */
export class Output {
  readonly #options: OutputOptions;
  #window: Buffer = Buffer.alloc(0);
  #passed = 0;
  #word: string | undefined;
  readonly #lines: Record<1 | 2, Lines>;

  constructor(options: OutputOptions) {
    this.#options = options;
    this.#lines = { 1: new Lines((line) => this.#line(line)), 2: new Lines((line) => this.#line(line)) };
  }

  /** What followed the mark, the last time that it came. */
  get word(): string | undefined {
    return this.#word;
  }

  take(chunk: Buffer, descriptor: 1 | 2): void {
    this.#window = Buffer.concat([this.#window.subarray(-WINDOW_BYTES), chunk.subarray(-WINDOW_BYTES)]);
    this.#lines[descriptor].take(chunk);
  }

  /** There is no more: what stood behind the last line break is a line too. */
  end(): void {
    this.#lines[1].end();
    this.#lines[2].end();
  }

  /** The end of the output, at most 1 KiB of UTF-8 with its line breaks; undefined where there was none. */
  tail(): string | undefined {
    const text = this.#shown(this.#window.subarray(-WINDOW_BYTES).toString("utf8"));
    const lines = text.split(/\r*\n/).map((line) => clean(line).trimEnd());
    const tail = lastBytes(lines.join("\n").trim(), TAIL_BYTES);
    return tail === "" ? undefined : tail;
  }

  #line(raw: string): void {
    const { mark, onLine } = this.#options;
    const at = mark === undefined ? -1 : raw.indexOf(mark);
    if (mark !== undefined && at >= 0) this.#word = this.#veiled(raw.slice(at + mark.length));
    const line = clean(this.#shown(at < 0 ? raw : raw.slice(0, at))).trimEnd();
    if (line === "" || this.#passed > PASSED) return;
    this.#passed += line.length + LINE_COST;
    onLine(this.#passed > PASSED ? "(what it writes from here on is not passed on)" : line);
  }

  #shown(text: string): string {
    const { mark } = this.#options;
    if (mark === undefined) return this.#veiled(text);
    return this.#veiled(text.replaceAll(new RegExp(`\\n?${mark}[^\\n]*\\n?`, "g"), ""));
  }

  #veiled(text: string): string {
    return this.#options.secrets.reduce((veiled, secret) => veiled.replaceAll(secret, "***"), text);
  }
}

/** Text of one descriptor, cut at its line breaks. */
class Lines {
  readonly #decoder = new TextDecoder();
  readonly #onLine: (line: string) => void;
  #rest = "";

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  take(chunk: Buffer): void {
    this.#rest += this.#decoder.decode(chunk, { stream: true });
    const lines = this.#rest.split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#pieces(line);
    if (this.#rest.length <= LINE_LENGTH) return;
    const whole = this.#rest.length - (this.#rest.length % LINE_LENGTH);
    this.#pieces(this.#rest.slice(0, whole));
    this.#rest = this.#rest.slice(whole);
  }

  end(): void {
    this.#pieces(this.#rest + this.#decoder.decode());
    this.#rest = "";
  }

  #pieces(line: string): void {
    for (let at = 0; at < line.length; at += LINE_LENGTH) this.#onLine(line.slice(at, at + LINE_LENGTH));
  }
}

/** The last bytes of a text, cut between characters. */
function lastBytes(text: string, most: number): string {
  const bytes = Buffer.from(text);
  let at = Math.max(0, bytes.length - most);
  while (at > 0 && at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return bytes.subarray(at).toString("utf8");
}
