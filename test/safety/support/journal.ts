/** What the commands of a test wrote themselves, and what it says about who ran beside whom. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PATIENCE } from "../../../fixtures/steady.ts";
import { until } from "./until.ts";

/** One line of the journal. Lines are appended by single writes, so their order is that of the events themselves. */
export interface Line {
  what: "start" | "beat" | "end";
  name: string;
  token: bigint;
  units: number;
  pid: number;
  /** Seconds since boot, for the reader of a timeline. */
  uptime: number;
}

export class Journal {
  readonly folder = mkdtempSync(join(tmpdir(), "signalbox-safety-"));
  readonly path = join(this.folder, "journal");

  lines(): Line[] {
    return read(this.path).split("\n").filter(Boolean).map(parse);
  }

  of(name: string, what: Line["what"]): Line | undefined {
    return this.lines().find((line) => line.name === name && line.what === what);
  }

  /** Resolves with the line once it is there. @throws Error with the timeline when it does not come */
  async seen(name: string, what: Line["what"], ms = PATIENCE): Promise<Line> {
    return await until(`${name} ${what}`, () => this.of(name, what), { ms, tell: () => this.timeline() });
  }

  starts(): Line[] {
    return this.lines().filter(({ what }) => what === "start");
  }

  /** The journal for people; signs of life in a row are one line. */
  timeline(): string {
    const told = this.lines().filter(
      ({ what, name }, i, all) => what !== "beat" || all[i + 1]?.name !== name || all[i + 1]?.what !== what,
    );
    const lines = told.map(
      ({ what, name, token, units, uptime }) =>
        `${uptime.toFixed(2)} ${name} ${what}, token ${token}, ${units} units`,
    );
    return ["timeline (s since boot):", ...lines].join("\n");
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

function parse(text: string): Line {
  const [what = "", name = "", token = "", units = "", pid = "", uptime = ""] = text.split(" ");
  return {
    what: what as Line["what"],
    name,
    token: BigInt(token),
    units: Number(units),
    pid: Number(pid),
    uptime: Number(uptime),
  };
}

/**
 * Starts at which more units than there are were in use. A command uses its units from its start to its end, or to
 * its last sign of life where it was killed.
 */
export function overfull(lines: readonly Line[], total: number): string[] {
  const last = new Map(lines.map(({ name }, index) => [name, index]));
  const users = new Map<string, number>();
  return lines.flatMap(({ what, name, units }, index) => {
    if (what === "start") users.set(name, units);
    const used = [...users.values()].reduce((sum, one) => sum + one, 0);
    const together = [...users.keys()].join(", ");
    if (last.get(name) === index) users.delete(name);
    return what === "start" && used > total ? [`${used} of ${total} units used by ${together}`] : [];
  });
}

/** Starts whose token is not larger than that of the start before. */
export function fallingTokens(starts: readonly Line[]): string[] {
  return starts.flatMap(({ name, token }, index) => {
    const before = starts[index - 1];
    return before && token <= before.token
      ? [`${name} got token ${token} after ${before.name} had ${before.token}`]
      : [];
  });
}
