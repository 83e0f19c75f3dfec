import { PATIENCE, startStopwatch } from "../../../fixtures/steady.ts";

/** Waits for something to hold, looking often. @throws Error naming it, with what `tell` says, when it takes too long */
export async function until<T>(
  what: string,
  holds: () => T | undefined | false | Promise<T | undefined | false>,
  { ms = PATIENCE, tell = () => "" }: { ms?: number; tell?: () => string } = {},
): Promise<T> {
  const waited = startStopwatch();
  for (;;) {
    const value = await holds();
    if (value !== undefined && value !== false) return value;
    if (waited() > ms) throw new Error(`not within ${ms} ms: ${what}\n${tell()}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
