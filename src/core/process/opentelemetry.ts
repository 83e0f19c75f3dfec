// Built as a file in dist/modules/ that is loaded only if spans are sent (scripts/build.ts).
import {
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { setGlobalErrorHandler } from "@opentelemetry/core";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { detectResources, envDetector, resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { createPartTrace, type RunSpan, type Span, type TraceContext } from "../base/trace.ts";
import { VERSION } from "../base/version.ts";

/**
 * Sends spans in the background, configured by the SDK's variables. Drops spans that the collector does not accept in
 * time.
 */
export class SpanPipeline {
  readonly #provider: BasicTracerProvider;
  /** The ids of the next span. Its run has already passed them on. */
  #next: Pick<TraceContext, "traceId" | "spanId"> = { traceId: "", spanId: "" };

  /**
   * @param host     full name of this host
   * @param onFault  called if the collector refuses spans, or does not answer
   */
  constructor(host: string, onFault: (fault: unknown) => void) {
    setGlobalErrorHandler(onFault);
    const own = { "service.name": "signalbox", "service.version": VERSION, "host.name": host };
    this.#provider = new BasicTracerProvider({
      resource: resourceFromAttributes(own).merge(detectResources({ detectors: [envDetector] })),
      idGenerator: {
        generateTraceId: () => this.#next.traceId,
        generateSpanId: () => this.#next.spanId,
      },
      spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
    });
  }

  /** Queues the span of a run and its parts. */
  send({ context, caller, span }: RunSpan): void {
    this.#record(context, span, caller === undefined ? ROOT_CONTEXT : toRemote(caller));
  }

  /** Records a span before its parts: the sampler decides about the span, and its parts follow that decision. */
  #record(
    run: TraceContext,
    { name, kind = "INTERNAL", attributes = {}, ...span }: Span,
    parent: Context,
    own = run,
  ): void {
    const { startedAt, endedAt, error, parts = [], links: others = [] } = span;
    this.#next = own;
    const links = others.map((context) => ({ context: toSpanContext(context) }));
    const options = { kind: SpanKind[kind], startTime: startedAt, attributes, links };
    const recorded = this.#provider.getTracer("signalbox").startSpan(name, options, parent);
    if (error !== undefined)
      recorded.setAttribute("error.type", error).setStatus({ code: SpanStatusCode.ERROR, message: error });
    recorded.end(Math.max(startedAt, endedAt)); // the wall clock may have been set back
    const within = trace.setSpan(ROOT_CONTEXT, recorded);
    for (const child of parts)
      this.#record(run, child, within, createPartTrace(run, child.part ?? child.name));
  }

  /** Sends the remaining spans. */
  async close(): Promise<void> {
    await this.#provider.shutdown();
  }
}

/** The context of another process. */
function toRemote(context: TraceContext): Context {
  return trace.setSpanContext(ROOT_CONTEXT, toSpanContext(context));
}

function toSpanContext({ traceId, spanId, flags, state }: TraceContext): SpanContext {
  const traceFlags = Number.parseInt(flags, 16);
  return { traceId, spanId, traceFlags, traceState: createTraceState(state), isRemote: true };
}
