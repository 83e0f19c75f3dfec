/** Spans of tasks, with the SDK of OpenTelemetry. */
import { context, propagation, SpanStatusCode, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { W3CTraceContextPropagator } from "@opentelemetry/core";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, beforeEach, expect, test } from "vitest";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { createTaskTracing, openTestSignalbox } from "../../../src/library/index.ts";

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
trace.setGlobalTracerProvider(provider);
propagation.setGlobalPropagator(new W3CTraceContextPropagator());
context.setGlobalContextManager(new AsyncLocalStorageContextManager());
beforeEach(() => exporter.reset());
afterAll(() => {
  trace.disable();
  context.disable();
  propagation.disable();
});

test("each start of a task is a span, with its error", async () => {
  const signalbox = openTestSignalbox({ now: "2026-11-23T03:00Z" });
  await signalbox.schedules.add("mail.ops", { cron: "@at 2026-11-23T03:00Z" });
  const handlers = {
    mail: () => {
      throw new TypeError("no such address");
    },
  };
  await signalbox.runDue({ handlers, middleware: [await createTaskTracing()] });
  const [span] = await waitUntil("a span", () => exporter.getFinishedSpans());
  expect(span).toMatchObject({
    name: "process mail",
    status: { code: SpanStatusCode.ERROR, message: "no such address" },
    attributes: {
      "messaging.system": "signalbox",
      "messaging.destination.name": "mail",
      "signalbox.schedule": "mail.ops",
      "signalbox.attempt": 1,
      "signalbox.scheduled_time": "2026-11-23T03:00:00.000Z",
      "error.type": "TypeError",
    },
    events: [{ name: "exception" }],
  });
  await signalbox.close();
});

test("a task belongs to the trace in which its job was added", async () => {
  const signalbox = openTestSignalbox();
  const tracer = trace.getTracer("test");
  const producer = await tracer.startActiveSpan("order", async (span) => {
    await signalbox.jobs.add("mail");
    span.end();
    return span.spanContext();
  });
  const seen: unknown[] = [];
  const handlers = {
    mail: () => tracer.startSpan("smtp").end(),
    bill: ({ trace: own }: object & { trace?: unknown }) => seen.push(own),
  };
  await signalbox.jobs.add("bill"); // outside of any span
  await signalbox.runDue({ handlers, middleware: [await createTaskTracing()] });
  const spans = await waitUntil("the spans", () => {
    const finished = Object.fromEntries(exporter.getFinishedSpans().map((span) => [span.name, span]));
    return finished["process mail"] && finished["process bill"] && finished;
  });
  const { "process mail": mail, "process bill": bill, smtp } = spans;
  expect(mail?.spanContext().traceId).toBe(producer.traceId);
  expect(mail?.parentSpanContext?.spanId).toBe(producer.spanId);
  expect(smtp?.parentSpanContext?.spanId).toBe(mail?.spanContext().spanId);
  expect(bill?.parentSpanContext).toBeUndefined();
  expect(seen).toEqual([undefined]);
  await signalbox.close();
});
