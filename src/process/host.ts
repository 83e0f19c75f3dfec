import type { Clock } from "../base/clock.ts";
import type { CommandHost } from "./command.ts";
import { locateGuardian } from "./locate.ts";

/**
 * Real commands under real guardians.
 * @param guardian path of the binary; by default the one that was built with this program
 * @throws SignalboxError from `prepare`: 78 when there is no working guardian, 126 when the arguments are too long
 */
export function guardianHost(clock: Clock, guardian?: string): CommandHost {
  return {
    async prepare(spec) {
      // What the caller has begun meanwhile goes first: loading and spawning take 6 ms, in which etcd can answer.
      await new Promise((resolve) => setImmediate(resolve));
      const { Guarded } = await import("./guarded.ts");
      const guarded = new Guarded(guardian ?? locateGuardian(), spec, clock);
      await guarded.ready;
      return guarded;
    },
  };
}
