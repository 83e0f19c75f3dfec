import type { Finding } from "../../../base/finding.ts";
import { getFindingId } from "../../../base/finding.ts";
import type { FlagTable } from "../../declare-command.ts";

export const ACCEPT_FLAG: FlagTable = {
  "--accept ID[=CHECK]": {
    isRepeatable: true,
    help:
      "ignore a known warning: by its id, as authentication, or for one thing only, as 'clock=clock of web1'." +
      " --json prints the ids. Failures are never ignored",
  },
};

/** Marks warnings that the user accepts, and records which values of `--accept` matched no warning. */
export class AcceptedWarnings {
  readonly #words: readonly { text: string; id: string; check: string | undefined }[];
  readonly #used = new Set<string>();

  /** @param words  each is an id, or an id, `=` and the text before the colon of the warning */
  constructor(words: readonly string[]) {
    this.#words = words.map((text) => {
      const [, id = text, check] = /^([^=]*)=(.*)$/s.exec(text) ?? [];
      return { text, id, check };
    });
  }

  mark(findings: readonly Finding[]): Finding[] {
    return findings.map((finding) => {
      if (finding.level !== "warning") return finding;
      const words = this.#words.filter(({ id, check }) => isAbout(finding, id, check));
      for (const { text } of words) this.#used.add(text);
      return words.length === 0 ? finding : { ...finding, isAccepted: true };
    });
  }

  /** Lists values of `--accept` that matched nothing: a misspelled id, or a warning that no longer occurs. */
  listUnused(): Finding[] {
    const left = this.#words.filter(({ text }) => !this.#used.has(text));
    return left.map(({ text }) => ({
      kind: "accept",
      check: `--accept ${text}`,
      level: "hint",
      detail: "matches no warning now",
    }));
  }
}

function isAbout(finding: Finding, id: string, check: string | undefined): boolean {
  return getFindingId(finding) === id && (check === undefined || finding.check === check);
}
