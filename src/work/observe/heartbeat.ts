import type { ObserverPorts } from "./ports.ts";

export type Beat =
  | { kind: "answer"; ms: number; revision: bigint; leader: string | undefined; up: number; total: number; version: string | undefined }
  | { kind: "silence"; since: number };

export async function* heartbeat(ports: ObserverPorts, signal: AbortSignal): AsyncGenerator<Beat, never> {
  let since: number | undefined;
  for (;;) {
    const start = ports.clock.now();
    const limit = AbortSignal.any([signal, AbortSignal.timeout(1500)]);
    try {
      const { revision } = await ports.store.range({ op: "range", key: ports.keys.prefix, limit: 1 } as never, limit);
      const ms = ports.clock.now() - start;
      const members = await ports.store.status(limit).catch(() => []);
      const up = members.filter(({ ok }) => ok).length;
      since = undefined;
      const [first] = members;
      yield { kind: "answer", ms, revision, leader: undefined, up, total: members.length, version: first?.ok ? first.version : undefined };
    } catch {
      signal.throwIfAborted();
      since ??= ports.clock.wall();
      yield { kind: "silence", since };
    }
    await ports.clock.sleep(1500, signal);
  }
}
