import { describe, expect, test } from "vitest";
import { createTicket, keys } from "../../../fixtures/protocol/samples.ts";
import { createKeyValue } from "../../../fixtures/state/sample-snapshots.ts";
import { serializeTicket, toQueueEntry } from "../../../src/core/protocol/ticket.ts";
import { SharedValues } from "../../../src/site/state/snapshot-builder.ts";

const buildEntry = (run: string, host: string, inKey = run) =>
  toQueueEntry(createKeyValue(keys.lock("a", inKey), serializeTicket(createTicket({ run, host }))));

describe("SharedValues", () => {
  test("changes nothing that can be seen", () => {
    const values = new SharedValues();
    for (const run of ["aaaaaaaaaaaa", "bbbbbbbbbbbb"])
      expect(values.share(buildEntry(run, "web1"))).toEqual(buildEntry(run, "web1"));
  });

  test("keeps the id of the key if the ticket states another run", () => {
    const entry = new SharedValues().share(buildEntry("aaaaaaaaaaaa", "web1", "cccccccccccc"));
    expect(entry.run).toBe("cccccccccccc");
  });

  test("leaves an entry that cannot be read as it is", () => {
    const entry = { ...buildEntry("aaaaaaaaaaaa", "web1"), ticket: undefined };
    expect(new SharedValues().share(entry)).toEqual(entry);
  });

  test("forgets when there are too many texts, and still answers", () => {
    const values = new SharedValues();
    const hosts = Array.from({ length: 25_000 }, (_, at) => `web${at}`);
    const shared = hosts.map((host) => values.share(buildEntry("aaaaaaaaaaaa", host)).ticket?.host);
    expect(shared).toEqual(hosts);
  });
});
