import { createFindingBuilder, type Finding } from "../base/finding.ts";
import type { MemberStatus, StoreError } from "../etcd/store.ts";
import { countPresent } from "../state/etcd-findings.ts";

export type TransportName = "http" | "grpc";

/** The answers of the members over a transport; an error when the transport could not be tried. */
export type TransportTrial = readonly MemberStatus[] | Error;

/** The transport that works, and whether it is the one that runs use. */
export interface TransportVerdict {
  finding: Finding | undefined;
  /** The transport to continue with. */
  use: TransportName;
}

/**
 * Compares the results of both transports.
 * @param setting  `auto`, `http` or `grpc`, as configured
 * @param chosen  the transport that the setting selects
 */
export function judgeTransport(
  setting: string,
  chosen: TransportName,
  trials: Record<TransportName, TransportTrial>,
): TransportVerdict {
  const other = chosen === "http" ? "grpc" : "http";
  const name = setting === chosen ? chosen : `${chosen} (${setting})`;
  const about = createFindingBuilder("transport");
  if (countAnswers(trials[chosen]) > 0)
    return { finding: judgeChosenTransport(name, chosen, other, trials), use: chosen };
  if (countAnswers(trials[other]) === 0) return { finding: undefined, use: chosen }; // members are unavailable
  const why = describeFailure(trials[chosen]);
  return {
    use: other,
    finding: about.failure(
      `${name} does not work, ${other} does: ${why}`,
      `set transport to ${other}: without it, no run reaches etcd`,
    ),
  };
}

/** Reports a chosen transport that works with at least some members. */
function judgeChosenTransport(
  name: string,
  chosen: TransportName,
  other: TransportName,
  trials: Record<TransportName, TransportTrial>,
): Finding {
  const about = createFindingBuilder("transport");
  const better = countAnswers(trials[other]) > countAnswers(trials[chosen]);
  if (better)
    return about.warning(
      `${name} reaches ${countAnswers(trials[chosen])} members, ${other} ${countAnswers(trials[other])}: ${describeFailure(trials[chosen])}`,
      `set transport to ${other}, or turn the gateway on everywhere`,
    );
  const isSame = countAnswers(trials[other]) > 0;
  return about.ok(
    `${name} works; ${other} ${isSame ? "works too" : `does not: ${describeFailure(trials[other])}`}`,
  );
}

function countAnswers(trial: TransportTrial): number {
  return trial instanceof Error ? 0 : countPresent(trial);
}

function describeFailure(trial: TransportTrial): string {
  if (trial instanceof Error) return trial.message;
  const errors = trial.flatMap((member): StoreError[] => (member.ok ? [] : [member.error]));
  return errors[0]?.message ?? "no member is configured";
}
