import { SignalboxError } from "../../base/errors.ts";
import { quoteText } from "../../base/text.ts";
import { StoreError } from "../../etcd/store.ts";
import type { RunRequest } from "../../run/request.ts";
import { type RunResult, run } from "../../run/run.ts";
import { explainError } from "../explain-error.ts";
import type { CommandIo } from "../spec.ts";
import { withOpenRun } from "./open-run.ts";
import type { RunInvocation } from "./run-invocation.ts";

/** Runs the command to its end. @throws SignalboxError or StoreError if the command was not run */
export async function executeRun(invocation: RunInvocation, io: CommandIo): Promise<RunResult> {
  return await withOpenRun(invocation, io, async (ports, request) => {
    try {
      const early = invocation.checkFirst && (await invocation.checkFirst(ports, request));
      if (early !== undefined) return early;
      const running = run(ports, request);
      // After the guardian starts, and while etcd answers: reading the kernel's files takes half a millisecond.
      setImmediate(() => ports.describeHost?.(ports.clock.getWallTime()));
      return await running;
    } catch (error) {
      throw error instanceof StoreError ? toNotStarted(error, request) : error;
    }
  });
}

/** Adds the job to the message, because cron mails the message alone. */
function toNotStarted(cause: StoreError, { lock, identity }: RunRequest): SignalboxError {
  const { exitCode, message } = explainError(cause);
  const job = lock === undefined ? `command ${quoteText(identity.command)}` : `lock ${quoteText(lock)}`;
  return new SignalboxError(exitCode, `${job}: the command was not started: ${message}`, { cause });
}
