import { type Clock, waitAtMost } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { clean } from "../base/text.ts";
import type { RunSpan } from "../base/trace.ts";
import type { SpanPipeline } from "./opentelemetry.ts";

/** How long a process waits for the collector before it ends, ms. */
const LAST_WAIT = 1_000;
const LONGEST_FAULT = 300;

/** Sends spans to the collector that OpenTelemetry's variables name. Never throws; spans that cannot be sent are lost. */
export class SpanSender {
  readonly #ports: { clock: Clock; log: Log };
  readonly #host: string;
  #pipeline: Promise<SpanPipeline | undefined> | undefined;

  /** @param host  full name of this host */
  constructor(ports: { clock: Clock; log: Log }, host: string) {
    this.#ports = ports;
    this.#host = host;
  }

  /** Loads the packages, which takes tens of ms. Otherwise the first span loads them. */
  load(): Promise<SpanPipeline | undefined> {
    this.#pipeline ??= import("./opentelemetry.ts")
      .then(({ SpanPipeline }) => new SpanPipeline(this.#host, this.#report))
      .catch(this.#report);
    return this.#pipeline;
  }

  send(span: RunSpan): void {
    void this.load()
      .then((pipeline) => pipeline?.send(span))
      .catch(this.#report); // an error without a handler would end the process
  }

  /** Waits until everything has been sent, but at most a second. */
  async close(): Promise<void> {
    const closing = this.#pipeline?.then((pipeline) => pipeline?.close()).catch(this.#report);
    if (closing !== undefined && !(await waitAtMost(this.#ports.clock, LAST_WAIT, closing)))
      this.#report("the collector has not answered in time");
  }

  /** Logs a fault as info only: cron would mail a warning, and the run is not affected. */
  readonly #report = (fault: unknown): undefined => {
    this.#ports.log.info("spans are not sent", { error: clean(String(fault), LONGEST_FAULT) });
  };
}

/**
 * Creates a sender of spans if the variables name a collector and do not disable tracing.
 * @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/
 */
export function createSpanSender(
  env: Readonly<Record<string, string | undefined>>,
  ...source: ConstructorParameters<typeof SpanSender>
): SpanSender | undefined {
  const { OTEL_SDK_DISABLED: disabled, OTEL_TRACES_EXPORTER: exporters = "" } = env;
  const address = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const isWanted = address && disabled?.toLowerCase() !== "true" && /^$|\botlp\b/.test(exporters);
  return isWanted ? new SpanSender(...source) : undefined;
}
