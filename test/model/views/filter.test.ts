/** Which rows a filter lets pass. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { VIEWS } from "../../../src/model/tables/index.ts";
import { isFilterMatch, parseRowFilter } from "../../../src/model/views/filter.ts";
import { buildViewContext } from "../../../src/model/views/view-context.ts";
import { serializeDrain } from "../../../src/protocol/drain.ts";
import { keys } from "../../protocol/samples.ts";
import { NOW, pictureOf, plain, stand } from "../pictures.ts";

const held = { state: "held", grantedAt: NOW - 60_000 } as const;
const waiting = { state: "waiting", enqueuedAt: NOW - 5_000 } as const;

const KVS = [
  stand("lock held", "a", 1, { ...held, label: "nightly" }),
  stand("lock held", "b", 2, waiting),
  stand("lock asked", "c", 3, { ...held, reset: { by: "ann@ops", at: NOW, why: "stuck" } }),
  stand("lock kept", "d", 4, { state: "grace", until: NOW + 9 }),
  stand("lock turn", "e", 5, { state: "admitted" }),
  stand("lock next", "f", 6, waiting),
  stand("lock stopped", "g", 7, waiting),
  plain(keys.lock("bad", "h".repeat(16)), "{", 8),
  stand("lock both", "i", 9, held),
  plain(keys.drain("lock", "stopped"), serializeDrain({ by: "bob", at: NOW - 1, why: "upgrade" })),
  plain(keys.drain("lock", "both"), serializeDrain({ by: "bob", at: NOW - 1 })),
];

describe("a filter", () => {
  const names = (text: string) => {
    const view = VIEWS.locks;
    const picture = pictureOf(KVS);
    const scene = buildViewContext(picture, NOW);
    const rows =
      view.of === "queue"
        ? [...picture.queues.values()].flatMap((queue) => view.buildRows(queue, scene))
        : [];
    return rows
      .filter((row) => isFilterMatch(view, parseRowFilter(text), row))
      .map((row) => view.getKey(row).slice(5));
  };
  it.each([
    { text: "", finds: 8 },
    { text: "HELD", finds: ["held", "both"] },
    { text: "state:h", finds: ["held", "both"] },
    { text: "state:held nobody", finds: [] },
    { text: "host:b.example", finds: ["held"] },
    { text: "holder:b.example", finds: [] },
    { text: "holder:c.example state:reset", finds: ["asked"] },
    { text: "nightly", finds: ["held"] },
    { text: "host:", finds: 8 },
    { text: "http://x", finds: [] },
    { text: "state:drained", finds: ["stopped", "both"] },
    { text: "state:held both", finds: ["both"] },
    { text: "1m", finds: [] },
    { text: "aaaa", finds: ["held"] },
    { text: "ccc", finds: [] },
  ])("$text finds $finds", ({ text, finds }) => {
    if (typeof finds === "number") expect(names(text)).toHaveLength(finds);
    else expect(names(text)).toEqual(finds);
  });

  it("never throws, whatever is typed", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(names(text).length).toBeLessThanOrEqual(8);
      }),
    );
  });
});
