/** The palette: choices, search, and rendering. */
import fc from "fast-check";
import { beforeAll, describe, expect, it, test } from "vitest";
import { clean } from "../../../src/base/text.ts";
import { COMMANDS } from "../../../src/commands/registry/registry.ts";
import type { PaletteChoice, PaletteEntry } from "../../../src/console/overlays/palette-entries.ts";
import {
  buildPaletteEntries,
  type ChoiceConditions,
  findChoiceObstacle,
} from "../../../src/console/overlays/palette-entries.ts";
import {
  addRecentEntry,
  buildMatchRows,
  PaletteIndex,
  splitByRanges,
  toTextRanges,
} from "../../../src/console/overlays/palette-search.ts";
import { listKeyActions } from "../../../src/console/parts/key-actions.ts";
import { createKeymap } from "../../../src/console/parts/keymap.ts";
import { computeCellsWidth, joinCellTexts } from "../../../src/console/theme/cells.ts";
import { keys } from "../../protocol/samples.ts";
import { pictureOf, plain, stand } from "../../state/pictures.ts";

const ACTIONS = listKeyActions(COMMANDS);
const { keymap } = createKeymap(ACTIONS, {});
const FREE: ChoiceConditions = { isReadOnly: false, isAway: false, hasSelection: true };
const snapshot = pictureOf([
  stand("lock invoices", "a", 10, { state: "held" }),
  stand("lock invoices", "b", 11, {}),
  stand("lock web1-backup", "c", 12, { state: "held" }),
  stand("resource db", "d", 13, { state: "held" }),
  plain(keys.resourceConfig("FQDN_cpu"), JSON.stringify({ total: "CPU" })),
  plain(keys.group("web"), JSON.stringify(["web1.example.com"])),
  plain(keys.host("web1.example.com"), JSON.stringify({})),
]);

const entries = (standing: Partial<ChoiceConditions> = {}, from = snapshot) =>
  buildPaletteEntries({
    commands: COMMANDS,
    actions: ACTIONS,
    views: [{ tab: "locks", label: "Locks" }],
    snapshot: from,
    contexts: [{ name: "prod", label: "prod", detail: "http://etcd:2379", isActive: false, note: "" }],
    getKeyLabels: (id) => keymap.getKeyLabels(id),
    findObstacle: (choice) =>
      findChoiceObstacle(choice, { commands: COMMANDS, actions: ACTIONS }, { ...FREE, ...standing }),
  });
const entry = (id: string, among = entries()): PaletteEntry | undefined => among.find((one) => one.id === id);
const all = new PaletteIndex(entries());
const found = (query: string, recent: readonly string[] = []) =>
  all.search(query, 200, recent).matches.map(({ entry: { id } }) => id);

describe("what can be chosen", () => {
  it("is every command with its key, what the console does, the views, and every name", () => {
    expect(entry("command:drain")).toMatchObject({
      label: "drain",
      keys: ["D"],
      choice: { kind: "command", id: "drain" },
    });
    expect(entry("action:copyJson")).toMatchObject({ label: "copy json", keys: ["Y"] });
    expect(entry("view:locks")?.choice).toEqual({ kind: "go", tab: "locks" });
    expect(entry("lock:invoices")?.choice).toEqual({ kind: "go", tab: "locks", key: "lock/invoices" });
    const names = entries().filter(({ choice }) => choice.kind === "go" && choice.key !== undefined);
    expect(names.map(({ id }) => id)).toEqual([
      "lock:invoices",
      "lock:web1-backup",
      "resource:FQDN_cpu",
      "resource:db",
      "host:web1.example.com",
      "group:web",
    ]);
  });

  it("is there once, and without what only moves the cursor", () => {
    const ids = entries().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).not.toContain("action:drain");
    expect(ids).toEqual(expect.arrayContaining(["action:edit", "command:edit"])); // they are not the same
    expect(entry("command:edit")?.keys).toEqual([]);
    expect(ids).not.toContain("action:up");
  });

  it("is a drain of everything, whatever row is selected", () => {
    expect(entry("command:drain all")).toMatchObject({
      label: "drain all",
      keys: [],
      choice: { kind: "command", id: "drain", args: ["all"] },
    });
    expect(entry("command:drain all", entries({ isReadOnly: true }))?.disabled).toBe("read-only");
  });

  it("is clean, whatever it is called in etcd", () => {
    const hostile = pictureOf([stand("lock \u202egnp\u202c", "a", 10, { state: "held" })]);
    const [lock] = entries({}, hostile).filter(({ kind }) => kind === "lock");
    expect(lock?.label).toBe("gnp");
    expect(lock?.choice).toEqual({ kind: "go", tab: "locks", key: "lock/\u202egnp\u202c" });
  });
});

describe("a view", () => {
  const views = ["Locks", "Drains", "History", "Schedules", "Groups"].map((label) => ({
    tab: label.toLowerCase() as "locks",
    label,
  }));
  const searchable = new PaletteIndex(
    buildPaletteEntries({
      commands: COMMANDS,
      actions: ACTIONS,
      views,
      snapshot,
      getKeyLabels: () => [],
      findObstacle: () => undefined,
    }),
  );
  it.each([
    ["dra", "view:drains"],
    ["drains", "view:drains"],
    ["history", "view:history"],
    ["sch", "view:schedules"],
    ["group", "view:groups"],
    ["drain", "command:drain"],
    ["schedule ad", "command:schedule add"],
  ])("comes before the forms of commands: %s leads to %s", (query, id) => {
    expect(searchable.search(query, 10).matches[0]?.entry.id).toBe(id);
  });
});

describe("what cannot be chosen", () => {
  test.each<[string, Partial<ChoiceConditions>, string | undefined]>([
    ["command:drain", {}, undefined],
    ["command:drain", { isReadOnly: true }, "read-only"],
    ["command:drain", { isAway: true }, "etcd unreachable"],
    ["command:drain", { hasSelection: false }, undefined],
    ["command:doctor", { isReadOnly: true }, undefined],
    ["command:show", { isAway: true, isReadOnly: true }, undefined],
    ["command:run", {}, "start it in another terminal"],
    ["command:console", {}, "already open"],
    ["command:edit", { isReadOnly: true }, "opens an editor: start it in another terminal"],
    ["action:edit", { isReadOnly: true }, "read-only"],
    ["action:edit", { hasSelection: false }, "nothing is selected"],
    ["action:copyJson", { hasSelection: false, isReadOnly: true }, "nothing is selected"],
    ["action:filter", { hasSelection: false, isReadOnly: true, isAway: true }, undefined],
    ["lock:invoices", { isReadOnly: true, isAway: true }, undefined],
  ])("%s with %j: %s", (id, standing, reason) => {
    expect(entry(id, entries(standing))).toBeDefined();
    expect(entry(id, entries(standing))?.disabled).toBe(reason);
  });

  it("are all commands that change something, where nothing may be", () => {
    const open = entries({ isReadOnly: true }).filter(
      ({ kind, disabled }) => kind === "command" && !disabled,
    );
    const acting = COMMANDS.filter(({ topic }) => topic === "Act").map(({ id }) => `command:${id}`);
    expect(open.map(({ id }) => id).filter((id) => acting.includes(id))).toEqual([]);
    expect(open.map(({ id }) => id)).not.toContain("command:import");
  });
});

describe("what is typed", () => {
  test.each([
    ["drain", "command:drain"],
    ["DRAIN", "command:drain"],
    ["undr", "command:undrain"],
    ["rst", "command:reset"],
    ["grpset", "command:group set"],
    ["set group", "command:group set"],
    ["json", "action:copyJson"],
    ["inv", "lock:invoices"],
    ["bkp", "lock:web1-backup"],
    ["web1", "lock:web1-backup"],
    ["lock web", "lock:web1-backup"],
    ["host web", "host:web1.example.com"],
    ["web", "group:web"],
    ["@web", "group:web"],
    ["  > undrain", "command:undrain"],
    ["waiting run", "command:release"],
    ["drain all", "command:drain all"],
    ["undrain all", "command:undrain all"],
    ["undrain", "command:undrain"],
    ["reset", "command:reset"],
    ["pause schedule", "command:schedule pause"],
    ["trigger", "command:schedule trigger"],
    ["run now", "command:schedule trigger"],
    ["dead letters", "command:schedule dead"],
    ["export", "action:export"],
    ["timeline", "action:timeline"],
    ["go back", "action:placeBack"],
    ["switch cluster", "context:prod"],
    ["theme", "action:theme"],
    ["dark mode", "action:theme"],
    ["help", "action:help"],
  ])("%j finds %s first", (query, id) => {
    expect(found(query)[0]).toBe(id);
  });

  it("finds only what can be done behind >, and only names behind @", () => {
    expect(found(">").every((id) => /^(command|action):/.test(id))).toBe(true);
    expect(found(">web").filter((id) => !/^(command|action):/.test(id))).toEqual([]);
    expect(found("@drain")).toEqual([]);
    expect(found("@")).toHaveLength(6);
  });

  it("finds what a command does, where its name is another", () => {
    const [match] = all.search("stop grants", 5).matches;
    expect(match?.entry.id).toBe("command:drain");
    expect(match?.label).toEqual([]);
    const lit = splitByRanges(match?.entry.detail ?? "", match?.detail ?? []).filter(
      ({ isWithin }) => isWithin,
    );
    expect(lit.map(({ text }) => text)).toEqual(["stop", "grants"]);
  });

  it("says which letters were found", () => {
    const [match] = all.search("inv", 1).matches;
    expect(match?.label).toEqual([[0, 3]]);
  });

  it("with nothing typed, shows what was used lately, then views and commands; what cannot be chosen is last", () => {
    const recent = ["lock:invoices", "command:undrain", "lock:gone"];
    expect(found("", recent).slice(0, 4)).toEqual([
      "lock:invoices",
      "command:undrain",
      "view:locks",
      "command:show",
    ]);
    expect(found("").indexOf("command:run")).toBeGreaterThan(found("").indexOf("lock:invoices"));
    expect(all.search("", 3)).toMatchObject({ matches: { length: 3 }, total: entries().length });
  });

  it("prefers what was used lately among those that fit as well", () => {
    expect(found("drain", ["command:undrain"])[0]).toBe("command:drain");
    expect(found("group", ["command:group delete"])[0]).toBe("command:group delete");
    expect(found("group", [])[0]).not.toBe("command:group delete");
  });

  it("puts what cannot be chosen behind what can", () => {
    const like = (id: string, more: Partial<PaletteEntry>): PaletteEntry => ({
      id,
      kind: "command",
      label: `web ${id}`,
      detail: "",
      keys: [],
      choice: { kind: "command", id },
      ...more,
    });
    const two = new PaletteIndex([like("a", { disabled: "etcd unreachable" }), like("b", {})]);
    expect(two.search("web", 2).matches.map((match) => match.entry.id)).toEqual(["b", "a"]);
    expect(two.search("web a", 2).matches[0]?.entry.id).toBe("a");
  });

  it("never fails, and lights up whole letters of what it has found", () => {
    const odd = new PaletteIndex(
      ["👩‍🚒 fire", "İstanbul", "ﬃx", "e\u0301té", "日本-db"].map((label) => ({
        id: label,
        kind: "lock",
        label: clean(label),
        detail: "lock",
        keys: [],
        choice: { kind: "go", tab: "locks" } satisfies PaletteChoice,
      })),
    );
    const queries = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.constantFrom("fi", "ist", "ete", "日", "🚒", "ﬃ", "dB"),
    );
    fc.assert(
      fc.property(queries, (query) => {
        for (const { entry: one, label } of odd.search(query, 10).matches) {
          const parts = splitByRanges(one.label, label);
          expect(parts.map(({ text }) => text).join("")).toBe(one.label);
          for (const { text } of parts) expect(text.isWellFormed()).toBe(true);
        }
      }),
    );
    expect(odd.search("fi", 10).matches.length).toBeGreaterThan(0);
  });
});

describe("among ten thousand locks", () => {
  let many: PaletteIndex;
  beforeAll(() => {
    const words = ["backup", "invoices", "mail", "report", "sync", "import-customers"];
    const queues = new Map(
      Array.from({ length: 10_000 }, (_, at) => {
        const name = `${words[at % 6]}-${["db", "web", "eu"][at % 3]}-${at}`;
        return [`lock/${name}`, { kind: "lock", name, entries: [] }] as const;
      }),
    );
    many = new PaletteIndex(entries({}, { ...snapshot, queues }));
  });

  it("finds the right one", () => {
    const best = (query: string) => many.search(query, 1).matches[0]?.entry.id;
    expect(best("mail-eu-1238")).toBe("lock:mail-eu-1238");
    expect(best("impcust 1235")).toBe("lock:import-customers-eu-1235");
    expect(best("dr")).toBe("command:drain");
    expect(many.search("mail", 20)).toMatchObject({ matches: { length: 20 } });
    expect(many.search("mail", 20).total).toBeGreaterThan(1_600);
  });

  it("keeps what was used lately among those that are shown, however many fit", () => {
    const recent = ["lock:mail-eu-9998"];
    expect(many.search("mail", 5).matches.map((match) => match.entry.id)).not.toContain(recent[0]);
    expect(many.search("mail", 5, recent).matches[0]?.entry.id).toBe(recent[0]);
  });
});

it("remembers what was used, once, newest first, and not without end", () => {
  expect(addRecentEntry(["a", "b"], "b")).toEqual(["b", "a"]);
  const many = Array.from({ length: 99 }, (_, at) => `e${at}`).reduce<readonly string[]>(
    (now, id) => addRecentEntry(now, id),
    [],
  );
  expect([many.length, many[0]]).toEqual([20, "e98"]);
});

it("takes places of letters for parts of a text", () => {
  expect(toTextRanges("backup", [0, 1, 4])).toEqual([
    [0, 2],
    [4, 5],
  ]);
  expect(toTextRanges("e\u0301x", [0])).toEqual([[0, 2]]);
  expect(toTextRanges("ab", [5])).toEqual([]);
});

describe("rows of matches", () => {
  const rows = (query: string, width: number, standing: Partial<ChoiceConditions> = {}) =>
    buildMatchRows(new PaletteIndex(entries(standing)).search(query, 4).matches, 0, width);

  it("are lines with what they do, and their keys at the right edge", () => {
    expect(
      rows("drain", 60)
        .map(({ cells }) => joinCellTexts(cells).trimEnd())
        .slice(0, 2),
    ).toEqual([
      "drain         stop new grants for a lock, resource, host…  D",
      "drain all     drain the whole cluster",
    ]);
  });

  it("say why one cannot be chosen", () => {
    expect(joinCellTexts(rows("drain", 60, { isReadOnly: true })[0]?.cells ?? [])).toMatch(
      /^drain +\(read-only\) +D$/,
    );
  });

  it("light up what was typed", () => {
    expect(rows("@inv", 60)[0]?.cells).toContainEqual({ text: "inv", role: "match", ground: "plain" });
  });

  it("are as wide as they must be, however narrow that is", () => {
    for (const width of [80, 40, 20, 12])
      for (const query of ["", "drain", "web1"])
        for (const { cells } of rows(query, width))
          expect(computeCellsWidth(cells), `${width} ${query}`).toBe(width);
  });
});
