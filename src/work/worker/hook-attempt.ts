import type { Random } from "../../base/random.ts";
import { quoted } from "../../base/text.ts";
import type { Hook } from "../../schedule/definition.ts";
import { type HookFault, post } from "./hook-call.ts";
import { type HookCommandPorts, runHook } from "./hook-command.ts";
import { type HookWord, hookUrl } from "./hook-word.ts";

export interface AttemptPorts extends HookCommandPorts {
  random: Random;
}

export interface AttemptLimits {
  /** ms of one attempt. */
  within: number;
  /** Gives it up. */
  signal: AbortSignal;
}

/** Before the second attempt, ms, and half as much again at most. */
const PAUSE = 1_000;

/**
 * Calls a hook. An address that does not answer, or answers that it cannot now, is tried once more; a command is not, since it
 * may have done half of its work.
 * @returns what went wrong at last. Never rejects
 */
export async function callHook(
  ports: AttemptPorts,
  hook: Hook,
  word: HookWord,
  limits: AttemptLimits,
): Promise<string | undefined> {
  try {
    const first = await attempt(ports, hook, word, limits);
    if (first?.mayPass !== true) return first?.fault;
    await ports.clock.sleep(PAUSE * (1 + ports.random.unit() / 2), limits.signal);
    return (await attempt(ports, hook, word, limits))?.fault;
  } catch (error) {
    return (error as Error).message;
  }
}

async function attempt(
  ports: AttemptPorts,
  hook: Hook,
  word: HookWord,
  limits: AttemptLimits,
): Promise<HookFault | undefined> {
  limits.signal.throwIfAborted();
  if (typeof hook !== "string") return await runHook(ports, hook, word, limits);
  const url = hookUrl(hook, word.event);
  if (url === undefined) return { fault: "it is neither an http nor an https address", mayPass: false };
  return await post(url, JSON.stringify(word), limits);
}

/** A hook for the log. Never the path of an address: that is often all its secret. */
export function hookText(hook: Hook): string {
  if (typeof hook !== "string") return quoted(hook[0] ?? "");
  return URL.parse(hook.replaceAll("{event}", ""))?.host ?? "no address";
}
