// Built as a file in dist/modules/ that is loaded only if spans are sent (scripts/build.ts).
import {
  type Context,
  createTraceState,
  DiagLogLevel,
  diag,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { Span, TraceContext } from "../base/trace.ts";

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, consumer: SpanKind.CONSUMER };

/** What the spans of a process say about it. */
export interface SpanSource {
  host: string;
  version: string;
  /** Called if the collector refuses spans, or does not answer. */
  onFault(message: string): void;
}

/** Sends spans in the background, as the variables of the SDK say. What the collector does not take in time is dropped. */
export class SpanPipeline {
  readonly #provider: BasicTracerProvider;
  /** The ids of the next span: those that its run has already passed on. */
  #next: Pick<TraceContext, "traceId" | "spanId"> = { traceId: "", spanId: "" };

  constructor({ host, version, onFault }: SpanSource) {
    const report = (message: string) => onFault(message);
    diag.setLogger(
      { error: report, warn: report, info: () => {}, debug: () => {}, verbose: () => {} },
      { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
    );
    const own = { "service.name": "signalbox", "service.version": version, "host.name": host };
    this.#provider = new BasicTracerProvider({
      resource: resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] })),
      idGenerator: {
        generateTraceId: () => this.#next.traceId,
        generateSpanId: () => this.#next.spanId,
      },
      spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
    });
  }

  /** Takes the spans of one trace. A parent comes before its parts, so that the sampler decides about the trace once. */
  send(spans: readonly Span[]): void {
    const tracer = this.#provider.getTracer("signalbox");
    const parents = new Map<string, Context>();
    for (const { name, kind, context, parent, startedAt, endedAt, attributes, error } of spans) {
      this.#next = context;
      const within = parent === undefined ? ROOT_CONTEXT : (parents.get(parent.spanId) ?? toRemote(parent));
      const span = tracer.startSpan(name, { kind: KINDS[kind], startTime: startedAt, attributes }, within);
      if (error !== undefined)
        span.setAttribute("error.type", error).setStatus({ code: SpanStatusCode.ERROR, message: error });
      span.end(Math.max(startedAt, endedAt)); // the wall clock may have been set back
      parents.set(context.spanId, trace.setSpan(ROOT_CONTEXT, span));
    }
  }

  /** Sends what is left. */
  async close(): Promise<void> {
    await this.#provider.shutdown();
  }
}

/** The context of another process. */
function toRemote({ traceId, spanId, flags, state }: TraceContext): Context {
  const traceState = state === undefined ? {} : { traceState: createTraceState(state) };
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags,
    isRemote: true,
    ...traceState,
  });
}
