import { readFileSync, statSync } from "node:fs";
import { extname } from "node:path";
import { EXIT, SignalboxError, UsageError } from "../../../core/base/errors.ts";
import { parseJson } from "../../../core/base/parse-json.ts";
import { formatShortList, quoteText } from "../../../core/base/text.ts";
import { SITE_KINDS, type SiteKind } from "../../../core/fleet/configuration.ts";
import { validateName } from "../../../core/protocol/names.ts";
import type { SiteDocument, SiteTerms } from "../../../site/operate/site.ts";
import { listMalformedConfig } from "../../../site/state/configuration.ts";
import { createActionCommand, createDiffCommand } from "../../frame/action.ts";
import {
  formatDocumentName,
  formatFaultLines,
  readDocumentText,
  replaceFileText,
} from "../../frame/documents.ts";
import { editText, ignoreCtrlC } from "../../frame/editor.ts";
import { type ActionOutcome, createFaultyOutcome } from "../../frame/outcome.ts";
import { createReadCommand, readSnapshot } from "../../frame/read-snapshot.ts";
import type { CommandContext } from "../../frame/store-command.ts";
import { formatScheduleCrontab } from "../schedule/crontab.ts";
import {
  CONFIG_COLLECTIONS,
  changeSite,
  createTotalCheck,
  readSite,
  type SiteKinds,
  type SiteRead,
} from "./change-site.ts";
import type {
  ApplySiteFlags,
  DiffSiteFlags,
  EditSiteFlags,
  ExportSiteFlags,
  ImportSwitchmanFlags,
} from "./site.ts";
import { formatSiteYaml, parseSiteDocument } from "./site-document.ts";
import { buildSiteConfig, formatSiteJson } from "./site-fields.ts";

/** What the commands here change, and the message if there is nothing to change. */
const SITE_TARGET = { target: "site", nothing: "the site is up to date: nothing to change" } as const;

export const applySiteFile = createActionCommand<ApplySiteFlags>(applyFile);
export const diffSite = createDiffCommand<DiffSiteFlags>(applyFile);

async function applyFile(context: CommandContext<Partial<ApplySiteFlags>>): Promise<ActionOutcome> {
  const [file = "-"] = context.args;
  const input = await readSiteFile(context, file, await readDocumentText(context.io, file));
  if ("faults" in input) return input.faults;
  return await changeSite(context, {
    ...SITE_TARGET,
    action: "apply",
    ...input,
    terms: readTerms(context.flags),
  });
}

export const exportSite = createReadCommand<ExportSiteFlags>(async (context) => {
  const [file = "-"] = context.args;
  const { format = extname(file) === ".json" ? "json" : "yaml", only } = context.flags;
  const read = await readSite(context, selectKinds(format === "crontab" ? ["schedules"] : only));
  const printNote = (line: string) => context.printMessage(`note: ${line}`);
  for (const line of listUnreadable(read, "and was left out")) printNote(line);
  const document = toDocument(read);
  const secret = [...(document.schedules ?? [])].flatMap(([id, { env }]) => (env === undefined ? [] : [id]));
  if (secret.length > 0)
    printNote(
      `the values of env, which show hides, are in clear for ${formatShortList(secret, 3)}: keep the file secret if they are`,
    );
  const texts = {
    crontab: () => formatScheduleCrontab(document.schedules ?? new Map()),
    json: () => formatSiteJson(document),
    yaml: () => formatSiteYaml(document),
  };
  const text = texts[format]();
  if (file === "-") context.io.writeOutput(text);
  else if (isFileText(file, text)) printNote(`${file} is up to date`);
  else replaceFileText(file, text);
});

/** Compares the text of a file. A pipe or a device is not read: that could take for ever. */
function isFileText(file: string, text: string): boolean {
  try {
    return statSync(file).isFile() && readFileSync(file, "utf8") === text;
  } catch {
    return false;
  }
}

export const editSite = createActionCommand<EditSiteFlags>(async (interruptible) => {
  const { flags, io } = interruptible;
  if (!io.terminal.canAsk() && !flags.yes)
    throw new UsageError(
      "edit needs a terminal; in a script use export and apply, or set EDITOR to a program and add --yes",
    );
  const context = { ...interruptible, signal: ignoreCtrlC(interruptible.signal) };
  const kinds = selectKinds(flags.only);
  const opened = await readSite(context, kinds);
  for (const line of listUnreadable(opened, "and is left out, it is not changed"))
    context.printMessage(`note: ${line}`);
  return await editText(context, {
    text: formatSiteYaml(toDocument(opened)),
    name: "signalbox.yaml",
    parse: async (text, path) => {
      const check = createTotalCheck(context, opened.snapshot);
      const parsed = await parseSiteDocument(path, text, async () => check);
      return "value" in parsed ? parsed : { faults: formatFaultLines(path, parsed.faults) };
    },
    apply: (document) =>
      changeSite(context, {
        ...SITE_TARGET,
        action: "edit",
        kinds,
        document: selectParts(document, kinds),
        terms: { prunes: "all", isEdit: true },
        opened,
      }),
    isSettled: ({ result }) =>
      result.kind === "site" && (result.outcome === "done" || result.outcome === "nothing"),
    describeNextStep: (path) => `to see what it would change now: signalbox diff --prune=all ${path}`,
  });
});

export const importSwitchmanData = createActionCommand<ImportSwitchmanFlags>(async (context) => {
  const [file = "-"] = context.args;
  const printed = await readDocumentText(context.io, file);
  const name = file === "-" ? "stdin" : file;
  if (printed.trim() === "" || printed.trim() === "null")
    throw new SignalboxError(EXIT.config, `${name} is empty: the znode keeps neither groups nor resources`);
  const found = extractZnodeJson(printed);
  const input = await readSiteFile(context, name, found?.text ?? printed);
  const notes = describeSkippedLines(found?.passedOver ?? []);
  if (!("faults" in input)) notes.push(...listShortNameNotes(input.document));
  for (const note of notes) context.printMessage(`${name}: ${note}`);
  if ("faults" in input) return input.faults;
  const terms = { prunes: readPrune(context.flags.prune) };
  return await changeSite(context, { ...SITE_TARGET, action: "import", ...input, terms });
});

function describeSkippedLines(lines: readonly number[]): string[] {
  const shown = lines.slice(0, 8).join(", ");
  if (lines.length === 0) return [];
  const which = `${lines.length === 1 ? "line" : "lines"} ${shown}${lines.length > 8 ? ", ..." : ""}`;
  return [`ignored, not part of the data: ${which}`];
}

/** Lists notes about members that are neither a group in the document nor the full name of a host. */
function listShortNameNotes({ groups = new Map() }: SiteDocument): string[] {
  return [...groups].flatMap(([group, { members = [] } = {}]) =>
    members
      .filter((member) => !groups.has(member) && !member.includes("."))
      .map(
        (member) =>
          `group ${quoteText(group)}: ${quoteText(member)} is neither a group nor a full host name: only a host whose` +
          " name is exactly this is in the group",
      ),
  );
}

/** Flags of commands that take a document. */
type DocumentFlags = Partial<Pick<ApplySiteFlags, "owner" | "adopt" | "prune" | "only">>;

function readTerms({ owner, adopt, prune }: DocumentFlags): SiteTerms {
  if (adopt && owner === undefined) throw new UsageError("--adopt needs --owner: who takes it over?");
  if (prune === "all" && owner !== undefined)
    throw new UsageError(
      `--prune=all deletes what others own, so --owner ${quoteText(owner)} excludes it; write --prune, or leave out --owner`,
    );
  return {
    owner: owner === undefined ? undefined : `site:${validateName("owner", owner)}`,
    adopts: adopt === true,
    prunes: readPrune(prune),
  };
}

function readPrune(prune: "own" | "all" | true | undefined): SiteTerms["prunes"] {
  return prune === "all" ? prune : prune !== undefined;
}

function selectKinds(only: readonly string[] | undefined): SiteKinds {
  return new Set(SITE_KINDS.filter((kind) => only?.includes(kind) ?? true));
}

function selectParts(document: SiteDocument, kinds: SiteKinds): SiteDocument {
  return Object.fromEntries(Object.entries(document).filter(([kind]) => kinds.has(kind as SiteKind)));
}

/** Reads a document. @returns it and the kinds that it has; the outcome if it has faults */
async function readSiteFile(
  context: CommandContext<DocumentFlags>,
  file: string,
  text: string,
): Promise<{ document: SiteDocument; kinds: SiteKinds } | { faults: ActionOutcome }> {
  const parsed = await parseSiteDocument(formatDocumentName(file), text, async () =>
    createTotalCheck(context, await readSnapshot(context, [...CONFIG_COLLECTIONS, "hosts"])),
  );
  if (!("value" in parsed)) {
    const { faults } = parsed;
    return { faults: createFaultyOutcome(faults, formatFaultLines(file, faults)) };
  }
  const document = selectParts(parsed.value, selectKinds(context.flags.only));
  return { document, kinds: new Set(SITE_KINDS.filter((kind) => document[kind] !== undefined)) };
}

/** Builds the document of what can be read. */
function toDocument({ kinds, snapshot, schedules }: SiteRead): SiteDocument {
  return selectParts(
    {
      ...buildSiteConfig(snapshot),
      calendars: new Map(
        [...schedules.calendars].flatMap(([name, one]) => ("value" in one ? [[name, one.value]] : [])),
      ),
      schedules: new Map(
        [...schedules.schedules].flatMap(([id, { definition }]) => (definition ? [[id, definition]] : [])),
      ),
    },
    kinds,
  );
}

/** Lists what cannot be read, one sentence each. @param what  is done about it */
function listUnreadable({ kinds, snapshot, schedules }: SiteRead, what: string): string[] {
  const describe = (kind: string, name: string, fault: string | undefined) =>
    fault === undefined || !kinds.has(`${kind}s` as SiteKind)
      ? []
      : [`${kind} ${name} cannot be read ${what}: ${fault}`];
  const calendars = [...schedules.calendars].flatMap(([name, one]) =>
    describe("calendar", name, "fault" in one ? one.fault : undefined),
  );
  const definitions = [...schedules.schedules].flatMap(([id, { fault }]) => describe("schedule", id, fault));
  const config = listMalformedConfig(snapshot).flatMap(({ kind, name, fault }) =>
    describe(kind, name, fault),
  );
  return [...config, ...calendars, ...definitions];
}

/** A JSON object found in the output of ZooKeeper's shell. */
interface ZnodeJson {
  /** The text has the same lines as the output, with other lines blank, so that fault positions match the output. */
  text: string;
  /** Numbers of the non-blank lines that are not part of the object, from 1. */
  passedOver: readonly number[];
}

/**
 * Extracts the JSON object from the output of `zkCli.sh get /prefix`. The output has other lines around it: connection
 * logs, watcher events, and the numbers of the znode after it.
 * @returns undefined if there is no complete object
 */
export function extractZnodeJson(printed: string): ZnodeJson | undefined {
  const lines = printed.split("\n");
  for (const [first, line] of lines.entries()) {
    if (!/^\s*\{/.test(line)) continue;
    const last = findLastLine(lines, first);
    if (last !== undefined) return cutOut(lines, first, last);
  }
  return undefined;
}

/** Finds the line that completes the object that begins at line `first`. */
function findLastLine(lines: readonly string[], first: number): number | undefined {
  for (let last = first; last < lines.length; last++) {
    const end = lines[last]?.trimEnd() ?? "";
    if (end.endsWith("}") && parseJson(lines.slice(first, last + 1).join("\n")) !== undefined) return last;
  }
  return undefined;
}

function cutOut(lines: readonly string[], first: number, last: number): ZnodeJson {
  const isInside = (index: number) => index >= first && index <= last;
  const passedOver = lines.flatMap((line, index) =>
    isInside(index) || line.trim() === "" ? [] : [index + 1],
  );
  return { text: lines.map((line, index) => (isInside(index) ? line : "")).join("\n"), passedOver };
}
