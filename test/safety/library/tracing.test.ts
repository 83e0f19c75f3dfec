/** Spans of tasks, with the SDK of OpenTelemetry. */
import { SpanStatusCode, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { afterAll, expect, test } from "vitest";
import { waitUntil } from "../../../fixtures/wait-until.ts";
import { createTaskTracing, openTestSignalbox } from "../../../src/library/index.ts";

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
trace.setGlobalTracerProvider(provider);
afterAll(() => trace.disable());

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
    name: "mail",
    status: { code: SpanStatusCode.ERROR, message: "no such address" },
    attributes: {
      "signalbox.schedule": "mail.ops",
      "signalbox.attempt": 1,
      "signalbox.scheduled_time": "2026-11-23T03:00:00.000Z",
    },
    events: [{ name: "exception" }],
  });
  await signalbox.close();
});
