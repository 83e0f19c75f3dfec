import type { Definition } from "../../schedule/definition.ts";
import type { Outcome } from "../../schedule/outcome.ts";
import type { ClockState } from "../../schedule/worker-record.ts";

/** What a worker tells whoever counts, logs or calls hooks. `late` in ms. */
export type WorkerEvent =
  /** It has a session, has read everything, and takes what is due from now on, under this id. */
  | { kind: "joined"; worker: string }
  /** Its session is over. `reason`: undefined where it left of its own will. */
  | { kind: "left"; worker: string; reason?: string }
  | {
      kind: "started";
      id: string;
      type: string;
      definition: Definition;
      scheduled: number;
      late: number;
      run: string;
      attempt: number;
    }
  /** `again`: ms since the epoch of its next start, where it is tried again. `isDead`: it was given up. */
  | {
      kind: "ended";
      id: string;
      type: string;
      definition: Definition;
      outcome: Outcome;
      again?: number;
      isDead: boolean;
    }
  /** Occurrences that were missed and are not made up for. */
  | { kind: "skipped"; id: string; type: string; definition: Definition; outcome: Outcome }
  /** No handler of this worker knows the type. Told once a type. */
  | { kind: "unknown"; id: string; type: string }
  /** `skew`: ms, positive where this clock is ahead of the others. */
  | { kind: "clock"; state: ClockState; skew: number }
  /** How many tasks run now, of how many at most; and held leases in units. */
  | { kind: "load"; running: number; concurrency: number };

export type WorkerListener = (event: WorkerEvent) => void;
