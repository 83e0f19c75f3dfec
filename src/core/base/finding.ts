/**
 * The result level of a check. `hint`: nothing is wrong, but the user may want to know. `unknown`: the check could not
 * run.
 */
export type FindingLevel = "ok" | "hint" | "warning" | "unknown" | "failure";

/** The result of one check. Its texts may contain other people's input and are not cleaned. */
export interface Finding {
  /** The kind of thing checked, for programs: `member`, `quorum`, `orphan`. */
  kind: string;
  /** Distinguishes the faults of one kind and stays the same between versions: `member-away`. Default: the kind. */
  id?: string;
  /** The thing checked, for people: `member http://etcd1:2379`. */
  check: string;
  level: FindingLevel;
  detail: string;
  remedy?: string;
  /** A failure that a site can want. The user can accept it, like a warning. */
  canBeIntended?: true;
  /** The user has accepted it. It does not count. */
  isAccepted?: true;
}

export function getFindingId({ id, kind }: Finding): string {
  return id ?? kind;
}

/** Returns the worst level of the findings. What is accepted counts as a hint. */
export function computeFindingsLevel(findings: readonly Finding[]): FindingLevel {
  return computeWorstLevel(findings.map(({ level, isAccepted }) => (isAccepted ? "hint" : level)));
}

/** Levels from best to worst. */
const LEVEL_ORDER: readonly FindingLevel[] = ["ok", "hint", "warning", "unknown", "failure"];

/** Returns the worst of the levels, or `ok` if there are none. */
export function computeWorstLevel(levels: Iterable<FindingLevel>): FindingLevel {
  let index = 0;
  for (const level of levels) index = Math.max(index, LEVEL_ORDER.indexOf(level));
  return LEVEL_ORDER[index] ?? "ok";
}

/** Creates functions that build findings about one thing, one for each level. @param check  default: the kind */
export function createFindingBuilder(
  kind: string,
  check = kind,
): Readonly<Record<FindingLevel, (detail: string, remedy?: string) => Finding>> {
  const createBuilder =
    (level: FindingLevel) =>
    (detail: string, remedy?: string): Finding => ({
      kind,
      check,
      level,
      detail,
      ...(remedy !== undefined && { remedy }),
    });
  return {
    ok: createBuilder("ok"),
    hint: createBuilder("hint"),
    warning: createBuilder("warning"),
    unknown: createBuilder("unknown"),
    failure: createBuilder("failure"),
  };
}
