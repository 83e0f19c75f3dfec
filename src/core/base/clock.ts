/** The clock of a process. Pure modules take times as numbers; modules with input or output use this port. */
export interface Clock {
  /** Monotonic milliseconds, which also count while the machine is suspended. The origin is arbitrary. */
  now(): number;
  /**
   * Wall clock, milliseconds since the epoch. Used for display and `until`. For the horizon, a jump of this clock is
   * only a hint.
   */
  getWallTime(): number;
  /** Resolves after `ms`. Rejects with the signal's reason as soon as the signal is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}
