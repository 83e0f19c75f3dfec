import { hash } from "./hash.ts";

/** The position of an operation in a trace. @see https://www.w3.org/TR/trace-context/ */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** 8 bits. The lowest one: the spans of this trace are recorded. */
  flags: number;
  /** What tracing systems pass on, as it was received. */
  state?: string;
}

/** An operation that has ended. */
export interface Span {
  name: string;
  kind: "internal" | "client" | "consumer";
  context: TraceContext;
  /** The operation that it is a part of; undefined if it begins a trace. */
  parent: TraceContext | undefined;
  /** Wall clock, ms since the epoch. */
  startedAt: number;
  endedAt: number;
  attributes: Readonly<Record<string, string | number | string[] | undefined>>;
  /** Why it failed: a word of few, for `error.type`. */
  error?: string | undefined;
}

/** The variables with which processes pass a context on. */
interface TraceVariables {
  readonly [name: string]: string | undefined;
  readonly TRACEPARENT?: string | undefined;
  readonly TRACESTATE?: string | undefined;
}

const PARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** A list of `key=value`, of printable characters. */
const STATE = /^[a-z0-9][^=]*=[ -~]{1,512}$/;
const ZEROS = /^0+$/;
const SAMPLED = 1;

/** Reads the context of the caller. A malformed one is ignored, and so is a state without a context. */
export function readTraceContext({ TRACEPARENT, TRACESTATE }: TraceVariables): TraceContext | undefined {
  const [, version = "ff", traceId = "", spanId = "", flags = "", rest] =
    PARENT.exec(TRACEPARENT ?? "") ?? [];
  // Later versions may add fields to the end.
  if (version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (ZEROS.test(traceId) || ZEROS.test(spanId)) return undefined;
  const context = { traceId, spanId, flags: Number.parseInt(flags, 16) };
  const hasState = TRACESTATE !== undefined && TRACESTATE.length <= 512 && STATE.test(TRACESTATE);
  return hasState ? { ...context, state: TRACESTATE } : context;
}

/**
 * Creates the context of a run. It follows from the id of the run, which is random: a process that takes the run over
 * computes the same one, and nothing has to be stored.
 */
export function createRunTrace(run: string, caller: TraceContext | undefined): TraceContext {
  const own = caller ?? { traceId: deriveId(`trace ${run}`, 32), flags: SAMPLED };
  return { ...own, spanId: deriveId(run, 16) };
}

/** Creates the context of a part of a run. */
export function createPartTrace(trace: TraceContext, part: string): TraceContext {
  return { ...trace, spanId: deriveId(`${part} ${trace.spanId}`, 16) };
}

/** @param digits  number of hexadecimal digits, a multiple of 8 */
function deriveId(text: string, digits: number): string {
  const words = Array.from({ length: digits / 8 }, (_, at) => hash(`${at} ${text}`));
  return words.map((word) => word.toString(16).padStart(8, "0")).join("");
}

/** Returns the variables that pass a context on. In lower case, they are the headers of a request. */
export function buildTraceVariables({ traceId, spanId, flags, state }: TraceContext): Record<string, string> {
  const parent = `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, "0")}`;
  return { TRACEPARENT: parent, ...(state !== undefined && { TRACESTATE: state }) };
}

/** Returns the headers that pass a context on. */
export function buildTraceHeaders(context: TraceContext): Record<string, string> {
  const pairs = Object.entries(buildTraceVariables(context));
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}
