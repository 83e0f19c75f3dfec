import { changeLine, changesBetween } from "../../fleet/changes.ts";
import { claimLine } from "../foresight-text.ts";
import type { Picture } from "../picture.ts";
import { configurationOf } from "./configuration.ts";
import type { Hit } from "./hit.ts";

/** Runs that are spelled out; of more, only how many they are. */
const MANY = 8;

/**
 * Whom a change of the configuration hits, in lines for people. Texts from etcd are not cleaned.
 * @param wall  wall clock, ms since the epoch
 */
export function hitLines(hits: readonly Hit[], wall: number): string[] {
  return (["ended", "leaves", "perhaps"] as const).flatMap((fate) => {
    const those = hits.filter((hit) => hit.fate === fate);
    const word = { ended: "ends", leaves: "evicts", perhaps: "may evict" }[fate];
    const lines = those
      .slice(0, MANY)
      .map(({ claim, why }) => `${word.padEnd(9)} ${claimLine(claim, wall)}: ${why}`);
    return those.length > MANY ? [...lines, `${word.padEnd(9)} and ${those.length - MANY} more`] : lines;
  });
}

/** How many it hits, for a question: `ends 2 running commands, evicts 1 waiting run`; empty where it hits nobody. */
export function hitCount(hits: readonly Hit[]): string {
  const count = (fate: Hit["fate"]) => hits.filter((hit) => hit.fate === fate).length;
  const [ended, leaving, perhaps] = [count("ended"), count("leaves"), count("perhaps")];
  return [
    ...(ended > 0 ? [`ends ${plural(ended, "running command")}`] : []),
    ...(leaving > 0 ? [`evicts ${plural(leaving, "waiting run")}`] : []),
    ...(perhaps > 0 ? [`may evict ${plural(perhaps, "waiting run")}`] : []),
  ].join(", ");
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/**
 * What has become of the configuration between two looks, one line each; also of what was changed and changed back.
 * @param concerns  which names are asked for
 */
export function movedLines(
  then: Pick<Picture, "groups" | "resources">,
  now: Pick<Picture, "groups" | "resources">,
  concerns: (kind: "group" | "resource", name: string) => boolean,
): string[] {
  const current = configurationOf(now);
  const changes = changesBetween(configurationOf(then), current).filter(({ kind, name }) =>
    concerns(kind, name),
  );
  const told = new Set(changes.map(({ kind, name }) => `${kind} ${name}`));
  const rewritten = (["group", "resource"] as const).flatMap((kind) => {
    const [before, after] = [kept(then, kind), kept(now, kind)];
    const names = [...new Set([...before.keys(), ...after.keys()])];
    return names
      .filter(
        (name) => before.get(name)?.modRevision !== after.get(name)?.modRevision && concerns(kind, name),
      )
      .map((name) => `${kind} ${name}`)
      .filter((what) => !told.has(what))
      .map((what) => `${what} was written again`);
  });
  return [...changes.map((change) => changeLine(change, current.groups)), ...rewritten];
}

function kept(
  picture: Pick<Picture, "groups" | "resources">,
  kind: "group" | "resource",
): ReadonlyMap<string, { modRevision: bigint }> {
  return kind === "group" ? picture.groups : picture.resources;
}
