import { isDeepStrictEqual } from "node:util";
import { isScalar, visit, Document as YamlDocument } from "yaml";
import { formatDuration, parseDuration } from "../../../core/base/clock.ts";
import type { JsonFault } from "../../../core/base/json-fault.ts";
import type { JsonSchema } from "../../../core/base/json-schema.ts";
import { isJsonObject } from "../../../core/base/parse-json.ts";
import { findNameFault, quoteText, quoteValue } from "../../../core/base/text.ts";
import {
  type DocumentFault,
  type DocumentPath,
  DocumentSyntaxError,
  SourceDocument,
} from "../../../core/config/source-document.ts";
import {
  normalizeMembers,
  normalizeResource,
  SITE_KINDS,
  type SiteKind,
} from "../../../core/fleet/configuration.ts";
import { LONGEST_NOTE, type ResourceConfig, type TotalCheck } from "../../../core/fleet/resources.ts";
import { type Calendar, findDayFault, normalizeDays } from "../../../schedule/calendar/calendar.ts";
import {
  DEFINITION_FIELDS,
  type Definition,
  DURATION_FIELDS,
  describeUnknownField,
  getFieldSchema,
  locateDefinitionFault,
} from "../../../schedule/definition.ts";
import { HOOK_ADDRESS_FORM, parseHookAddress } from "../../../schedule/definition-values.ts";
import { toJsonData } from "../../../schedule/json-fields.ts";
import type { DocumentedGroup, DocumentedResource, SiteDocument } from "../../../site/operate/site.ts";
import { toFlags } from "../../frame/command.ts";
import { parseInstant } from "../../frame/command-line/instant.ts";
import { escapeInvisible } from "../../frame/json-output.ts";
import { DEFINITION_FLAGS } from "../schedule/definition-flags.ts";
import { listSiteFields, SITE_VERSION } from "./site-fields.ts";

const TEXT: JsonSchema = { type: "string" };
const TEXTS: JsonSchema = { type: "array", items: TEXT };
const SOURCE: JsonSchema = {
  type: "string",
  description: "the source that owns it: signalbox apply --owner",
};
const NOTE: JsonSchema = { type: "string", description: "shown to others" };

const GROUP: JsonSchema = {
  description: "hosts by their full names, and groups",
  oneOf: [TEXT, TEXTS, createObjectSchema({ members: TEXTS, source: SOURCE }, ["members"])],
};
const RESOURCE = createObjectSchema(
  {
    name: TEXT,
    total: { type: ["integer", "string"], description: "a number, or an expression over macros" },
    order: { type: "integer", description: "position in listings, smallest first" },
    note: NOTE,
    source: SOURCE,
  },
  ["name"],
);
const CALENDAR = createObjectSchema(
  {
    days: { ...TEXTS, description: "dates, ranges, dates of each year (12-25) and weekdays" },
    note: NOTE,
    source: SOURCE,
  },
  ["days"],
);
const SCHEDULE = createObjectSchema(
  Object.fromEntries(DEFINITION_FIELDS.map((name) => [name, describeField(name)])),
  ["cron"],
);

/** The document of a site, for editors: docs/site.schema.json. */
export const SITE_SCHEMA: JsonSchema = createObjectSchema(
  {
    version: { const: SITE_VERSION },
    revision: { type: "string", description: "ignored" },
    groups: { type: "object", additionalProperties: GROUP },
    resources: { type: "array", items: { oneOf: [TEXT, RESOURCE] } },
    calendars: { type: "object", additionalProperties: CALENDAR },
    schedules: { type: "object", additionalProperties: SCHEDULE },
  } satisfies Record<SiteKind | "version" | "revision", JsonSchema>,
  [],
);

function createObjectSchema(properties: Record<string, JsonSchema>, required: readonly string[]): JsonSchema {
  return { type: "object", required, properties, additionalProperties: false };
}

/** Describes a field of a schedule with the help of its flag. */
function describeField(name: string): JsonSchema {
  const flag = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const description = toFlags(DEFINITION_FLAGS).find(
    (one) => one.name === flag || `${one.name}s` === flag,
  )?.help;
  return { ...getFieldSchema(name), ...(description !== undefined && { description }) };
}

/** A parsed document of a site, or all its faults in the order of the text. */
type ParsedSite = { value: SiteDocument } | { faults: readonly JsonFault[] };

/**
 * Parses the document of a site, YAML or JSON: see docs/gitops.md.
 * @param file  for messages
 * @param loadCheck  returns the check of totals; called if the document has resources
 */
export async function parseSiteDocument(
  file: string,
  text: string,
  loadCheck: () => Promise<TotalCheck>,
): Promise<ParsedSite> {
  const opened = openSource(file, text);
  if ("faults" in opened) return opened;
  const { source } = opened;
  const hasResources = isJsonObject(source.value) && source.value.resources !== undefined;
  const checkTotal = hasResources ? await loadCheck() : () => undefined;
  const { value, faults: found } = readSite(checkTotal, source.value);
  const faults = [...source.duplicateKeys, ...found.map((fault) => source.locate(fault))];
  if (faults.length === 0) return { value };
  return { faults: faults.sort((a, b) => a.line - b.line || a.column - b.column) };
}

function openSource(
  file: string,
  text: string,
): { source: SourceDocument } | { faults: readonly JsonFault[] } {
  try {
    return { source: new SourceDocument(file, text) };
  } catch (error) {
    if (!(error instanceof DocumentSyntaxError)) throw error;
    return { faults: [error.fault] };
  }
}

type Fields = Readonly<Record<string, unknown>>;

/** Reads the values of a document. Continues after a fault, so that the author sees all faults at once. */
function readSite(
  checkTotal: TotalCheck,
  root: unknown,
): { value: SiteDocument; faults: readonly DocumentFault[] } {
  const faults: DocumentFault[] = [];

  const fields = readFields(root, [], "the document", SITE_SCHEMA);
  if (fields === undefined) return { value: {}, faults };
  const { version, groups, resources, calendars, schedules } = fields;
  if (version !== undefined && version !== SITE_VERSION)
    add(["version"], `the version must be the number ${SITE_VERSION}; got ${quoteValue(version)}`);
  if (SITE_KINDS.every((kind) => fields[kind] === undefined))
    add([], `it has none of ${SITE_KINDS.map((kind) => quoteText(kind)).join(", ")}`);
  const value = {
    ...(groups !== undefined && { groups: readNamed("group", groups, readGroup) }),
    ...(resources !== undefined && { resources: readResources(resources) }),
    ...(calendars !== undefined && {
      calendars: readNamed("calendar", calendars, readCalendar),
    }),
    ...(schedules !== undefined && {
      schedules: readNamed("schedule", schedules, readSchedule),
    }),
  };
  return { value, faults };

  /** Reads an object whose keys are names. */
  function readNamed<T>(
    noun: string,
    value: unknown,
    read: (value: unknown, path: DocumentPath, name: string) => T | undefined,
  ): Map<string, T> {
    const found = new Map<string, T>();
    const path = [`${noun}s`];
    if (!isJsonObject(value)) {
      add(path, `${quoteText(`${noun}s`)} must be an object: ${noun}s by name`);
      return found;
    }
    for (const [name, one] of Object.entries(value)) {
      checkName(noun, name, [...path, name], true);
      const parsed = read(one, [...path, name], name);
      if (parsed !== undefined) found.set(name, parsed);
    }
    return found;
  }

  function readGroup(value: unknown, path: DocumentPath, name: string): DocumentedGroup | undefined {
    if (!isJsonObject(value)) return { members: readMembers(value, path, name) };
    const what = `group ${quoteText(name)}`;
    const { members = [], source } = readFields(value, path, what, GROUP.oneOf?.[2] ?? {}) ?? {};
    return {
      members: readMembers(members, [...path, "members"], name),
      ...readSource(source, path),
    };
  }

  function readMembers(value: unknown, path: DocumentPath, name: string): readonly string[] {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    const names = items.flatMap((item, index) => {
      const at = Array.isArray(value) ? [...path, index] : path;
      if (typeof item === "string") {
        checkName("member", item, at);
        return item;
      }
      add(at, `group ${quoteText(name)}: a member must be a host or a group, in quotes`);
      return [];
    });
    return normalizeMembers(names);
  }

  function readResources(value: unknown): Map<string, DocumentedResource> {
    const resources = new Map<string, DocumentedResource>();
    if (!Array.isArray(value))
      add(
        ["resources"],
        '"resources" must be a list of names, or of objects such as { name: db, total: 10 }',
      );
    for (const [index, item] of (Array.isArray(value) ? value : []).entries()) {
      const path = ["resources", index];
      const named = readResource(item, path, index);
      if (named === undefined) continue;
      const [name, entry] = named;
      if (resources.has(name)) add(path, `resource ${quoteText(name)} is listed twice`);
      resources.set(name, entry);
    }
    return resources;
  }

  function readResource(
    item: unknown,
    path: DocumentPath,
    index: number,
  ): [string, DocumentedResource] | undefined {
    if (typeof item === "string") {
      checkName("resource", item, path);
      return [item, { isWhole: false, config: { order: index + 1 } }];
    }
    const fields = readFields(item, path, "a resource", RESOURCE);
    if (fields === undefined) return undefined;
    const { name } = fields;
    const at = name === undefined ? path : [...path, "name"];
    if (typeof name !== "string") {
      add(at, 'a resource needs a "name", in quotes');
      return undefined;
    }
    checkName("resource", name, at);
    return [name, { isWhole: true, config: readConfig(name, fields, path) }];
  }

  function readConfig(
    name: string,
    { total, order, note, source }: Fields,
    path: DocumentPath,
  ): ResourceConfig {
    if (order !== undefined && !Number.isSafeInteger(order))
      add([...path, "order"], "an order must be a whole number");
    return normalizeResource({
      ...(total !== undefined && { total: readTotal(name, total, [...path, "total"]) }),
      ...(order !== undefined && { order: order as number }),
      ...readNote(note, path, LONGEST_NOTE),
      ...readSource(source, path),
    });
  }

  function readTotal(name: string, value: unknown, path: DocumentPath): string {
    if (typeof value !== "number" && typeof value !== "string")
      add(path, "a total must be a number, or an expression over macros in quotes");
    else {
      const fault = checkTotal(name, String(value));
      if (fault !== undefined) add(path, `resource ${quoteText(name)}: total ${fault}`);
    }
    return String(value);
  }

  function readCalendar(value: unknown, path: DocumentPath, name: string): Calendar | undefined {
    const what = `calendar ${quoteText(name)}`;
    const fields = readFields(value, path, what, CALENDAR);
    if (fields === undefined) return undefined;
    const { days, note, source } = fields;
    if (!Array.isArray(days) || !days.every((day) => typeof day === "string")) {
      add(days === undefined ? path : [...path, "days"], `${what} needs "days", a list of texts`);
      return undefined;
    }
    const bad = days.findIndex((day) => findDayFault([day]) !== undefined);
    const fault = findDayFault(days);
    if (fault !== undefined) add([...path, "days", ...(bad < 0 ? [] : [bad])], `${what}: ${fault}`);
    return { days: normalizeDays(days), ...readNote(note, path), ...readSource(source, path) };
  }

  function readSchedule(value: unknown, path: DocumentPath, id: string): Definition | undefined {
    const what = `schedule ${quoteText(id)}`;
    const fields = readFields(value, path, what, SCHEDULE);
    if (fields === undefined) return undefined;
    const known = Object.entries(fields).filter(([name]) => DEFINITION_FIELDS.includes(name));
    const given = known.map(([name, one]) => [name, readTimes(name, one)]);
    const definition = { timezone: "UTC", ...Object.fromEntries(given) }; // as schedule add
    const fault =
      locateDefinitionFault(definition) ??
      findAddressFault(definition.hooks) ??
      findDataFault(definition.data);
    if (fault !== undefined) add([...path, ...fault.path], `${what}: ${fault.what}`);
    return definition as unknown as Definition;
  }

  function readNote(
    value: unknown,
    path: DocumentPath,
    longest = Number.POSITIVE_INFINITY,
  ): { note?: string } {
    if (value === undefined) return {};
    if (typeof value === "string" && value.length <= longest) return { note: value };
    const limit = longest === Number.POSITIVE_INFINITY ? "" : ` of at most ${longest} characters`;
    add([...path, "note"], `a note must be a string${limit}`);
    return {};
  }

  function readSource(value: unknown, path: DocumentPath): { source?: string } {
    if (value === undefined) return {};
    if (typeof value === "string" && value !== "") return { source: value };
    add([...path, "source"], `a source must be a name; got ${quoteValue(value)}`);
    return {};
  }

  /** Reads the fields of an object. Fields that the schema does not have are faults. */
  function readFields(
    value: unknown,
    path: DocumentPath,
    what: string,
    schema: JsonSchema,
  ): Fields | undefined {
    if (!isJsonObject(value)) {
      add(path, `${what} must be an object; got ${quoteValue(value)}`);
      return undefined;
    }
    const known = Object.keys(schema.properties ?? {});
    for (const name of Object.keys(value))
      if (!known.includes(name)) add([...path, name], `${what}: ${describeUnknownField(name, known)}`, true);
    return value;
  }

  function checkName(noun: string, name: string, path: DocumentPath, isInKey = false): void {
    const fault = findNameFault(name);
    if (fault !== undefined) add(path, `${noun} ${quoteText(name)} cannot be used: ${fault}`, isInKey);
  }

  function add(path: DocumentPath, what: string, isInKey = false): void {
    faults.push({ path, what, isInKey });
  }
}

/** Reads a duration such as `30m`, or an instant such as `2026-12-24T18:00Z`, in ms. Returns other values as they are. */
function readTimes(name: string, value: unknown): unknown {
  if (name === "end" || name === "pause") return convertInstants(value, readInstant);
  if (!DURATION_FIELDS.has(name) || typeof value !== "string") return value;
  const parsed = parseDuration(value);
  return "value" in parsed ? parsed.value : value;
}

/** Converts an instant, or those of a pause. */
function convertInstants(value: unknown, convert: (value: unknown) => unknown): unknown {
  if (!isJsonObject(value)) return convert(value);
  const isInstant = (field: string) => field === "at" || field === "until";
  return Object.fromEntries(
    Object.entries(value).map(([field, one]) => [field, isInstant(field) ? convert(one) : one]),
  );
}

function readInstant(value: unknown): unknown {
  const isDate = typeof value === "string" && /^\d{4}-/.test(value);
  return (isDate ? parseInstant(value, "UTC", 0)?.at : undefined) ?? value;
}

/** Finds a hook that is a text and not an address. */
function findAddressFault(hooks: unknown): { what: string; path: DocumentPath } | undefined {
  const bad = Object.entries(hooks ?? {}).find(
    ([, hook]) => typeof hook === "string" && parseHookAddress(hook) === undefined,
  );
  if (bad === undefined) return undefined;
  const [event, hook] = bad;
  return {
    what: `hook ${event} must be a list of words, or ${HOOK_ADDRESS_FORM}; got ${quoteValue(hook)}`,
    path: ["hooks", event],
  };
}

/** Finds data that YAML can have and JSON cannot, such as `.nan`, `-0.0` or binary. */
function findDataFault(data: unknown): { what: string; path: DocumentPath } | undefined {
  try {
    if (data !== undefined) toJsonData("data", data);
    return undefined;
  } catch (error) {
    return { what: `${(error as Error).message}; write it as a text, in quotes`, path: ["data"] };
  }
}

/**
 * Formats a site as YAML. Equal sites give equal texts. Durations are written as `30m`, instants as in ISO 8601, and
 * characters that a terminal would interpret are escaped, because people also view documents in a terminal.
 */
export function formatSiteYaml(site: SiteDocument): string {
  const document = new YamlDocument(listSiteFields(site, writeTimes), { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, node) => {
      if (!isScalar(node) || typeof node.value !== "string") return;
      const isMergeKey = node.value === "<<"; // only without quotes
      if (isMergeKey || escapeInvisible(node.value) !== node.value) node.type = "QUOTE_DOUBLE";
    },
  });
  return escapeInvisible(document.toString({ lineWidth: 0 }));
}

function writeTimes(name: string, value: unknown): unknown {
  if (name === "end" || name === "pause")
    return convertInstants(value, (one) => new Date(one as number).toISOString());
  if (!DURATION_FIELDS.has(name)) return value;
  const text = formatDuration(value as number);
  return isDeepStrictEqual(parseDuration(text), { value }) ? text : value; // it may be too long for a text
}
