/** The ids of the schedules that each schedule follows, by its id. */
export type ChainGraph = ReadonlyMap<string, readonly string[]>;

/**
 * Finds a cycle of schedules that follow each other.
 * @returns the ids along the cycle, from `start` back to `start`; undefined if there is none
 */
export function findChainCycle(graph: ChainGraph, start: string): string[] | undefined {
  const seen = new Set<string>();
  const paths: string[][] = [[start]];
  for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
    for (const next of graph.get(path.at(-1) ?? "") ?? []) {
      if (next === start) return [...path, next];
      if (!seen.has(next)) paths.push([...path, next]);
      seen.add(next);
    }
  }
  return undefined;
}

/** Returns the ids of the schedules that follow each schedule, by its id. */
export function invertGraph(graph: ChainGraph): Map<string, string[]> {
  const followers = new Map<string, string[]>();
  for (const [id, before] of graph)
    for (const one of before) {
      const list = followers.get(one);
      if (list === undefined) followers.set(one, [id]);
      else list.push(id);
    }
  for (const list of followers.values()) list.sort();
  return followers;
}

/** Lists a schedule and all that come before it or after it, directly or through others. */
export function listConnected(graph: ChainGraph, id: string): Set<string> {
  return new Set([...listReachable(graph, id), ...listReachable(invertGraph(graph), id)]);
}

function listReachable(graph: ChainGraph, id: string): Set<string> {
  const found = new Set([id]);
  for (const one of found) for (const next of graph.get(one) ?? []) found.add(next);
  return found;
}
