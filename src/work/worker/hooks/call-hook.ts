import { quoteText } from "../../../base/text.ts";
import type { Hook } from "../../../schedule/definition-values.ts";
import { type HookPorts, runHookCommand } from "./hook-command.ts";
import { type HookPayload, parseHookUrl } from "./hook-payload.ts";
import { type HookFault, postHook } from "./post-hook.ts";

interface HookCallLimits {
  /** Limit of one attempt, ms. */
  within: number;
  /** Aborts the call. */
  signal: AbortSignal;
}

/** Pause before the second attempt, ms; up to half of it is added at random. */
const PAUSE = 1_000;

/**
 * Calls a hook. Retries a URL once if it does not answer, or if its status allows a retry. Does not retry a command: it
 * may have done half of its work.
 * @returns the error of the last attempt, undefined on success. Never rejects
 */
export async function callHook(
  ports: HookPorts,
  hook: Hook,
  payload: HookPayload,
  limits: HookCallLimits,
): Promise<string | undefined> {
  try {
    const first = await attemptCall(ports, hook, payload, limits);
    if (first?.canRetry !== true) return first?.fault;
    await ports.clock.sleep(PAUSE * (1 + ports.random.generateFraction() / 2), limits.signal);
    return (await attemptCall(ports, hook, payload, limits))?.fault;
  } catch (error) {
    return (error as Error).message;
  }
}

async function attemptCall(
  ports: HookPorts,
  hook: Hook,
  payload: HookPayload,
  limits: HookCallLimits,
): Promise<HookFault | undefined> {
  limits.signal.throwIfAborted();
  if (typeof hook !== "string") return await runHookCommand(ports, hook, payload, limits);
  const url = parseHookUrl(hook, payload.event);
  if (url === undefined) return { fault: "it is neither an http nor an https address", canRetry: false };
  return await postHook(url, JSON.stringify(payload), limits);
}

/** Formats a hook for the log. Omits the path of a URL, which often contains a secret. */
export function formatHook(hook: Hook): string {
  if (typeof hook !== "string") return quoteText(hook[0] ?? "");
  return URL.parse(hook.replaceAll("{event}", ""))?.host ?? "no address";
}
