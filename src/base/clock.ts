/** The clock of a process, as the rules need it: pure rooms get instants as numbers, shells get this port. */
export interface Clock {
  /** Milliseconds that never go back and go on while the machine is suspended. Origin arbitrary. */
  now(): number;
  /** Wall clock, milliseconds since the epoch. For display and `until` only, never for the horizon. */
  wall(): number;
  /** Resolves after `ms`; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
