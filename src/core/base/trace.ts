import type { WallTime } from "./clock.ts";
import { hash } from "./hash.ts";

/** The position of an operation in a trace. @see https://www.w3.org/TR/trace-context/ */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  /** Two hexadecimal digits. The lowest bit: the spans of this trace are recorded. */
  flags: string;
  /** The `tracestate` of other tracing systems, unchanged. */
  state?: string;
}

/** An operation that has ended. */
export interface Span {
  name: string;
  /** Distinguishes its context from those of the other parts of its run. Default: its name. */
  part?: string;
  /** Default: internal. */
  kind?: "INTERNAL" | "CLIENT" | "CONSUMER";
  startedAt: WallTime;
  endedAt: WallTime;
  attributes?: Readonly<Record<string, string | number | string[] | undefined>>;
  /** Why it failed, for `error.type`: one of a few words. */
  error?: string | undefined;
  parts?: readonly Span[];
  /** Other operations that caused it, besides its caller. */
  links?: readonly TraceContext[];
}

/** A run or a task that has ended, as a span, and its place in a trace. */
export interface RunSpan {
  context: TraceContext;
  caller: TraceContext | undefined;
  span: Span;
}

/** Versions after 00 may append fields. */
const PARENT =
  /^(?!ff|00-.{52}-)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
/** A list of `key=value` pairs of printable characters. */
const TRACE_STATE = /^[a-z0-9][ -<>-~]{0,255}=[ -~]{1,512}$/;
const SAMPLED_FLAGS = "01";

/**
 * Reads the context of the caller from its variables. Ignores a malformed context, and a state without a context.
 */
export function readTraceContext(
  env: Readonly<Record<string, string | undefined>>,
): TraceContext | undefined {
  const { TRACEPARENT: parent = "", TRACESTATE: state = "" } = env;
  const [found, traceId = "", spanId = "", flags = ""] = PARENT.exec(parent) ?? [];
  const context = found === undefined ? undefined : { traceId, spanId, flags };
  return context && TRACE_STATE.test(state) ? { ...context, state } : context;
}

/**
 * Creates the context of a run. It is derived from the run's id, which is random: a process that takes the run over
 * computes the same context, so it need not be stored.
 */
export function createRunTrace(run: string, caller: TraceContext | undefined): TraceContext {
  const own = caller ?? { traceId: deriveId(`trace ${run}`, 32), flags: SAMPLED_FLAGS };
  return { ...own, spanId: deriveId(run, 16) };
}

export function createPartTrace(trace: TraceContext, part: string): TraceContext {
  return { ...trace, spanId: deriveId(`${part} ${trace.spanId}`, 16) };
}

/** @param digits  number of hexadecimal digits, a multiple of 8 */
function deriveId(text: string, digits: number): string {
  const words = Array.from({ length: digits / 8 }, (_, at) => hash(`${at} ${text}`));
  return words.map((word) => word.toString(16).padStart(8, "0")).join("");
}

/** Returns the variables that pass a context on. Their names in lower case are those of the headers of a request. */
export function buildTraceVariables({ traceId, spanId, flags, state }: TraceContext): Record<string, string> {
  return {
    TRACEPARENT: `00-${traceId}-${spanId}-${flags}`,
    ...(state !== undefined && { TRACESTATE: state }),
  };
}

/** Returns the headers that pass a context on. */
export function buildTraceHeaders(context: TraceContext): Record<string, string> {
  const pairs = Object.entries(buildTraceVariables(context));
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}
