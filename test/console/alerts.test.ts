import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AlertNotifier, Alerts, chooseChannels } from "../../src/console/alerts.ts";
import type { WatchedRow } from "../../src/console/state/watched-rows.ts";
import { formatDesktopNotification, formatWindowTitle } from "../../src/console/terminal/output-sequences.ts";
import { serializeDrain } from "../../src/protocol/drain.ts";
import { createKeys } from "../../src/protocol/keys.ts";
import { serializeTicket } from "../../src/protocol/ticket.ts";
import type { KeyValue } from "../../src/protocol/txn.ts";
import { SNAPSHOT_COLLECTIONS } from "../../src/state/snapshot.ts";
import { SnapshotBuilder } from "../../src/state/snapshot-builder.ts";
import { ticketWith } from "../protocol/samples.ts";
import { plain } from "../state/pictures.ts";

const keys = createKeys("/test/");

/** A site whose snapshots follow each other. */
class Site {
  readonly #builder = new SnapshotBuilder(keys, SNAPSHOT_COLLECTIONS);
  readonly #values = new Map<string, KeyValue>();
  #revision = 0;
  readonly #alerts = new Alerts();
  readonly #watched: readonly WatchedRow[];
  now = 0;

  constructor(...watched: readonly WatchedRow[]) {
    this.#watched = watched;
    this.check();
  }

  put(key: string, value: string): this {
    this.#revision += 1;
    this.#values.set(key, plain(key, value, this.#revision));
    return this;
  }

  delete(key: string): this {
    this.#values.delete(key);
    return this;
  }

  /** @returns what is told after so many ms */
  check(after = 10_000): string | undefined {
    this.now += after;
    this.#builder.begin();
    for (const kv of this.#values.values()) this.#builder.add(kv);
    this.#builder.finish(BigInt(this.now));
    return this.#alerts.check(this.#watched, this.#builder.getSnapshot(), 1_700_000_000_000, this.now)?.text;
  }
}

const LOCK: WatchedRow = { kind: "lock", name: "orders" };
const hold = (run: string, state: "held" | "waiting" = "held") =>
  [
    keys.lock("orders", run),
    serializeTicket(ticketWith({ run, state, host: `${run}.example.com` })),
  ] as const;
const [FIRST, SECOND] = ["a".repeat(16), "b".repeat(16)];

describe("a watched lock", () => {
  it("is told of when it is granted, released, and granted to another", () => {
    const site = new Site(LOCK);
    expect(site.put(...hold(FIRST)).check()).toBe(`lock orders: held by ${FIRST}.example.com, nobody waits`);
    expect(site.put(...hold(SECOND, "waiting")).check()).toMatch(/held by a.*, 1 wait$/);
    expect(
      site
        .delete(keys.lock("orders", FIRST))
        .put(...hold(SECOND))
        .check(),
    ).toMatch(/held by b.*, nobody waits/);
    expect(site.delete(keys.lock("orders", SECOND)).check()).toBe("lock orders: free, nobody waits");
    expect(site.check()).toBeUndefined();
  });

  it("is told of at most once in two seconds; what happened meanwhile is counted", () => {
    const site = new Site(LOCK);
    expect(site.put(...hold(FIRST)).check(10)).toBeDefined();
    expect(site.delete(keys.lock("orders", FIRST)).check(500)).toBeUndefined();
    expect(site.put(...hold(SECOND)).check(500)).toBeUndefined();
    expect(site.check(999)).toBeUndefined();
    expect(site.check(1)).toMatch(/^2 changes, last: lock orders: held by b/);
    expect(site.check()).toBeUndefined();
  });

  it("is not told of for what happened before, nor for other rows", () => {
    const site = new Site({ kind: "lock", name: "other" });
    expect(site.put(...hold(FIRST)).check()).toBeUndefined();
  });
});

describe("a watched drain", () => {
  it("is told of when it begins and when it is lifted", () => {
    const site = new Site({ kind: "drain", scope: "host", name: "web1" });
    const key = keys.drain("host", "web1");
    const drain = { scope: "host", name: "web1", by: "op@web1", at: 1_700_000_000_000 } as const;
    expect(site.put(key, serializeDrain(drain)).check()).toMatch("web1: drained");
    expect(site.delete(key).check()).toBe("drain host web1: lifted");
  });
});

describe("notifications outside the screen", () => {
  it("cannot be left by what comes from etcd", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (hostile) => {
        const text = `lock ${hostile}\x1b]0;x\x07\x9c\x1b\\\x9d52;c;AAAA\x07: held`;
        for (const sequence of [formatDesktopNotification(text), formatWindowTitle(text)]) {
          const inner = sequence.replaceAll(/\x1b\](?:9|777|2);([^\x00-\x1f\x7f-\x9f]*)\x1b\\/g, "");
          expect(inner).toBe("");
        }
      }),
    );
    expect(formatDesktopNotification("4;3;100")).toContain("\x1b]9;signalbox: 4;3;100");
  });

  it("use only the ways that are wanted, and on simple terminals only the bell", () => {
    const all = { bell: true, desktop: true, title: true };
    const none = { bell: false, desktop: false, title: false };
    expect(chooseChannels(["all"], "xterm-256color", false)).toEqual(all);
    expect(chooseChannels(["off"], "xterm-256color", false)).toEqual(none);
    expect(chooseChannels(["title"], "xterm", false)).toEqual({ ...none, title: true });
    expect(chooseChannels(["all"], "linux", false)).toEqual({ ...none, bell: true });
    expect(chooseChannels(["all"], "xterm", true)).toEqual({ ...none, bell: true });
  });

  it("count the news in the title, and restore it once", () => {
    const written: string[] = [];
    const channels = { bell: true, desktop: false, title: true };
    const notifier = new AlertNotifier({
      write: (text) => written.push(text),
      channels,
      name: "/prod/",
      sign: "● ",
    });
    notifier.restoreTitle();
    notifier.notify({ text: "x", changes: ["x"] });
    notifier.notify({ text: "2 changes, last: y", changes: ["x", "y"] });
    notifier.restoreTitle();
    notifier.restoreTitle();
    expect(written).toEqual([
      "\x1b[22;2t\x1b]2;● 1 news - signalbox /prod/\x1b\\\x07",
      "\x1b]2;● 3 news - signalbox /prod/\x1b\\\x07",
      "\x1b[23;2t",
    ]);
  });

  it("are silent if all ways are off", () => {
    const written: string[] = [];
    const channels = chooseChannels(["off"], "xterm", false);
    const notifier = new AlertNotifier({
      write: (text) => written.push(text),
      channels,
      name: "",
      sign: "",
    });
    notifier.notify({ text: "x", changes: ["x"] });
    notifier.restoreTitle();
    expect(written).toEqual([]);
  });
});
