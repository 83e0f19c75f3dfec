import type { HostRecord } from "../../fleet/host-record.ts";
import { THRESHOLDS } from "../problems/problem.ts";
import type { HostActivity } from "../rows/host-activity.ts";
import type { Tone } from "../views/view.ts";

/** What shows that a host is or was alive. */
export interface HostSigns extends HostActivity {
  record: HostRecord | undefined;
}

/** `silent`: it does nothing, and has written nothing for a day. `unknown`: it has never written anything. */
export type HostState = "busy" | "waiting" | "idle" | "silent" | "unknown";

/** Determines the state of a host from its signs. @param wall  wall clock, ms since the epoch */
export function judgeHostState(signs: HostSigns, wall: number): HostState {
  const { held, waiting, writtenAt } = signs;
  if (held > 0) return "busy";
  if (waiting > 0) return "waiting";
  if (writtenAt === undefined) return "unknown";
  return wall - writtenAt > THRESHOLDS.host ? "silent" : "idle";
}

const TONES: Readonly<Record<HostState, Tone>> = {
  busy: "held",
  waiting: "waiting",
  idle: "free",
  silent: "waiting",
  unknown: "quiet",
};

export function getHostTone(state: HostState): Tone {
  return TONES[state];
}
