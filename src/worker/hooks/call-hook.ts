import { quoteText } from "../../base/text.ts";
import type { Hook } from "../../schedule/definition-values.ts";
import { parseHookAddress } from "../../schedule/hook-address.ts";
import { type HookPorts, runHookCommand } from "./hook-command.ts";
import type { HookPayload } from "./hook-payload.ts";
import { buildHookMessage, type HookFault, postHook } from "./post-hook.ts";

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
  const message = buildHookMessage(hook, payload);
  if ("fault" in message) return { fault: message.fault, canRetry: false };
  return message.kind === "command"
    ? await runHookCommand(ports, message, payload, limits)
    : await postHook(message, limits);
}

/** Formats a hook for the log. Omits the path of a URL, which often contains a secret. */
export function formatHook(hook: Hook): string {
  if (typeof hook !== "string") return quoteText(hook[0] ?? "");
  const address = parseHookAddress(hook.replaceAll("{event}", ""));
  if (address === undefined) return "no address";
  return address.format === "mail" ? "mail" : new URL(address.url).host;
}
