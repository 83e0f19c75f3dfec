/** A prepared command that solves a problem. In the console, Enter opens it as a form with a preview. */
export interface Remedy {
  /** Command id, for example `schedule trigger`. */
  command: string;
  args: readonly string[];
  flags?: Readonly<Record<string, string | true>>;
}
