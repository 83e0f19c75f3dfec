import type { Finding } from "../../base/finding.ts";
import type { MemberStatus, StoreError } from "../../etcd/store.ts";

export type TransportName = "http" | "grpc";

/** How the members answered over a transport; an error where it could not even be tried. */
export type Trial = readonly MemberStatus[] | Error;

/** Which transport works, and whether it is the one that runs take. */
export interface TransportVerdict {
  finding: Finding | undefined;
  /** The one to go on with. */
  use: TransportName;
}

/**
 * Compares what both transports came to.
 * @param setting  `auto`, `http` or `grpc`, as configured; `chosen`: what it comes to
 */
export function judgeTransport(
  setting: string,
  chosen: TransportName,
  trials: Record<TransportName, Trial>,
): TransportVerdict {
  const other = chosen === "http" ? "grpc" : "http";
  const name = setting === chosen ? chosen : `${chosen} (${setting})`;
  const about = { kind: "transport", check: "transport" };
  if (answers(trials[chosen]) > 0) return { finding: partly(name, chosen, other, trials), use: chosen };
  if (answers(trials[other]) === 0) return { finding: undefined, use: chosen }; // the members are away, not the transport
  const why = reason(trials[chosen]);
  return {
    use: other,
    finding: {
      ...{ ...about, level: "failure", detail: `${name} does not work, ${other} does: ${why}` },
      remedy: `set transport to ${other}: no run finds etcd without it`,
    },
  };
}

/** The chosen one works, with some members at least. */
function partly(
  name: string,
  chosen: TransportName,
  other: TransportName,
  trials: Record<TransportName, Trial>,
): Finding {
  const about = { kind: "transport", check: "transport" };
  const better = answers(trials[other]) > answers(trials[chosen]);
  if (better)
    return {
      ...{ ...about, level: "warning" },
      detail: `${name} reaches ${answers(trials[chosen])} members, ${other} ${answers(trials[other])}: ${reason(trials[chosen])}`,
      remedy: `set transport to ${other}, or turn the gateway on everywhere`,
    };
  const isSame = answers(trials[other]) > 0;
  return {
    ...about,
    level: "ok",
    detail: `${name} works; ${other} ${isSame ? "works too" : `does not: ${reason(trials[other])}`}`,
  };
}

function answers(trial: Trial): number {
  return trial instanceof Error ? 0 : trial.filter(({ ok }) => ok).length;
}

function reason(trial: Trial): string {
  if (trial instanceof Error) return trial.message;
  const errors = trial.flatMap((member): StoreError[] => (member.ok ? [] : [member.error]));
  return errors[0]?.message ?? "no member is configured";
}
