import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { clean } from "../base/text.ts";
import type { Span } from "../base/trace.ts";
import { VERSION } from "../base/version.ts";
import { waitAtMost } from "../base/wait.ts";
import type { SpanPipeline } from "./opentelemetry.ts";

/** How long the end of a process waits for the collector, ms. */
const LAST_WAIT = 1_000;
const LONGEST_FAULT = 300;

interface SpanSenderPorts {
  clock: Clock;
  log: Log;
  /** This host's full name. */
  host: string;
}

/** Sends spans to the collector that OpenTelemetry's variables name. It never throws, and what it cannot send is lost. */
export class SpanSender {
  readonly #ports: SpanSenderPorts;
  #pipeline: Promise<SpanPipeline | undefined> | undefined;

  /** @returns undefined if the variables name no collector, or disable it */
  static open(
    env: Readonly<Record<string, string | undefined>>,
    ports: SpanSenderPorts,
  ): SpanSender | undefined {
    return isWanted(env) ? new SpanSender(ports) : undefined;
  }

  private constructor(ports: SpanSenderPorts) {
    this.#ports = ports;
  }

  /** Loads the packages, which takes tens of ms. Otherwise, the first spans do. */
  load(): Promise<SpanPipeline | undefined> {
    this.#pipeline ??= this.#open();
    return this.#pipeline;
  }

  /** Sends the spans of one trace. A parent comes before its parts. */
  send(spans: readonly Span[]): void {
    const sending = this.load().then((pipeline) => pipeline?.send(spans));
    sending.catch((error) => this.#reportFault(String(error)));
  }

  /** Waits until everything is sent, at most a second. */
  async close(): Promise<void> {
    const closing = this.#pipeline?.then((pipeline) => pipeline?.close());
    if (closing === undefined) return;
    if (!(await waitAtMost(this.#ports.clock, LAST_WAIT, closing)))
      this.#reportFault("the collector has not answered in time");
  }

  async #open(): Promise<SpanPipeline | undefined> {
    const { host } = this.#ports;
    try {
      const { SpanPipeline } = await import("./opentelemetry.ts");
      return new SpanPipeline({ host, version: VERSION, onFault: (fault) => this.#reportFault(fault) });
    } catch (error) {
      this.#reportFault(String(error));
      return undefined;
    }
  }

  /** Not as a warning: cron would mail it, and the run is not affected. */
  #reportFault(fault: string): void {
    this.#ports.log.info("spans are not sent", { error: clean(fault, LONGEST_FAULT) });
  }
}

/** @see https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
function isWanted(env: Readonly<Record<string, string | undefined>>): boolean {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own } = env;
  const { OTEL_SDK_DISABLED: disabled = "", OTEL_TRACES_EXPORTER: exporters = "" } = env;
  if (!all && !own) return false;
  return disabled.toLowerCase() !== "true" && (exporters === "" || exporters.split(",").includes("otlp"));
}
