/** A run of the page's job, as the job itself has recorded it. */
export interface JobRun {
  host: string;
  /** In milliseconds since 1970. */
  start: number;
  /** Undefined while it runs, and if it was killed. */
  end: number | undefined;
}

/** Reads the file to which the job of a host writes `start TIME` and `end TIME`. */
export function readJobRuns(host: string, text: string): JobRun[] {
  const runs: JobRun[] = [];
  for (const [, word, time = ""] of text.matchAll(/^(start|end) (\S+)\n/gm)) {
    const at = Date.parse(time);
    const last = runs.at(-1);
    if (word === "start") runs.push({ host, start: at, end: undefined });
    else if (last !== undefined && last.end === undefined) last.end = at;
    else throw new Error(`${host}: an end without a start:\n${text}`);
  }
  return runs;
}
