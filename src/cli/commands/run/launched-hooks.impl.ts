import { Socket } from "node:net";
import { waitAtMost } from "../../../core/base/clock.ts";
import { EXIT } from "../../../core/base/errors.ts";
import { isJsonObject, parseJson } from "../../../core/base/parse-json.ts";
import { pickDefined } from "../../../core/base/pick-defined.ts";
import { resolveConfig } from "../../../core/config/config.ts";
import { createRealClock } from "../../../core/process/clock.ts";
import { attachCopies } from "../../../core/process/guarded-command/output-copies.ts";
import { realRandom } from "../../../core/process/random.ts";
import { OutputTail } from "../../../site/output/output-keeper.ts";
import type { Call, CommandIo } from "../../frame/command.ts";
import { buildLogOptions } from "../../frame/connect.ts";
import { openLog } from "../../frame/logging.ts";
import { LAST_OUTPUT_MS } from "./extended-run.impl.ts";
import { HookCaller, type HookedEnd, type HookedRun, parseRunHooks } from "./hook-caller.ts";
import type { RunFlags } from "./run.ts";
import { SpooledOutput } from "./spooled-output.ts";

/** What a launcher says about the hooks to call. */
interface HookOrder {
  /** Of the process that it has made for this. */
  pid: number;
  run: HookedRun;
  /** Null: the command has started. Of the other fields, a launcher knows only the code if its agent has ended. */
  end: HookedEnd | null;
  /** Descriptors of the files with the output that was held back. -1: there is none. */
  files?: readonly [stdout: number, stderr: number];
  /** Descriptors of the sockets on which relays send the end of the output. -1: there is none. */
  copies?: readonly [stdout: number, stderr: number];
}

/**
 * Calls the hooks of a run that an agent serves, for its launcher. The claim is free by then, and the launcher has the exit code.
 * @returns false if the order is for another process, from which this one has inherited the variable
 */
export async function callLaunchedHooks(text: string, call: Call<RunFlags>, io: CommandIo): Promise<boolean> {
  const order = parseJson(text);
  if (!isJsonObject(order) || order.pid !== process.pid) return false;
  const { run, end, files, copies = [] } = order as unknown as HookOrder;
  const { values } = resolveConfig({ flags: call.settings, env: io.env });
  const clock = createRealClock();
  const { locks = [], host } = run;
  const context = { host, run: run.run, lock: locks.length === 0 ? undefined : locks.join(",") };
  const log = openLog({ ...buildLogOptions(call, values), context }, clock.getWallTime);
  const caller = new HookCaller(parseRunHooks(call.flags), { clock, random: realRandom, log }, io);
  if (end === null) {
    await caller.callStart(run, new AbortController().signal);
    return true;
  }
  const copied = new CopiedTail(copies);
  await waitAtMost(clock, LAST_OUTPUT_MS, copied.passed);
  const tail = files === undefined ? copied.render() : new SpooledOutput(files, io, log).readTail();
  await caller.callEnd(run, { ...describeUnknownEnd(end.code), ...end, ...pickDefined({ tail }) });
  await copied.passed;
  return true;
}

function describeUnknownEnd(code: number): Pick<HookedEnd, "result" | "endedAt"> {
  const failed = code === EXIT.lost ? "lost" : "failed";
  return { result: code === 0 ? "ok" : failed, endedAt: createRealClock().getWallTime() };
}

/** The end of the output that passes through relays. */
class CopiedTail {
  readonly #tail = new OutputTail();
  /** Resolves when all output has passed to the caller. */
  readonly passed: Promise<void>;

  constructor(descriptors: readonly number[]) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.passed = promise;
    const sockets = descriptors.filter((fd) => fd >= 0).map((fd) => new Socket({ fd }));
    attachCopies(sockets, {
      onOpen: (finish) => finish(),
      onCopy: (chunk) => this.#tail.take(chunk),
      onEnd: resolve,
    });
  }

  render(): string | undefined {
    return this.#tail.render();
  }
}
