/** The palette: choices, search, and rendering. */
import fc from "fast-check";
import { beforeAll, describe, expect, it, test } from "vitest";
import {
  createGroupKey,
  createHostKey,
  createResourceKey,
  createSnapshot,
  createTicketKey,
} from "../../../fixtures/state/sample-snapshots.ts";
import { COMMANDS } from "../../../src/cli/commands/registry.ts";
import { buildEntryRows } from "../../../src/console/overlays/Palette.tsx";
import {
  buildPaletteEntries,
  type ChoiceConditions,
  type PaletteChoice,
  type PaletteEntry,
} from "../../../src/console/overlays/palette-entries.ts";
import { addRecentEntry, searchPalette, splitByWords } from "../../../src/console/overlays/palette-search.ts";
import { createKeymap, listKeyActions } from "../../../src/console/parts/keymap.ts";
import { computeCellsWidth, joinCellTexts } from "../../../src/console/theme/Row.tsx";
import { computeDisplayWidth } from "../../../src/core/base/display-width.ts";
import { clean } from "../../../src/core/base/text.ts";

const ACTIONS = listKeyActions(COMMANDS);
const { keymap } = createKeymap(ACTIONS, {});
const FREE: ChoiceConditions = {
  commands: COMMANDS,
  actions: ACTIONS,
  isReadOnly: false,
  isAway: false,
  hasSelection: true,
};
const snapshot = createSnapshot([
  createTicketKey("lock invoices held", "a", 10),
  createTicketKey("lock invoices", "b", 11),
  createTicketKey("lock web1-backup held", "c", 12),
  createTicketKey("resource db held", "d", 13),
  createResourceKey("FQDN_cpu", { total: "CPU" }),
  createGroupKey("web", "web1.example.com"),
  createHostKey("web1.example.com", {}),
]);

const entries = (given: Partial<Parameters<typeof buildPaletteEntries>[0]> = {}, from = snapshot) =>
  buildPaletteEntries({
    ...FREE,
    views: [{ tab: "locks", label: "Locks" }],
    snapshot: from,
    contexts: [{ name: "prod", label: "prod", detail: "http://etcd:2379", isActive: false, note: "" }],
    getKeyLabels: (id) => keymap.getKeyLabels(id),
    ...given,
  });
const entry = (id: string, among = entries()) => among.find((one) => one.id === id);
const all = entries();
const found = (query: string, recent: readonly string[] = [], among = all) =>
  searchPalette(among, query, recent).entries.map(({ id }) => id);

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
      "group:web",
      ...["a", "b", "c", "d", "web1"].map((host) => `host:${host}.example.com`),
      "lock:invoices",
      "lock:web1-backup",
      "resource:FQDN_cpu",
      "resource:db",
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

  it("is a drain of everything, independent of the selected row", () => {
    expect(entry("command:drain all")).toMatchObject({
      label: "drain all",
      keys: [],
      choice: { kind: "command", id: "drain", args: ["all"] },
    });
    expect(entry("command:drain all", entries({ isReadOnly: true }))?.disabled).toBe("read-only");
  });

  it("is clean for any name in etcd", () => {
    const hostile = createSnapshot([createTicketKey("lock \u202egnp\u202c held", "a", 10)]);
    const [lock] = entries({}, hostile).filter(({ kind }) => kind === "lock");
    expect(lock?.label).toBe("\\u{202e}gnp\\u{202c}");
    expect(lock?.choice).toEqual({ kind: "go", tab: "locks", key: "lock/\u202egnp\u202c" });
  });
});

describe("a view", () => {
  const views = ["Locks", "Drains", "History", "Schedules", "Groups"].map((label) => ({
    tab: label.toLowerCase() as "locks",
    label,
  }));
  const withViews = buildPaletteEntries({ ...FREE, views, snapshot, getKeyLabels: () => [] });
  it.each([
    ["dra", "view:drains"],
    ["drains", "view:drains"],
    ["history", "view:history"],
    ["sch", "view:schedules"],
    ["group", "view:groups"],
    ["drain", "command:drain"],
    ["schedule ad", "command:schedule add"],
  ])("comes before the forms of commands: %s leads to %s", (query, id) => {
    expect(found(query, [], withViews)[0]).toBe(id);
  });
});

describe("an action and a name", () => {
  it("is found: why invoices", () => {
    expect(found("why invoices")[0]).toBe("action:why lock:invoices");
    expect(found("drain web1.example.com")).toContain("command:drain host:web1.example.com");
    const [why] = searchPalette(all, "why web1-backup").entries;
    expect(why).toMatchObject({
      label: "why web1-backup",
      detail: "lock",
      choice: { kind: "on-row", id: "why", tab: "locks", key: "lock/web1-backup" },
    });
    expect(found("why nothing-of-this-name")).toEqual([]);
    expect(found("> why invoices")).toEqual([]);
  });

  it("needs no selected row, and can be as impossible as the action", () => {
    const among = entries({ hasSelection: false, isReadOnly: true });
    const obstacles = (query: string) => searchPalette(among, query).entries.map(({ disabled }) => disabled);
    expect(obstacles("why invoices")).not.toContain("nothing is selected");
    expect(obstacles("reset invoices")).toEqual(["read-only"]);
  });
});

describe("a line that says what to do", () => {
  const site = createSnapshot([
    createTicketKey("lock nightly-db held", "a", 10),
    createTicketKey("resource web1.example.com_cpu held", "b", 11, { host: "web1.example.com" }),
    createGroupKey("web", "web1.example.com"),
    createHostKey("web1.example.com", {}),
  ]);
  it.each([
    ["why nightly-db", "action:why lock:nightly-db"],
    ["drain web1", "command:drain host:web1.example.com"],
    ["drain web", "command:drain group:web"],
    ["reset nightly", "command:reset lock:nightly-db"],
    ["reset ndb", "command:reset lock:nightly-db"],
    ["web1", "host:web1.example.com"],
    ["web", "group:web"],
  ])("%j: %s", (line, id) => {
    expect(found(line, [], entries({}, site))[0]).toBe(id);
  });

  it("is offered only for what the action applies to", () => {
    expect(found("reset web1", [], entries({}, site))).not.toContain("command:reset host:web1.example.com");
    expect(found("drain all", [], entries({}, site))[0]).toBe("command:drain all");
  });
});

describe("what cannot be chosen", () => {
  test.each([
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
    ["rese", "command:reset"],
    ["gr se", "command:group set"],
    ["set group", "command:group set"],
    ["json", "action:copyJson"],
    ["inv", "lock:invoices"],
    ["backup web", "lock:web1-backup"],
    ["voice", "lock:invoices"],
    ["web1", "host:web1.example.com"],
    ["wbk", "lock:web1-backup"],
    ["ivs", "lock:invoices"],
    ["fqcpu", "resource:FQDN_cpu"],
    ["schad", "command:schedule add"],
    ["lock web", "lock:web1-backup"],
    ["web locks", "lock:web1-backup"],
    ["host web", "host:web1.example.com"],
    ["web", "group:web"],
    ["@web", "group:web"],
    ["  > undrain", "command:undrain"],
    ["waiting run", "command:reset"],
    ["drain all", "command:drain all"],
    ["undrain all", "command:undrain all"],
    ["undrain", "command:undrain"],
    ["reset", "command:reset"],
    ["pause schedule", "command:schedule pause"],
    ["trigger", "command:schedule trigger"],
    ["run now", "command:schedule trigger"],
    ["dead letters", "action:deadLetters"],
    ["schedule dead", "action:deadLetters"],
    ["timeline", "action:timeline"],
    ["go back", "action:placeBack"],
    ["switch cluster", "context:prod"],
    ["theme", "action:theme"],
    ["dark mode", "action:theme"],
    ["help", "action:help"],
  ])("%j finds %s first", (query, id) => {
    expect(found(query)[0]).toBe(id);
  });

  // What operators typed who had not read the docs.
  test.each([
    ["drain host", "command:drain"],
    ["host drain", "command:drain"],
    ["handover", "view:audit"],
    ["handover", "view:history"],
    ["retry", "command:schedule trigger"],
    ["retry", "action:deadLetters"],
    ["upgrade", "command:drain all"],
    ["upgrade", "command:doctor"],
    ["rolling upgrade", "command:drain all"],
    ["evacuate", "command:drain"],
    ["evacuate host", "command:drain"],
    ["member", "view:groups"],
    ["member", "command:etcd members"],
    ["colour", "action:theme"],
    ["color", "action:theme"],
    ["maintenance", "command:drain"],
    ["stop everything", "command:drain all"],
    ["kill", "command:reset"],
    ["unlock", "command:reset"],
    ["cancel", "command:reset"],
    ["alert", "action:notifyMe"],
    ["logs", "action:output"],
    ["what if drain", "action:whatIf"],
    ["new schedule", "command:schedule add"],
    ["raise total", "command:resource set"],
    ["undo drain", "command:undrain"],
  ])("%j finds %s as the first or second", (query, id) => {
    const views = (["audit", "history", "groups", "drains"] as const).map((tab) => ({ tab, label: tab }));
    expect(found(query, [], entries({ views })).slice(0, 2)).toContain(id);
  });
  it("finds only what can be done behind >, and only names behind @", () => {
    expect(found(">").every((id) => /^(command|action):/.test(id))).toBe(true);
    expect(found(">web").filter((id) => !/^(command|action):/.test(id))).toEqual([]);
    expect(found("@drain")).toEqual([]);
    expect(found("@")).toHaveLength(10);
  });

  it("finds what a command does, where its name is another", () => {
    const { entries: some, words } = searchPalette(all, "stop grants");
    expect(some[0]?.id).toBe("command:drain");
    const lit = splitByWords(some[0]?.detail ?? "", words).filter(({ isMatch }) => isMatch);
    expect(lit.map(({ text }) => text)).toEqual(["stop", "grants"]);
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
    expect(found("")).toHaveLength(all.length);
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
    const two = [like("a", { disabled: "etcd unreachable" }), like("b", {})];
    expect(found("web", [], two)).toEqual(["b", "a"]);
    expect(found("web a", [], two)[0]).toBe("a");
    const better = like("run", { label: "run", disabled: "start it in another terminal" });
    expect(found("run", ["run"], [better, like("c", { detail: "runs it" })])).toEqual(["c", "run"]);
  });

  it("never fails, and lights up whole letters of what it has found", () => {
    const odd = ["👩‍🚒 fire", "İstanbul", "ﬃx", "e\u0301té", "日本-db"].map(
      (label): PaletteEntry => ({
        id: label,
        kind: "lock",
        label: clean(label),
        detail: "lock",
        keys: [],
        choice: { kind: "go", tab: "locks", key: label } satisfies PaletteChoice,
      }),
    );
    const queries = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.constantFrom("fi", "ist", "ete", "日", "🚒", "ﬃ", "dB"),
    );
    fc.assert(
      fc.property(queries, (query) => {
        const { entries: some, words } = searchPalette(odd, query);
        for (const { label } of some) {
          const parts = splitByWords(label, words);
          expect(parts.map(({ text }) => text).join("")).toBe(label);
          for (const { text } of parts) expect(text.isWellFormed()).toBe(true);
          expect(parts.reduce((sum, { text }) => sum + computeDisplayWidth(text), 0)).toBe(
            computeDisplayWidth(label),
          );
        }
      }),
    );
    expect(found("fi", [], odd).length).toBeGreaterThan(0);
  });
});

describe("among ten thousand locks", () => {
  let many: PaletteEntry[];
  beforeAll(() => {
    const words = ["backup", "invoices", "mail", "report", "sync", "import-customers"];
    const queues = new Map(
      Array.from({ length: 10_000 }, (_, at) => {
        const name = `${words[at % 6]}-${["db", "web", "eu"][at % 3]}-${at}`;
        return [`lock/${name}`, { kind: "lock", name, entries: [] }] as const;
      }),
    );
    many = entries({}, { ...snapshot, queues });
  });

  it("finds the right one", () => {
    const best = (query: string) => found(query, [], many)[0];
    expect(best("mail-eu-1238")).toBe("lock:mail-eu-1238");
    expect(best("1235 imp")).toBe("lock:import-customers-eu-1235");
    expect(best("dr")).toBe("command:drain");
    expect(found("mail", [], many).length).toBeGreaterThan(1_600);
  });

  it("shows what was used lately first, however many fit", () => {
    const recent = ["lock:mail-eu-9998"];
    expect(found("mail", [], many)[0]).not.toBe(recent[0]);
    expect(found("mail", recent, many)[0]).toBe(recent[0]);
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

it.each([
  ["web1-backup", ["back"], "web1-[back]up"],
  ["a backup-db", ["db", "back"], "a [back]up-[db]"],
  ["backup", ["backup", "back", "ack"], "[b][ack][up]"], // one part begins in the other
  ["the theme", ["he"], "t[he] theme"],
  ["their he", ["he"], "their [he]"], // rather where a word begins
  ["e\u0301x", ["e"], "[e\u0301]x"],
  ["ab", ["c"], "ab"],
  ["", ["c"], ""],
])("%j is split by %j: %j", (text, words, shown) => {
  const parts = splitByWords(text, words);
  expect(parts.map((part) => (part.isMatch ? `[${part.text}]` : part.text)).join("")).toBe(shown);
});

describe("rows of matches", () => {
  const rows = (query: string, width: number, standing: Partial<ChoiceConditions> = {}) => {
    const { entries: some, ...typed } = searchPalette(entries(standing), query);
    return buildEntryRows({ entries: some.slice(0, 18), ...typed }, 0, width);
  };

  it("are lines with what they do, and their keys at the right edge", () => {
    const texts = rows("drain", 64).map(({ cells }) => joinCellTexts(cells).trimEnd());
    expect(texts.slice(0, 2)).toEqual([
      expect.stringMatching(/^› drain {2,}stop new grants for a lock, resource.*… {2}D$/),
      expect.stringMatching(/^› drain all {2,}drain the whole cluster$/),
    ]);
  });

  it("say why one cannot be chosen", () => {
    const texts = rows("drain", 60, { isReadOnly: true }).map(({ cells }) => joinCellTexts(cells));
    expect(texts).toContainEqual(expect.stringMatching(/^› drain +\(read-only\) +D$/));
  });

  it("light up what was typed", () => {
    const light = { role: "match", ground: "plain" };
    expect(rows("@inv", 60)[0]?.cells).toContainEqual({ text: "inv", ...light });
    const lit = rows("@ivs", 60)[0]?.cells.filter(({ role }) => role === "match");
    expect(lit).toEqual(["i", "v", "s"].map((text) => ({ text, ...light })));
  });

  it("are as wide as their content, also if that is narrow", () => {
    for (const width of [80, 40, 20, 12])
      for (const query of ["", "drain", "web1"])
        for (const { cells } of rows(query, width))
          expect(computeCellsWidth(cells), `${width} ${query}`).toBe(width);
  });
});
