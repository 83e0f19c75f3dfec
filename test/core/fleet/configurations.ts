import fc from "fast-check";
import {
  type Configuration,
  normalizeMembers,
  normalizeResource,
} from "../../../src/core/fleet/configuration.ts";
import { usableName } from "../protocol/samples.ts";

export const EMPTY_CONFIGURATION: Configuration = { groups: new Map(), resources: new Map() };

const members = fc.array(usableName, { maxLength: 5 }).map(normalizeMembers);

const resource = fc
  .record(
    {
      total: fc.oneof(
        fc.integer({ min: 1, max: 1e9 }).map(String),
        fc.constantFrom("CPU", "int(MEMMB/1024)"),
      ),
      order: fc.integer({ min: -1e9, max: 1e9 }),
      note: fc.string({ unit: "grapheme", maxLength: 20 }),
    },
    { requiredKeys: [] },
  )
  .map(normalizeResource);

/** A map of few things, whose names may be any. */
function named<T>(value: fc.Arbitrary<T>): fc.Arbitrary<ReadonlyMap<string, T>> {
  const name = fc.oneof(fc.constantFrom("web", "db", "all", "__proto__", "10", "9"), usableName);
  return fc.array(fc.tuple(name, value), { maxLength: 6 }).map((entries) => new Map(entries));
}

/** Every configuration there can be. */
export const anyConfiguration: fc.Arbitrary<Configuration> = fc.record({
  groups: named(members),
  resources: named(resource),
});
