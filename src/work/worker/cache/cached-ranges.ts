import type { Keys } from "../../../protocol/keys.ts";
import type { KeyRange } from "../../../protocol/txn.ts";

/** Lists what a worker caches. Excludes outcomes, the largest values. */
export function listCachedRanges(keys: Keys): Required<KeyRange>[] {
  return [
    keys.calendars(),
    keys.groups(),
    keys.schemas(),
    keys.drains(),
    keys.dues(),
    keys.runnings(),
    keys.schedules(),
    keys.workers(),
  ];
}

/**
 * Lists what a worker watches. Neighbouring ranges are merged, because the watch keeps the order only within one range,
 * and each range costs etcd a watcher.
 */
export function listWatchedRanges(keys: Keys): Required<KeyRange>[] {
  return [
    { key: keys.calendars().key, rangeEnd: keys.schemas().rangeEnd },
    { key: keys.drains().key, rangeEnd: keys.dues().rangeEnd },
    { key: keys.runnings().key, rangeEnd: keys.workers().rangeEnd },
  ];
}
